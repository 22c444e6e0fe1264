"""NumPy's arrays lie in tensix's memory while a scope is open, and their blocks go back to whom they came from."""

import gc
import os
import pickle
import subprocess
import sys
import sysconfig
import threading

import numpy as np
import pytest

import tensix
from tensix.core import Allocator, CPUAllocator, use_allocator
from tensix.memory import (
    CachingAllocator,
    GuardAdaptor,
    LimitingAdaptor,
    StatisticsAdaptor,
    TrackingAdaptor,
    profile,
    record,
    serve_numpy,
    statistics,
)

ALLOCATORS = {
    "in use": lambda: None,
    "caching": CachingAllocator,
    "caching, small alignment": lambda: CachingAllocator(CPUAllocator(alignment=16)),
    "CPU": CPUAllocator,
    "pages": lambda: CPUAllocator(alignment=4096),
    "statistics": lambda: StatisticsAdaptor(None),
    "guard": lambda: GuardAdaptor(CPUAllocator()),
    "Python": lambda: Forwarding(),
}
each_allocator = pytest.mark.parametrize("make", ALLOCATORS.values(), ids=ALLOCATORS)
SIZES = [0, 1, 7, 64, 513, 1024, 65_536, 300_000, 3 << 20, 40 << 20]


class Forwarding(Allocator):
    def __init__(self, error=None):
        self.upstream, self.error, self.count = CPUAllocator(), error, 0

    def allocate(self, nbytes):
        if self.error is not None:
            raise self.error
        self.count += 1
        return self.upstream.allocate(nbytes)

    def raw_deleter(self):
        return self.upstream.raw_deleter()


def handler_name():
    return np._core.multiarray.get_handler_name()


@pytest.fixture(autouse=True)
def nothing_is_left():
    gc.collect()
    before = CPUAllocator.bytes_in_use()
    yield
    gc.collect()
    assert CPUAllocator.bytes_in_use() == before and handler_name() == "default_allocator"


@each_allocator
def test_every_way_to_an_array(make):
    with serve_numpy(make()), statistics() as counted:
        for size in SIZES:
            empty = np.empty(size, np.uint8)
            empty[:] = 7
            zeros = np.zeros(size, np.uint8)
            assert not zeros.any() and (empty == 7).all()
            del empty
            again = np.zeros(size, np.uint8)
            assert not again.any()
        grown = np.ones(3)
        grown.resize(100_000, refcheck=False)
        assert grown[:3].sum() == 3 == grown.sum()
        grown.resize(2, refcheck=False)
        assert grown.sum() == 2
        assert np.fromiter(iter(range(5000)), np.int64).sum() == 12_497_500
        assert np.fromstring(" ".join(map(str, range(5000))), sep=" ").sum() == 12_497_500
        objects = np.array([[], {}, None, "text"], dtype=object)
        assert (objects.copy() == objects).all()
        assert np.sort(np.array([3.0, 1.0, 2.0])).tolist() == [1, 2, 3]
        assert pickle.loads(pickle.dumps(zeros)).tobytes() == zeros.tobytes()
    assert counted.total_bytes > sum(SIZES)


@each_allocator
def test_blocks_outlive_the_scope(make):
    with serve_numpy(make()):
        inside = [np.full(size, 5, np.uint8) for size in SIZES]
    outside = [np.full(size, 6, np.uint8) for size in SIZES]
    with serve_numpy():
        for array in outside:
            array.resize(array.size + 9, refcheck=False)  # NumPy's own, resized while tensix serves
        del outside
    for array in inside:
        assert (array == 5).all()
        array.resize(array.size + 9, refcheck=False)
        assert (array[:-9] == 5).all() and not array[-9:].any()


def test_allocator_may_be_gone():
    allocator = CachingAllocator()
    with serve_numpy(allocator):
        arrays = [np.ones(size) for size in (10, 1000, 1_000_000)]
    del allocator
    gc.collect()
    assert all(array.sum() == array.size for array in arrays)


