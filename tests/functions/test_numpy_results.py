"""What NumPy computes for tensix lies in memory of the allocator in use."""

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tensix
from tensix.core import Allocator, CPUAllocator, OutOfMemoryError, use_allocator

CALLS = {
    "sort": lambda x: tensix.sort(x), "argsort": lambda x: tensix.argsort(x), "concat": lambda x: tensix.concat([x, x]),
    "take": lambda x: tensix.take(x, tensix.arange(2), axis=0), "rows": lambda x: x[[1, 0]], "mask": lambda x: x[x > 2],
    "cumulative_sum": lambda x: tensix.cumulative_sum(x, axis=0), "nonzero": lambda x: tensix.nonzero(x)[0],
    "unique": lambda x: tensix.unique_values(x), "inverse": lambda x: tensix.linalg.inv(x[:, :2] + tensix.eye(2)),
    "number": lambda x: tensix.count_nonzero(x), "roll": lambda x: tensix.roll(x, 1),
    "repeat": lambda x: tensix.repeat(x, 2), "fft": lambda x: tensix.fft.fft(x), "arange": lambda x: tensix.arange(9),
    "range of floats": lambda x: tensix.arange(0.0, 1.0, 0.25, dtype=tensix.float64),
    "linspace": lambda x: tensix.linspace(0, 1, 9, dtype=tensix.float64), "stack": lambda x: tensix.stack([x, x]),
    "fftfreq": lambda x: tensix.fft.fftfreq(9, dtype=tensix.float64), "list": lambda x: tensix.asarray([1, 2, 3]),
    "eye": lambda x: tensix.eye(3), "tensor": lambda x: tensix.tensor([1.0, 2.0]), "tril": lambda x: tensix.tril(x),
    "meshgrid": lambda x: tensix.meshgrid(x[0], x[1])[1], "randint": lambda x: tensix.randint(1, (4,)),
}  # fmt: skip
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


class Refusing(Allocator):
    """Serve so many requests, then none."""

    def __init__(self, served, error):
        self.served, self.error, self.upstream = served, error, CPUAllocator()

    def allocate(self, nbytes):
        if self.served == 0:
            raise self.error
        self.served -= 1
        return self.upstream.allocate(nbytes)

    def raw_deleter(self):
        return self.upstream.raw_deleter()


def matrix():
    return tensix.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))


@each_call
def test_result_is_of_the_allocator_in_use(call):
    x, pages = matrix(), CPUAllocator(alignment=4096)
    expected = call(x)
    with use_allocator(pages):
        found = call(x)
    assert found.allocator is pages and found.storage().data_ptr() % 4096 == 0
    assert found.tolist() == expected.tolist() and expected.allocator is tensix.core.get_allocator("cpu")


@each_call
def test_memory_goes_with_the_result(call):
    x = matrix()
    call(x)
    gc.collect()
    before = CPUAllocator.bytes_in_use()
    found = call(x)
    assert CPUAllocator.bytes_in_use() >= before + found.storage().nbytes()
    clone = found.lazy_clone()
    clone.fill_(1)
    del found, clone
    assert CPUAllocator.bytes_in_use() == before


@each_call
@pytest.mark.parametrize("error", [OutOfMemoryError(9, 64, 0), ValueError("mine"), KeyboardInterrupt()])
def test_error_of_the_allocator_arrives(call, error):
    x = matrix()
    served = 0
    before = CPUAllocator.bytes_in_use()
    while True:
        try:
            with use_allocator(Refusing(served, error)):
                call(x)
        except type(error) as caught:
            assert caught is error and x.tolist() == [[0, 1, 2], [3, 4, 5]]
            caught.__traceback__ = caught.__context__ = None  # they hold what the call had made
        else:
            break
        served += 1
    assert served > 0 and CPUAllocator.bytes_in_use() == before


def test_arrays_of_others_stay_theirs():
    x = matrix()
    tensix.sort(x)
    with pytest.raises(IndexError):
        x[[7]]
    assert np._core.multiarray.get_handler_name(np.ones(5)) == "default_allocator"


def test_result_owns_its_block_alone():
    found = tensix.sort(tensix.rand(1000))
    storage = found.storage()
    assert not found.readonly and storage.data_ptr_object().get_context() and storage.use_count() == 2
    assert tensix.core.cow.has_simple_data_ptr(storage) == tensix.core.cow.has_simple_data_ptr(tensix.rand(9).storage())


def test_threads():
    def work(seed):
        x = tensix.from_numpy(np.random.default_rng(seed).random((20, 30)))
        for _ in range(100):
            assert tensix.sort(x).tolist() == np.sort(np.asarray(x)).tolist()
            assert x[[3, 1]].shape == (2, 30) and tensix.concat([x, x]).shape == (40, 30)

    before = CPUAllocator.bytes_in_use()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert CPUAllocator.bytes_in_use() == before


def test_growing_result():
    """A result whose length NumPy learns while it fills it."""
    found = tensix.nonzero(tensix.ones(300, 200))
    assert [x.shape for x in found] == [(60_000,), (60_000,)] and int(found[1][-1]) == 199
