"""The example of a training, which docs/timeline.rst pictures."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "training.py"


def test_it_learns():
    finished = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False, timeout=60)
    assert (finished.returncode, finished.stderr) == (0, "")
    first, last = map(float, re.fullmatch(r"loss (\S+) -> (\S+)\n", finished.stdout).groups())
    assert last < 0.8 * first
