"""Allocators as people write them first."""

import ctypes
import pickle
import subprocess
import sys

import pytest

import tensix


class Pool(tensix.Allocator):
    """An allocator written in Python that has its own words, and C's functions for blocks."""

    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]

    def allocate(self, nbytes):
        if nbytes > 1000:
            raise tensix.OutOfMemoryError("the pool is full")
        address = self.libc.malloc(nbytes)
        return tensix.core.DataPtr(address, address, self.raw_deleter())

    def raw_deleter(self):
        return self.libc.free


def test_no_memory_is_said_in_words():
    with tensix.use_allocator(Pool()), pytest.raises(tensix.OutOfMemoryError, match=r"^the pool is full$") as caught:
        tensix.empty(1000)
    assert caught.value.nbytes is None
    assert str(pickle.loads(pickle.dumps(caught.value))) == "the pool is full"


def test_numbers_are_all_given_or_none():
    with pytest.raises(TypeError, match="nbytes, alignment and in_use"):
        tensix.OutOfMemoryError(100)
    error = pickle.loads(pickle.dumps(tensix.OutOfMemoryError(4096, 64, 0)))
    assert error.nbytes == 4096


def test_what_was_asked_for_is_named():
    limited = tensix.CachingAllocator(tensix.LimitingAdaptor(tensix.CPUAllocator(), 100))
    with tensix.use_allocator(limited), pytest.raises(tensix.OutOfMemoryError, match="cannot allocate 10,404 bytes"):
        tensix.empty(51, 51)


def test_a_deleter_is_returned_in_the_form_that_is_taken():
    pool = Pool()
    address = pool.raw_allocate(100)
    ctypes.memset(address, 1, 100)
    pool.raw_deallocate(address)
    with tensix.use_allocator(pool):
        assert tensix.ones(3).tolist() == [1, 1, 1]


def test_a_structure_has_its_size():
    class Point(ctypes.Structure):
        _fields_ = (("x", ctypes.c_double), ("y", ctypes.c_double))

    class Number(ctypes.Union):
        _fields_ = (("i", ctypes.c_int32), ("f", ctypes.c_float))

    class Plain:
        pass

    assert tensix.register_type(Point).itemsize == 16
    assert tensix.register_type(Point) == tensix.TypeMeta.make(Point)
    assert tensix.register_type(Number).itemsize == 4
    assert tensix.register_type(Plain).itemsize == 8


@pytest.mark.parametrize("path", ["x.npy", "x.npz"])
def test_a_file_and_a_tensor_the_wrong_way_round(path):
    with pytest.raises(TypeError, match=rf"path first: save\('{path}', x\)"):
        tensix.save(tensix.ones(2), path)


def test_numpys_globals_do_not_lie_in_an_allocator():
    program = """if 1:
        import tensix, numpy as np
        with tensix.memory.statistics() as counted, tensix.memory.serve_numpy():
            import numpy.ma, numpy.polynomial
            x = np.ma.zeros(3)
            del x
        print(counted.current_bytes)
    """
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert run.stdout == "0\n", run.stderr
