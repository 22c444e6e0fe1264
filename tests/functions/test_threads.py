"""Threads: how many, in which process, from which thread; and results that do not depend on them."""

import contextlib
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import tensix

SHAPES = [(1_000_003,), (1000, 1001), (3, 400_000), (400_000, 3), (70, 80, 90)]


@pytest.fixture(autouse=True)
def restored():
    before = tensix.get_num_threads()
    yield
    tensix.set_num_threads(before)


def work(shape):
    """Return the bytes of results of many kinds."""
    a = np.random.default_rng(0).standard_normal(shape).astype("f4")
    x = tensix.from_numpy(a)
    y = tensix.from_numpy(a.astype("f8"))
    results = [x + x, x + y, x * x[:1], x.clone(), -x.T, x[::2] - 1, x.sum(), x.max(), x.mean(), x.std(), y.prod(),
               (x + x).sum(dtype="float64")]  # fmt: skip
    places = tensix.from_numpy(np.random.default_rng(1).integers(-x.shape[0], x.shape[0], 300_000 // x[0].numel() + 1))
    results += [x[y > 0], x[y.select(-1, 0) > 0 if y.ndim > 1 else y > 0.5], x[places], tensix.take(x, places, axis=0)]
    results += [tensix.argmax(x), tensix.argmin(y), tensix.argmax(x, axis=-1)]
    results += [*tensix.nonzero(y > 0), tensix.argwhere(x > 1), tensix.repeat(x, 3), tensix.repeat(x, 2, axis=0)]
    results += [tensix.searchsorted(tensix.sort(x.reshape(-1)[:999]), x)]
    results += [tensix.tril(x, k=1), tensix.triu(x, k=-2)] if x.ndim > 1 else []
    for axis in range(len(shape)):
        results += [x.sum(axis), y.sum(axis), x.min(axis), x.var(axis), x.T.sum(axis), x.any(axis)]
    return [np.asarray(result).tobytes() for result in results]


@pytest.mark.parametrize("shape", SHAPES)
def test_results_do_not_depend_on_the_number(shape):
    tensix.set_num_threads(1)
    alone = work(shape)
    for threads in (2, 3, 4):
        tensix.set_num_threads(threads)
        assert work(shape) == alone


def test_number_is_kept():
    for threads in (1, 2, 7, 1024):
        tensix.set_num_threads(threads)
        assert tensix.get_num_threads() == threads


@pytest.mark.parametrize("number, error", [(0, ValueError), (-1, ValueError), (1025, ValueError), (2.0, TypeError),
                                           (True, TypeError), ("2", TypeError), (None, TypeError)])
def test_wrong_number(number, error):
    before = tensix.get_num_threads()
    with pytest.raises(error, match="set_num_threads"):
        tensix.set_num_threads(number)
    assert tensix.get_num_threads() == before


def test_from_many_python_threads_at_once():
    tensix.set_num_threads(4)
    expected = work((1000, 301))
    found, start = [], threading.Barrier(8)

    def run():
        start.wait()
        found.extend(work((1000, 301)) == expected for _ in range(5))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 40


def run(code, **environment):
    environment = {key: value for key, value in os.environ.items() if key != "TENSIX_NUM_THREADS"} | environment
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False, env=environment
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_after_a_fork_both_sides_work():
    """Also where another thread is in the middle of a loop."""
    code = """
import os, threading, warnings, tensix
warnings.simplefilter("ignore", DeprecationWarning)
tensix.set_num_threads(3)
x = tensix.ones(2_000_000)
stop = threading.Event()
def busy():
    while not stop.is_set():
        x + x
thread = threading.Thread(target=busy)
thread.start()
for _ in range(10):
    pid = os.fork()
    if pid == 0:
        good = float((x + x).sum()) == 4_000_000
        os._exit(0 if good else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert float((x + x).sum()) == 4_000_000
stop.set()
thread.join()
print("done")
"""
    finished = run(code)
    assert (finished.stdout, finished.stderr, finished.returncode) == ("done\n", "", 0)


def test_exit_while_a_loop_runs():
    code = """
import threading, tensix
tensix.set_num_threads(3)
x = tensix.ones(3_000_000)
started = threading.Event()
def busy():
    while True:
        x + x
        started.set()
threading.Thread(target=busy, daemon=True).start()
started.wait()
print("done")
"""
    for _ in range(5):
        finished = run(code)
        assert (finished.stdout, finished.stderr, finished.returncode) == ("done\n", "", 0)


def test_environment_says_how_many():
    show = "import tensix; print(tensix.get_num_threads())"
    assert run(show, TENSIX_NUM_THREADS="3").stdout == "3\n"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert run(show).stdout == run(show, TENSIX_NUM_THREADS="").stdout == f"{cores}\n"


@pytest.mark.parametrize("given", ["0", "-2", "many", "1.5", "2000"])
def test_wrong_environment(given):
    finished = run("import tensix", TENSIX_NUM_THREADS=given)
    assert finished.returncode == 1 and f"TENSIX_NUM_THREADS must be 1 to 1024, found '{given}'" in finished.stderr


def test_copy_on_write_is_settled_before_the_loop():
    """A write to a lazy clone copies once, in the calling thread."""
    tensix.set_num_threads(4)
    x = tensix.ones(2_000_000)
    y = x.lazy_clone()
    y.copy_(x + x)
    assert not y.is_cow() and float(x.sum()) == 2_000_000 and float(y.sum()) == 4_000_000
    z = y.lazy_clone()
    assert float((z + y).sum()) == 8_000_000 and z.is_cow()


def test_large_writes_while_another_thread_changes_mask_and_positions():
    """They run without the GIL: elements of the tensor are written, and none beside it."""
    around = np.zeros(3_000_000, "f4")
    x = tensix.from_numpy(around)[1_000_000:2_000_000]
    mask, positions = np.zeros(x.numel(), bool), np.arange(x.numel())
    key, places, rows = tensix.from_numpy(mask), tensix.from_numpy(positions), x.reshape(1000, 1000)
    values, done = tensix.ones(x.numel()), threading.Event()

    def disturb():
        while not done.is_set():
            mask[:] ^= True
            positions[:] += 900_000  # most are outside then, and still in the memory around
            positions[:] -= 900_000

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(50):
            x[key] = 1
            with contextlib.suppress(IndexError):
                x[places] = values
            rows[:, places[:900] % 1000] = 1
    finally:
        done.set()
        thread.join()
    assert not around[:1_000_000].any() and not around[2_000_000:].any() and x.any()


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
def test_large_writes_by_two_keys_are_numpys(dtype):
    array = np.zeros((1200, 1300), dtype)
    x = tensix.from_numpy(array.copy())
    down, across = np.random.default_rng(0).permutation(1200)[:1000, None], np.random.default_rng(1).permutation(1300)
    values = (np.arange(1000 * 1300) % 200).reshape(1000, 1300).astype(dtype)
    array[down, across], x[tensix.from_numpy(down), tensix.from_numpy(across)] = values, tensix.from_numpy(values)
    np.testing.assert_array_equal(x.numpy(), array)
