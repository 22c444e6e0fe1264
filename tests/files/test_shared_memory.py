"""Tensors handed to other processes: the same memory there, nothing left open, nothing left behind."""

import pickle
import subprocess
import sys

import pytest

import tensix
from tensix.files.shared_memory import share
from tensix.memory import SharedMemoryAllocator

# What workers do stands in a module that they can import: a file of its own.
WORKERS = """
import os, signal, sys, time
import tensix

def add_one(x):
    x += 1

def same(x):
    return x

def look(x):
    return x.tolist(), x.readonly, x.dtype.name, x.stride()

def serve(requests, answers):
    while True:
        received = requests.get()
        if received is None:
            break
        tensors = received if isinstance(received, list) else [received]
        for x in tensors:
            if not x.readonly:
                x += 1
        answers.put((len(os.listdir("/proc/self/fd")), tensors[0]))
        del received, tensors, x

def hold(x, ready):
    x += 1
    ready.set()
    time.sleep(60)
"""

PRELUDE = """
import multiprocessing, os, signal, sys
sys.path.insert(0, {folder!r})
import workers
import tensix
from tensix.files.shared_memory import share
from tensix.memory import SharedMemoryAllocator

def descriptors():
    return len(os.listdir("/proc/self/fd"))
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a script in a process of its own, which ends quietly."""
    (tmp_path / "workers.py").write_text(WORKERS)

    def run(body):
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        script = tmp_path / "script.py"
        script.write_text(PRELUDE.format(folder=str(tmp_path)) + "if __name__ == '__main__':\n" + lines)
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr

    return run


def test_share():
    x = tensix.arange(6).reshape(2, 3).T
    shared = share(x)
    assert shared.tolist() == x.tolist() and not shared.is_alias_of(x)
    assert SharedMemoryAllocator.locate(shared.data_ptr()) is not None
    assert share(shared) is shared and share(shared[1:]).is_alias_of(shared)


@pytest.mark.parametrize("make", [
    tensix.Tensor, lambda: tensix.empty(2, device="meta"), lambda: tensix.ones(2).to_sparse(),
])  # fmt: skip
def test_what_cannot_be_shared(make):
    with pytest.raises((RuntimeError, NotImplementedError)):
        share(make())


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_arguments_of_a_process(run, method):
    """Views of one storage, read-only ones, and tensors of ordinary memory, which are copied."""
    run(f"""
context = multiprocessing.get_context({method!r})
x = share(tensix.zeros(4, 6))
large = share(tensix.zeros(100_000, dtype="bfloat16"))
plain = tensix.zeros(3)
before = descriptors()
for part in (x, x[1:3, ::2], x.T, large, plain):
    process = context.Process(target=workers.add_one, args=(part,))
    process.start()
    process.join()
    assert process.exitcode == 0
    process.close()
assert x[0].tolist() == [2] * 6 and x[1].tolist() == [3, 2] * 3, x
assert large[0].item() == 1 and plain.tolist() == [0] * 3
extra = 0 if {method!r} != "forkserver" else 3
assert descriptors() <= before + extra + 1, (before, descriptors())
""")


def test_undefined_tensor_is_sent(run):
    run("""
with multiprocessing.get_context("spawn").Pool(1) as pool:
    found, = pool.map(workers.same, [tensix.Tensor()])
    assert not found.defined()
""")


def test_pool(run):
    run("""
x = share(tensix.arange(6).reshape(2, 3))
frozen = share(tensix.arange(3))
frozen.storage().readonly = True
with multiprocessing.get_context("spawn").Pool(2) as pool:
    for found, part in zip(pool.map(workers.look, [x, x.T, x[:, 1], frozen, tensix.ones(2)]),
                           [x, x.T, x[:, 1], frozen, tensix.ones(2)], strict=True):
        assert found == (part.tolist(), part.readonly, part.dtype.name, part.stride()), (found, part)
""")


def test_no_descriptor_is_left_after_10_000_tensors(run):
    """Small ones go by one descriptor in a message; a hundred large ones go one by one."""
    run("""
context = multiprocessing.get_context("spawn")
requests, answers = context.SimpleQueue(), context.SimpleQueue()
worker = context.Process(target=workers.serve, args=(requests, answers), daemon=True)
worker.start()
requests.put(share(tensix.zeros(1)))
open_there, answer = answers.get()
del answer
before = descriptors()
small = [share(tensix.zeros(8)) for _ in range(1000)]
for _ in range(10):
    requests.put(small)
    now_there, answer = answers.get()
    assert now_there <= open_there + 4, (open_there, now_there)
    del answer
assert all(x.tolist() == [10] * 8 for x in small)
del small
for i in range(100):
    x = share(tensix.zeros(100_000))
    requests.put(x)
    now_there, answer = answers.get()
    assert now_there <= open_there + 4 and answer[99_999].item() == 1 == x[99_999].item()
    del answer, x
assert descriptors() <= before + 2, (before, descriptors())
requests.put(None)
worker.join()
""")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_killed_worker(run, method):
    run(f"""
context = multiprocessing.get_context({method!r})
ready = context.Event()
x = share(tensix.zeros(100_000))
before = descriptors()
worker = context.Process(target=workers.hold, args=(x, ready))
worker.start()
assert ready.wait(60)
os.kill(worker.pid, signal.SIGKILL)
worker.join()
assert worker.exitcode == -signal.SIGKILL
worker.close()
assert descriptors() <= before + 1 and x[0].item() == 1
fd, _ = SharedMemoryAllocator.locate(x.data_ptr())
del x
try:
    os.fstat(fd)
except OSError:
    pass
else:
    raise AssertionError("the file is still open")
""")


def test_ordinary_pickle_holds_the_bytes():
    """A descriptor would mean nothing in a file."""
    x = share(tensix.ones(3))
    y = pickle.loads(pickle.dumps(x))
    assert y.tolist() == [1.0] * 3 and not y.is_alias_of(x)
    assert SharedMemoryAllocator.locate(y.data_ptr()) is None


def test_elements_that_lie_between_those_of_their_type(run):
    """A complex number may lie at any multiple of half its size, which no offset in elements says."""
    run("""
import numpy as np
import workers
if __name__ == "__main__":
    x = share(tensix.arange(8, dtype="float64"))
    y = tensix.asarray(np.asarray(x)[1:5].view("c16"))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found, _, name, _ = pool.apply(workers.look, (y,))
    assert found == [1 + 2j, 3 + 4j] and name == "complex128", found
""")
