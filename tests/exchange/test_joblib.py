"""Tensors handed to workers of joblib."""

import joblib
import pytest
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

import tensix
from tensix.interop.shared_memory import share
from tensix.memory import SharedMemoryAllocator


@pytest.fixture(scope="module", autouse=True)
def workers():
    """End the workers of joblib with the tests: they would keep memory that is shared with them."""
    yield
    get_reusable_executor().shutdown()


def add_one(x, i):
    x[i] += 1
    return tensix.memory.SharedMemoryAllocator.locate(x.data_ptr()) is not None


def test_workers_have_the_same_memory():
    x = share(tensix.zeros(4))
    for part in (x, x[::2], x[1:]):
        assert Parallel(n_jobs=2)(delayed(add_one)(part, i) for i in range(part.numel())) == [True] * part.numel()
    assert x.tolist() == [2, 2, 3, 2]


def test_results_of_workers_are_shared_too():
    x = share(tensix.zeros(2))
    (found,) = Parallel(n_jobs=2)([delayed(lambda x: x[1:])(x)])
    found += 5
    assert x.tolist() == [0, 5]


def test_ordinary_memory_is_copied():
    x = tensix.zeros(2)
    assert Parallel(n_jobs=2)([delayed(add_one)(x, 0)]) == [False]
    assert x.tolist() == [0, 0]


def test_a_pickle_and_a_file_of_joblib_hold_the_elements(tmp_path):
    x = share(tensix.arange(3))
    joblib.dump(x, tmp_path / "x.joblib")
    found = joblib.load(tmp_path / "x.joblib")
    assert found.tolist() == [0, 1, 2]
    assert SharedMemoryAllocator.locate(found.data_ptr()) is None
