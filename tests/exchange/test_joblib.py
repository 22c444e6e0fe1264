"""Tensors handed to workers of joblib."""

import gc
import subprocess
import sys

import joblib
import pytest
from joblib import Parallel, delayed, wrap_non_picklable_objects
from joblib.externals.loky import get_reusable_executor

import tensix
from tensix.files import shared_memory
from tensix.files.shared_memory import share
from tensix.memory import SharedMemoryAllocator


@pytest.fixture(scope="module", autouse=True)
def workers():
    """End the workers of joblib with the tests: they would keep memory that is shared with them."""
    yield
    get_reusable_executor().shutdown()


def add_one(x, i):
    x[i] += 1
    return SharedMemoryAllocator.locate(x.data_ptr()) is not None


def add_one_inside(found, i):
    return add_one(found["some"][0], i)


# Python warns when a process with threads forks, which joblib's backend "multiprocessing" does; so does JAX.
every_backend = pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
forks = pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning", r"ignore:os\.fork\(\) was called:RuntimeWarning"
)


@every_backend
@forks
def test_workers_have_the_same_memory(backend):
    x = share(tensix.zeros(4))
    for part in (x, x[::2], x[1:]):
        found = Parallel(n_jobs=2, backend=backend)(delayed(add_one)(part, i) for i in range(part.numel()))
        assert found == [True] * part.numel()
    assert x.tolist() == [2, 2, 3, 2]


@every_backend
@forks
def test_tensors_in_other_objects_are_shared(backend):
    x = share(tensix.zeros(3))
    found = Parallel(n_jobs=2, backend=backend)(delayed(add_one_inside)({"some": [x]}, i) for i in range(3))
    assert found == [True] * 3
    assert x.tolist() == [1, 1, 1]


@every_backend
@forks
def test_tensors_of_closures_are_shared(backend):
    x = share(tensix.zeros(3))
    closures = [wrap_non_picklable_objects(lambda i: add_one(x, i))]
    if backend != "multiprocessing":  # which pickles functions by their names
        closures.append(lambda i: add_one(x, i))
    for closure in closures:
        assert Parallel(n_jobs=2, backend=backend)(delayed(closure)(i) for i in range(3)) == [True] * 3
    assert x.tolist() == [len(closures)] * 3


@every_backend
@pytest.mark.parametrize("mode", [None, "r", "r+", "c"])
@forks
def test_memory_maps_of_joblib_change_nothing(backend, mode):
    x = share(tensix.zeros(1000))
    with Parallel(n_jobs=2, backend=backend, mmap_mode=mode, max_nbytes=1) as parallel:
        assert parallel(delayed(add_one)(x, i) for i in range(2)) == [True] * 2
    assert x[:3].tolist() == [1, 1, 0]


def part_of(x):
    return x[1:]


@every_backend
@forks
def test_results_of_workers_are_shared_too(backend):
    x = share(tensix.zeros(2))
    (found,) = Parallel(n_jobs=2, backend=backend)([delayed(part_of)(x)])
    found += 5
    assert x.tolist() == [0, 5]


SCRIPT = """
import multiprocessing, sys
import tensix
from tensix.files.shared_memory import share

def add_one(x, i):
    x[i] += 1

if __name__ == "__main__":
    x = share(tensix.zeros(3))
    assert not {"joblib", "loky"} & {*sys.modules}
    from joblib import Parallel, delayed
    for backend in ("loky", "multiprocessing", multiprocessing.get_context("spawn")):
        Parallel(n_jobs=2, backend=backend)(delayed(add_one)(x, i) for i in range(3))
    print(x.tolist())
"""


def test_joblib_may_be_imported_after_a_tensor_is_shared(tmp_path):
    """And a pool may start its workers by running the program again."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=100)
    assert done.stdout == "[3.0, 3.0, 3.0]\n", done.stderr


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
@forks
def test_ordinary_memory_is_copied(backend):
    x = tensix.zeros(2)
    assert Parallel(n_jobs=2, backend=backend)([delayed(add_one)(x, 0)]) == [False]
    assert x.tolist() == [0, 0]


def test_a_pickle_and_a_file_of_joblib_hold_the_elements(tmp_path):
    x = share(tensix.arange(3))
    joblib.dump(x, tmp_path / "x.joblib")
    found = joblib.load(tmp_path / "x.joblib")
    assert found.tolist() == [0, 1, 2]
    assert SharedMemoryAllocator.locate(found.data_ptr()) is None


def write_one(x, i):
    total = x.sum().item()
    before = x[0].item()
    x[0] += i + 1
    return before, total, x[0].item() - before


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
@forks
def test_a_large_tensor_is_sent_once_and_is_each_workers_own(backend):
    """Without a pickle of its bytes; the sender writes it between messages, and workers write what they got."""
    x = tensix.ones(1_000_000, dtype=tensix.float64)
    with Parallel(n_jobs=2, backend=backend, batch_size=1) as parallel:  # a message for each task
        for value in (1, 2, 3):
            x[0] = value
            with SharedBlocks() as shared:
                found = parallel(delayed(write_one)(x, i) for i in range(6))
            assert found == [(value, 999_999 + value, i + 1) for i in range(6)]
            assert shared.total_count == 1  # that of the copy
            assert x[0].item() == value


class SharedBlocks(tensix.core.MemoryReporter):
    """Count the blocks of 8 MB that are allocated."""

    total_count = 0

    def report_memory_usage(self, address, nbytes, total_allocated, device):
        self.total_count += nbytes == 8_000_000 and SharedMemoryAllocator.locate(address) is not None


def aliases(tensors):
    a, b, c = tensors
    a[0, 0] = 5
    return b[0, 0].item(), c[0].item(), a.readonly, b.stride(), c.stride()


def readonly_and_sum(x):
    return x.readonly, x.sum().item()


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
@forks
def test_large_tensors_keep_strides_and_aliases(backend):
    x = tensix.ones(1000, 1000)
    gaps = tensix.arange(2_000_000)[::2]
    frozen = tensix.asarray(bytes(2_000_000))
    with Parallel(n_jobs=2, backend=backend) as parallel:
        assert parallel([delayed(aliases)((x, x.T, gaps))]) == [(5, 0, False, (1, 1000), (1,))]
        assert parallel([delayed(readonly_and_sum)(frozen)]) == [(True, 0)]
        assert x[0, 0].item() == 1


@forks
def test_copies_for_messages_end_with_their_tensors():
    x = tensix.ones(1_000_000)
    Parallel(n_jobs=2)(delayed(readonly_and_sum)(x) for _ in range(2))
    place = x.data_ptr(), x.nbytes
    assert place in shared_memory.COPIES
    del x
    gc.collect()
    assert place not in shared_memory.COPIES


def fill(size):
    return tensix.full((size,), 3.0)


@forks
def test_large_results_come_back():
    (found,) = Parallel(n_jobs=2)([delayed(fill)(1_000_000)])
    assert not found.readonly and found.sum().item() == 3_000_000
    found += 1
    assert found[0].item() == 4
