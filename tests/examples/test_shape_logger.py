"""The example of a logger of shapes."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "shape_logger.py"


def test_each_call_is_a_line():
    finished = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False, timeout=60)
    assert (finished.returncode, finished.stderr) == (0, "")
    lines = finished.stdout.splitlines()
    assert lines[1:3] == [
        "tensix::mean(float32[1000, 3], axis=0) -> float32[3]",
        "tensix::sub(float32[1000, 3], float32[3]) -> float32[1000, 3]",
    ]
    assert lines[-1] == "tensix::add(float32[3], float32[4]) -> ValueError"