def test_aligned_and_seen():
    with serve_numpy(), statistics() as counted:
        x = np.ones(1000)
        y = x + 1
        assert x.ctypes.data % 64 == y.ctypes.data % 64 == 0
        assert counted.current_bytes == 16_000
        del y
        assert counted.current_bytes == 8000
    with statistics() as counted:
        np.ones(1000)
    assert counted.total_bytes == 0


def test_profile_and_recording():
    with serve_numpy(), profile(quiet=True) as lines, record() as recording:
        x = np.zeros((100, 100))
    assert [row.peak_bytes for row in lines.rows] == [80_000]
    assert lines.rows[0].place.function == "test_profile_and_recording"
    with serve_numpy(), record() as recording:
        x = np.zeros((100, 100))
        y = tensix.sort(tensix.zeros(10))
    blocks = recording.snapshot()["blocks"]
    assert blocks["kind"] == [1] + [0] * (len(blocks["nbytes"]) - 1) and blocks["nbytes"][0] == x.nbytes
    assert y.shape == (10,)


def test_allocator_in_use_or_the_one_given():
    mine, other = TrackingAdaptor(None), TrackingAdaptor(None)
    with serve_numpy():
        with use_allocator(mine):
            x = np.ones(10)
        y = np.ones(10)
        assert len(mine.blocks()) == 1
        with serve_numpy(other), use_allocator(mine):
            z = np.ones(20)
    assert [block.nbytes for block in other.blocks()] == [160] and len(mine.blocks()) == 1
    del x, y, z
    assert not mine.blocks() and not other.blocks()


def test_nests_and_ends_in_any_order():
    first, second = serve_numpy(), serve_numpy(CPUAllocator(alignment=4096))
    assert np.ones(10).ctypes.data % 4096 == 0 and first.is_open and second.is_open
    first.close()
    assert np.ones(10).ctypes.data % 4096 == 0 and not first.is_open
    second.close()
    second.close()
    assert handler_name() == "default_allocator"
    assert repr(first) == "<serve_numpy(), closed>"


def test_decorator():
    @serve_numpy(CPUAllocator(alignment=4096))
    def work(n):
        """Make an array."""
        return np.ones(n).ctypes.data % 4096, handler_name()

    assert handler_name() == "default_allocator"
    assert work(10) == (0, "tensix") == work(20) and work.__doc__ == "Make an array."
    assert handler_name() == "default_allocator"
    with pytest.raises(TypeError, match=r"@serve_numpy\(\)"):
        serve_numpy(work)
    with pytest.raises(TypeError, match="generator"):

        @serve_numpy()
        def steps():
            yield np.ones(5)


def test_all_threads():
    found = {}

    def work(name):
        found[name] = np._core.multiarray.get_handler_name(np.ones(10))

    ready, go = threading.Event(), threading.Event()

    def early():
        ready.set()
        go.wait()
        work("early")

    thread = threading.Thread(target=early)
    thread.start()
    ready.wait()
    with serve_numpy():
        go.set()
        late = threading.Thread(target=work, args=["late"])
        late.start()
        thread.join()
        late.join()
    assert found == {"early": "tensix", "late": "tensix"}


def test_threads_while_scopes_open_and_close():
    """Sixteen threads make and drop arrays of many sizes, hand them to each other, and nothing is lost."""
    stop, shared, errors = threading.Event(), [None] * 64, []
    allocators = [None, CachingAllocator(), StatisticsAdaptor(CPUAllocator()), CPUAllocator(alignment=4096)]

    def work(seed):
        random = np.random.default_rng(seed)
        try:
            while not stop.is_set():
                size = int(random.integers(0, 5000))
                array = np.full(size, seed, np.uint8)
                slot = int(random.integers(0, len(shared)))
                other, shared[slot] = shared[slot], array
                if other is not None and other.size and not (other == other[0]).all():
                    errors.append(other)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(16)]
    for thread in threads:
        thread.start()
    for round in range(300):
        with serve_numpy(allocators[round % 4]), serve_numpy(allocators[round % 3]):
            np.ones(100)
    stop.set()
    for thread in threads:
        thread.join()
    shared.clear()
    assert not errors


