"""Modules that are loaded when a name is asked for: after an interrupt, and after they left sys.modules."""

import subprocess
import sys

import pytest

INTERRUPTED = """
import sys, tensix

def interrupt_before_it_runs(frame, event, argument):
    if frame.f_code.co_name == "_load_unlocked" and event == "line" and NAME in sys.modules:
        sys.settrace(None)
        raise KeyboardInterrupt
    return interrupt_before_it_runs

sys.settrace(interrupt_before_it_runs)
try:
    ASKED
except KeyboardInterrupt:
    print("interrupted")
sys.settrace(None)
assert ASKED is not None and NAME in sys.modules
"""


@pytest.mark.parametrize("name, asked", [
    ("tensix.linalg", "tensix.linalg.det"), ("tensix.core.stat", "tensix.core.Stat"),
    ("tensix.profiling.recorder", "tensix.memory.record"), ("tensix.profiling.snapshot_file", "tensix.memory.record"),
    ("tensix.files.file_map", "tensix.load"),
])  # fmt: skip
def test_an_interrupted_load_is_done_again(name, asked):
    program = INTERRUPTED.replace("NAME", repr(name)).replace("ASKED", asked)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


TAKEN_OUT = """
import importlib, pickle, sys, tensix, tensix.kernels.views as views
first, kept, det = tensix, tensix.ones(2), WAS_LOADED and tensix.linalg.det
for name in [name for name in sys.modules if name.partition(".")[0] == "tensix"]:
    del sys.modules[name]
import tensix
import tensix.kernels.views
assert tensix is first and tensix.kernels.views is views
assert (tensix.__spec__.name, tensix.__spec__.parent, tensix.__spec__.origin) == ("tensix", "tensix", tensix.__file__)
for copy in (first, tensix):
    assert copy.linalg.det(copy.eye(2)).item() == 1 and isinstance(kept, copy.Tensor)
import tensix.linalg
assert tensix.linalg.det(tensix.eye(2)).item() == 1 and (not det or det(tensix.ones(2, 2)).item() == 0)
assert pickle.loads(pickle.dumps(kept)).tolist() == [1, 1]
importlib.reload(tensix)
assert tensix.linalg.det(tensix.eye(2)).item() == 1
"""


@pytest.mark.parametrize("was_loaded", [True, False])
def test_what_was_taken_out_of_sys_modules_comes_back(was_loaded):
    program = TAKEN_OUT.replace("WAS_LOADED", str(was_loaded))
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
