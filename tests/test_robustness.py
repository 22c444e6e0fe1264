"""Misuse from Python raises; it never crashes, reads or writes memory that is not there.

Each case runs in an interpreter of its own, since one that is wrong may take the process with it.
"""

import subprocess
import sys

import numpy as np
import pytest

PRELUDE = """
import gc
from tensix import *
from tensix.dispatch import OperatorTable, dispatcher
from tensix.dispatch.kernel import Kernel
table = dispatcher.get_op_table
x = ones(3)

def shrunk():
    storage = Storage(1 << 16, resizable=True)
    tensor = Tensor.from_storage(storage, 0, (3,), ((1 << 13) - 1,), float32)
    storage.resize_(64)
    return tensor

def growing(*sizes):  # a list that becomes longer while it is read
    class Number:
        def __index__(self):
            found.extend([1] * 100)
            return 1
    found = [*sizes, Number()]
    return found

class Shrinks:
    def __float__(self):
        target.storage().resize_(0)
        return 1.0
"""

# code -> the exceptions that are right
MISUSE = {
    "table('add.Tensor')(x, None)": "TypeError",
    "table('add.Tensor')(None, x)": "TypeError",
    "table('add.Tensor')(x, [x])": "TypeError",
    "table('add.Tensor')(x, 1)": "TypeError",
    "table('add.Tensor')(x)": "TypeError",
    "table('add.Tensor')(x, x, x)": "TypeError",
    "table('neg')(x, x)": "TypeError",
    "table('neg')([x])": "TypeError",
    "table('clone')(x, x)": "TypeError",
    "table('copy_')(x, None)": "TypeError",
    "table('uniform_')(x, 5)": "TypeError",
    "table('uniform_')([x])": "TypeError",
    "table('transpose.int')(x, (), 0)": "TypeError",
    "table('transpose.int')(x, 0)": "TypeError",
    "table('select.int')(x, None, 0)": "TypeError",
    "table('diagonal')(x, None)": "TypeError",
    "table('as_strided')(x, (2,), None)": "TypeError",
    "table('view.dtype')(x, Tensor().dtype)": "TypeError",
    "table('clone')(x, memory_format=None).view(Tensor().dtype)": "TypeError",
    "table('split_with_sizes')(x, [None])": "TypeError",
    "Tensor().unbind()": "NullError",
    "Tensor().contiguous()": "NullError",
    "x.as_strided((3,), (1 << 61,))": "RuntimeError",
    "x.as_strided((2,), (-1 << 63,))": "RuntimeError",
    "x.as_strided((1,), (1,), 1 << 62).tolist()": "RuntimeError",
    "x.unfold(0, 1 << 62, 1)": "ValueError",
    "x.is_contiguous(memory_format=7)": "TypeError",
    "empty(2, memory_format=5)": "TypeError",
    "table('permute')(x, None)": "TypeError",
    "table('view')(x, None)": "TypeError",
    "table('expand')(x, (2,) * 100)": "ValueError",
    "table('view')(x, growing(3)); raise KeyError": "KeyError",
    "table('permute')(x[None], growing(0)); raise KeyError": "KeyError",
    "table('expand')(x, growing(3)); raise KeyError": "ValueError",
    "table('as_strided')(x, growing(2), growing(1)); raise KeyError": "KeyError",
    "table('unflatten.int')(x, 0, growing(3)); raise KeyError": "KeyError",
    "table('split_with_sizes')(x, growing(2)); raise KeyError": "KeyError",
    "table('empty.memory_format')(growing(2)); raise KeyError": "KeyError",
    "x.movedim(growing(), growing()); raise KeyError": "IndexError",
    "Tensor.from_storage(Storage(64), 0, growing(2), growing(1), float32); raise KeyError": "KeyError",
    "x.copy_(None)": "TypeError",
    "from_numpy(None)": "TypeError",
    "rand(2, generator=5)": "TypeError",
    "OperatorTable.__new__(OperatorTable)(x)": "RuntimeError TypeError",
    "OperatorTable.__new__(OperatorTable).register('CPU', print)": "RuntimeError TypeError AttributeError",
    "OperatorTable(None)(x)": "RuntimeError TypeError AttributeError",
    "Kernel().call": "AttributeError",
    "Tensor.__new__(Tensor) + 1": "NullError",
    "Tensor.from_storage(None, 0, (), (), float32)": "TypeError",
    "shrunk().tolist()": "RuntimeError",
    "shrunk().fill_(1)": "RuntimeError",
    "shrunk().clone()": "RuntimeError",
    "target = zeros(100000); target.fill_(Shrinks()); raise RuntimeError('nothing was written')": "RuntimeError",
    "Tensor.from_storage(Storage(8), 0, (2**40, 2**40), (0, 0), float32).fill_(1)": "ValueError OverflowError",
    "ones(1).expand(2**40, 2**40)": "ValueError OverflowError",
}  # fmt: skip


def run(code):
    return subprocess.run([sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("code", MISUSE)
def test_misuse_raises(code):
    finished = run(code)
    assert finished.returncode == 1, finished.stderr
    last = finished.stderr.strip().splitlines()[-1]
    assert last.partition(":")[0].rpartition(".")[2] in MISUSE[code].split(), last


ALIVE_AT_EXIT = [
    "y = x[0]",
    "import builtins; builtins.kept = x[::2].lazy_clone()",
    "import numpy; y = from_numpy(numpy.ones(3)); z = y.lazy_clone()",
    "cycle = [x]; cycle.append(cycle); gc.disable(); del x",
    "generator = Generator(0); y = rand(3, generator=generator)",
    "L = type('L', (), {'before_call': print, 'after_call': print}); dispatcher.add_listener(L()); y = x + x",
    "import threading; threading.Thread(target=lambda: [rand(1000) for _ in range(10**6)], daemon=True).start()",
]


@pytest.mark.parametrize("code", ALIVE_AT_EXIT)
def test_interpreter_ends_quietly(code):
    finished = run(code)
    assert (finished.returncode, finished.stderr) == (0, "")


# NumPy before 2.4 can be imported by several interpreters that share a GIL, and those of Python 3.12 and later do not.
NUMPY_IS_SHARED = np.lib.NumpyVersion(np.__version__) < "2.4.0" and sys.version_info < (3, 12)
SECOND_INTERPRETER = """
import importlib, sys
interpreters = importlib.import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
import {first}
second = interpreters.create()
interpreters.run_string(second, "try:\\n    import tensix\\nexcept ImportError as error:\\n    print(error)")
interpreters.destroy(second)
import tensix
with tensix.memory.serve_numpy():
    print(tensix.ones(3).sum().item())
"""


@pytest.mark.parametrize("first", ["tensix", "numpy"])
def test_a_second_interpreter_is_refused_in_words(first):
    """And the first one is none the worse for it, also where it imports tensix later."""
    code = SECOND_INTERPRETER.format(first=first)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if first == "numpy" and NUMPY_IS_SHARED:  # then the second has tensix, and the first is refused it
        assert done.stdout == "" and "in one interpreter of a process only" in done.stderr
        return
    refused, works = done.stdout.splitlines()
    assert "in one interpreter of a process only" in refused and works == "3.0", done.stderr
