"""What contains itself, or calls itself, raises RecursionError. Each case runs in an interpreter of its own."""

import re
import subprocess
import sys

import pytest

START = """
import sys
import numpy as np
import tensix
from tensix import fft, linalg
from tensix.dispatch import dispatcher, include_keys
from tensix.library import Library

x, m, i = tensix.ones(4), tensix.ones(4, 4), tensix.arange(4)

def attempt(name, function):
    try:
        function()
    except RecursionError as error:
        print(name, "RecursionError", error)
    except (TypeError, ValueError, IndexError) as error:
        print(name, type(error).__name__)
    else:
        print(name, "nothing")
"""
NESTED = {
    "in itself": "l = []; l.append(l)",
    "in itself, beside a tensor": "l = [x]; l.append(l)",
    "deep": "l = []\nfor _ in range(200_000): l = [l]",
    "deep tuples": "l = ()\nfor _ in range(200_000): l = (l,)",
}
OF_NUMPY = [
    "np.concatenate([x, l])", "np.stack([x, l])", "np.where(x, l, x)", "np.sum(x, axis=l)",
    "np.zeros_like(x, shape=l)", "np.einsum('i,i', x, l)", "np.copyto(x, l)", "np.take(x, l)", "np.pad(x, l)",
    "np.dot(x, l)", "np.linalg.multi_dot([x, l])",
]  # fmt: skip
OWN = [
    "tensix.tensor(l)", "tensix.asarray(l)", "tensix.concat(l)", "tensix.stack([x, l])", "x[l]",
    "x.__setitem__(0, l)", "x.__setitem__(l, 0)", "tensix.sum(x, axis=l)", "tensix.zeros(l)", "x.view(l)",
    "x.permute(l)", "tensix.pad(x, l)", "tensix.roll(x, l)", "tensix.tile(x, l)", "tensix.sparse_coo_tensor(l, x)",
    "tensix.empty_strided(l, l)", "tensix.ops.tensix.cat([x, l])", "tensix.ops.tensix.sum(x, axis=l)",
    "fft.fftn(x, s=l)", "linalg.vector_norm(x, axis=l)", "tensix.unique(l)", "x + l",
]  # fmt: skip


def run(code):
    """Run code and return what it prints, line by line."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", START + code], capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize("nested", NESTED)
def test_nested_lists_in_functions_of_numpy(nested):
    lines = run("\n".join([NESTED[nested], *[f"attempt('', lambda: {call})" for call in OF_NUMPY]]))
    assert len(lines) == len(OF_NUMPY)
    for line in lines:  # CPython says how deep it is, or how large the stack
        assert re.fullmatch(" RecursionError .* in the lists among the arguments of a function of NumPy", line)


@pytest.mark.parametrize("nested", NESTED)
def test_nested_lists_in_functions_of_tensix(nested):
    lines = run("\n".join([NESTED[nested], *[f'attempt("{call}", lambda: {call})' for call in OWN]]))
    assert len(lines) == len(OWN) and [line for line in lines if line.endswith("nothing")] == []


def test_a_list_that_is_deep_enough_is_read():
    assert run("print(np.sum([[[[x]]]], axis=-1).tolist(), np.concatenate([[1.0], x]).tolist())") == [
        "[[[[4.0]]]] [1.0, 1.0, 1.0, 1.0, 1.0]"
    ]


ITSELF = {
    "a kernel in Python": """
lib = Library("tensix")
lib.impl("{operator}", lambda *args, **kwargs: {call}, "CPU", allow_override=True)
attempt("", lambda: {call})
""",
    "a fallback": """
lib = Library("tensix")
lib.fallback(lambda table, *args, **kwargs: {call}, "Tracer")
with include_keys("Tracer"):
    attempt("", lambda: {call})
""",
    "an allocator": """
class Calling(tensix.Allocator):
    def allocate(self, nbytes):
        return {call}
with tensix.use_allocator(Calling()):
    attempt("", lambda: {call})
""",
    "a listener": """
class Calling:
    def before_call(self, *_):
        {call}
    after_call = failed_call = before_call
dispatcher.add_listener(Calling())
attempt("", lambda: {call})
""",
    "the callback of an adaptor": """
adaptor = tensix.memory.FailureCallbackAdaptor(tensix.memory.LimitingAdaptor(None, 1), lambda nbytes: {call})
with tensix.use_allocator(adaptor):
    attempt("", lambda: {call})
""",
}
LIMITS_CALLS_IN_C = sys.version_info[:2] in {(3, 12), (3, 13)}  # by a number of CPython's own, which is never larger
CALLS = {"add.Tensor": "x + x", "take": "tensix.take(m, i)", "matmul": "m @ m"}


@pytest.mark.parametrize("limit", [1000, 1_000_000])
@pytest.mark.parametrize("what", ITSELF)
def test_what_calls_itself(what, limit):
    """Python's limit comes first if it is low, then it has its own words; our frames are larger than its."""
    for operator, call in CALLS.items():
        code = ITSELF[what].format(operator=operator, call=call)
        [line] = run(f"sys.setrecursionlimit({limit})\n{code}")
        assert line.startswith(" RecursionError"), (call, line)
        if limit > 1000 and not (LIMITS_CALLS_IN_C and "maximum recursion depth exceeded" in line):
            assert line == f" RecursionError the stack of this thread is nearly full: {what} calls itself.", call


def test_a_thread_with_a_small_stack():
    code = ITSELF["an allocator"].format(call="tensix.take(m, i)").replace("\n", "\n    ")
    [line] = run(f"""
import threading
threading.stack_size(512 << 10)
def work():
    {code}
thread = threading.Thread(target=work)
thread.start()
thread.join()
""")
    assert line.startswith(" RecursionError the stack of this thread is nearly full")