def test_limit_is_named():
    with serve_numpy(LimitingAdaptor(CPUAllocator(), "1MiB")), pytest.raises(MemoryError) as caught:
        np.zeros(1_000_000)
    assert "shape (1000000,)" in str(caught.value) and "limit 1,048,576" in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert "limit 1,048,576" in str(pickle.loads(pickle.dumps(caught.value)))
    with pytest.raises(MemoryError) as caught:  # NumPy's own failures say what they said
        np.zeros(1 << 55)
    assert caught.value.__cause__ is None and "limit" not in str(caught.value)


def test_error_of_an_allocator_is_the_cause():
    mine = ValueError("mine")
    with serve_numpy(Forwarding(mine)), pytest.raises(MemoryError) as caught:
        np.ones(10)
    assert caught.value.__cause__ is mine


def test_failing_resize_keeps_the_array():
    with serve_numpy(LimitingAdaptor(CPUAllocator(), 1000)):
        x = np.ones(10)
        with pytest.raises(MemoryError):
            x.resize(1000, refcheck=False)
    assert x.tolist() == [1] * 10


def test_arrays_that_go_while_an_error_is_on_its_way():
    def work():
        arrays = [np.ones(10), np.ones(100_000)]
        raise KeyError(len(arrays))

    for allocator in (None, Forwarding(), StatisticsAdaptor(None)):
        with serve_numpy(allocator), record(), pytest.raises(KeyError, match="2"):
            work()


def test_own_handlers_stay_in_force():
    """A handler that is set in a context, as tensix does for its own results, is not the default one."""
    with serve_numpy(CPUAllocator(alignment=4096)) as served, use_allocator(CPUAllocator(alignment=256)):
        x = tensix.sort(tensix.arange(100.0))
    assert x.allocator.alignment == 256 and served.allocator.alignment == 4096


def test_from_numpy_and_back():
    with serve_numpy():
        x = tensix.from_numpy(np.arange(6.0))
        assert np.asarray(x + 1).tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork():
    serving = serve_numpy()
    try:
        x = np.ones(1000)
        child = os.fork()
        if child == 0:
            y = np.ones(1000) + x
            del x
            serving.close()
            os._exit(0 if y.sum() == 2000 else 1)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        serving.close()


@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="NumPy itself reads freed memory without the GIL"
)
def test_arrays_that_are_resized_while_another_thread_reads_them():
    """No other thread runs between the end of the old block and the array's new address."""
    program = """
import threading
import numpy as np, tensix
tensix.get_allocator("cpu").max_cached = 0
ends = False
def read():
    while not ends:
        array[0], array[-1]
with tensix.memory.serve_numpy():
    array = np.ones(1 << 22)
    reader = threading.Thread(target=read)
    reader.start()
    for count in [1 << 21, 1 << 22] * 100:
        array.resize(count, refcheck=False)
    ends = True
    reader.join()
print("read")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "read\n", "")


def test_interpreter_exit():
    """Arrays that live until the interpreter ends, or are dropped by it, in every kind of block."""
    program = """
import numpy as np, tensix
tensix.memory.serve_numpy()
a = [np.ones(n) for n in (1, 1000, 1_000_000)]
b = tensix.memory.serve_numpy(tensix.memory.StatisticsAdaptor(None))
c = [np.ones(n) for n in (1, 1000, 1_000_000)]
class Late:
    def __init__(self): self.arrays = np.ones(10), np.ones(100_000)
    def __del__(self): self.arrays = np.zeros(10), np.ones(10) + 1
import builtins
builtins.late = Late()
print(np.ones(5).sum())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "5.0\n", "")


def test_zeros_of_fresh_memory_have_no_pages():
    """What the system zeroes anyway is not written: 256 MiB of zeros take no main memory until they are touched."""
    allocator = CachingAllocator()
    with serve_numpy(allocator):
        x = np.zeros(256 << 20, np.uint8)
        del x
    assert allocator.stats().resident < 8 << 20
