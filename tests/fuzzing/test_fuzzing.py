"""The corpus and some thousand mutations of it end in valid results or documented exceptions; `fuzz.py` tries more."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "fuzz.py"


def test_corpus_and_some_mutations():
    """In a process of its own: a defect may end it."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", PROGRAM, "replay", "--mutations", "250"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.count("of the corpus") == 9 and " 0 valid" not in done.stdout


def test_targets_are_named_after_options():
    done = subprocess.run(
        [sys.executable, PROGRAM, "replay", "--mutations", "9", "capsules"], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.startswith("capsules: 4 of the corpus, 9 mutations: "), done.stderr
