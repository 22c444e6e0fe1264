"""The attributes by which other libraries know a tensor: its namespace and DLPack."""

import ctypes

import numpy as np
import pytest

import tensix

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]  # fmt: skip


def test_namespace():
    x = tensix.ones(2)
    assert x.__array_namespace__() is tensix and x.__array_namespace__(api_version="2025.12") is tensix
    assert tensix.__array_api_version__ == "2025.12" and tensix.__name__ == "tensix"
    with pytest.raises(ValueError, match=r"2025\.12.*found '2030\.01'"):
        x.__array_namespace__(api_version="2030.01")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (2, 0)])
def test_export(dtype, version):
    x = tensix.ones(2, 3, dtype=dtype).T
    array = np.from_dlpack(x)
    assert array.ctypes.data == x.data_ptr() and array.tolist() == x.tolist() and str(array.dtype) == dtype
    assert type(x.__dlpack__(max_version=version)).__name__ == "PyCapsule"


def test_device():
    assert tensix.ones(2).__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="meta"):
        tensix.empty(2, device="meta").__dlpack_device__()


def write(array, value):
    """Write the first element, also where NumPy takes all arrays for read-only, as before 2.3."""
    ctypes.c_float.from_address(array.ctypes.data).value = value


def test_written_by_the_other_side():
    x = tensix.zeros(2)
    array = np.from_dlpack(x)
    lazy = x.lazy_clone()
    write(array, 1)
    assert x.tolist() == [1.0, 0.0] and lazy.tolist() == [0.0, 0.0]


def test_export_of_a_lazy_copy_gets_its_own_bytes():
    x = tensix.zeros(2)
    lazy = x.lazy_clone()
    write(np.from_dlpack(lazy), 1)
    assert x.tolist() == [0.0, 0.0] and lazy.tolist() == [1.0, 0.0]


def test_read_only():
    x = tensix.asarray(b"ab")
    for options in ({}, {"max_version": (0, 8)}):
        with pytest.raises(BufferError):
            x.__dlpack__(**options)
    assert not np.from_dlpack(x).flags.writeable and tensix.from_dlpack(x).readonly
    assert x.__dlpack__(copy=True) is not None


def test_copy():
    class Copied:
        """Ask for copies whatever the other side asks for."""

        def __dlpack__(self, **options):
            return x.__dlpack__(**options | {"copy": True})

        def __dlpack_device__(self):
            return x.__dlpack_device__()

    x = tensix.ones(2)
    array = np.from_dlpack(Copied())
    assert array.tolist() == [1.0, 1.0] and array.ctypes.data != x.data_ptr()


@pytest.mark.parametrize("options, error", [({"stream": 1}, ValueError), ({"dl_device": (2, 0)}, BufferError)])
def test_export_that_cannot_be(options, error):
    with pytest.raises(error):
        tensix.ones(2).__dlpack__(**options)
    assert tensix.ones(2).__dlpack__(dl_device=(1, 0), copy=False) is not None


def test_memory_outlives_the_tensor():
    array = np.from_dlpack(tensix.full((1000,), 3.0))
    assert array.tolist() == [3.0] * 1000
