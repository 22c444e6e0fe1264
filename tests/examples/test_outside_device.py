"""The outside device, run as its reader runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "outside_device.py"


@pytest.fixture(scope="module")
def finished():
    return subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False, timeout=60)


def said(finished, heading):
    """Return what stands below a heading."""
    return finished.stdout.split(f"\n{heading}\n", 1)[1].split("\n\n")[0]


def test_it_succeeds_in_silence(finished):
    assert (finished.returncode, finished.stderr) == (0, "")


def test_it_is_short_and_leaves_tensix_alone():
    text = EXAMPLE.read_text()
    assert len(text.splitlines()) < 150 and not re.search(r"tensix[\w.]* = ", text)


def test_table_names_the_kernel_of_the_device(finished):
    assert re.search(r"^  PrivateUse1 +__main__\.add +direct, by Library", finished.stdout, re.M)


def test_arithmetic_and_views_run_on_the_device(finished):
    assert "npu kernel: add" in said(finished, "x + y")
    assert said(finished, "x + y").endswith("tensor([[1., 2., 3.],\n        [1., 2., 3.]], device='npu')")
    assert said(finished, "x.T.to_device('cpu')").endswith("tensor([[1., 7.],\n        [1., 7.],\n        [1., 7.]])")


def test_mixed_devices_and_missing_operators_are_told(finished):
    assert "RuntimeError: add: tensors on npu and cpu" in said(finished, "x + ones(3)")
    missing = said(finished, "x * y, an operator that the device lacks")
    assert missing.startswith("NotImplementedError: Could not run 'tensix::mul.Tensor'") and "PrivateUse1" in missing


def test_fallback_runs_on_the_cpu_and_brings_the_result_back(finished):
    for heading, result in (
        ("x * y, with a fallback", "tensor([[ 0.,  1.,  2.],\n        [ 0.,  7., 14.]], device='npu')"),
        ("y.zero_() - x[1]", "tensor([-7., -7., -7.], device='npu')"),
    ):
        assert "fallback: tensix::" in said(finished, heading) and said(finished, heading).endswith(result)


def test_everything_is_undone(finished):
    assert re.search(r"blocks on the device: [1-9]", finished.stdout)
    assert "blocks after the last tensor is gone: 0" in finished.stdout
    assert "NotImplementedError" in finished.stdout.split("closed:")[1]
