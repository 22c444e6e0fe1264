"""The linters have nothing to say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "command",
    ["ruff check --no-cache", "cython_lint.cython_lint tensix asv_bench tests"],
    ids=["ruff", "cython-lint"],
)
def test_linter_finds_nothing(command):
    found = subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
