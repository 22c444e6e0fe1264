"""The buffer protocol: tensors as buffers, and buffers as tensors."""

import array as arrays
import ctypes
import io
import mmap
import struct

import numpy as np
import pytest

import tensix

FORMATS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "float16": "e",
    "float32": "f", "float64": "d", "complex64": "Zf", "complex128": "Zd",
}  # fmt: skip


# ---- out


@pytest.mark.parametrize("dtype, format", FORMATS.items())
def test_formats(dtype, format):
    x = tensix.zeros(2, dtype=dtype)
    view = memoryview(x)
    assert (view.format, view.itemsize, view.nbytes) == (format, x.itemsize, 2 * x.itemsize)
    assert np.asarray(view).dtype.name == dtype == tensix.asarray(view).dtype.name


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_format_of_64_bits(dtype):
    view = memoryview(tensix.zeros(2, dtype=dtype))
    assert struct.calcsize(view.format) == 8 and view.tolist() == [0, 0]


@pytest.mark.parametrize("x", [
    tensix.arange(6).reshape(2, 3), tensix.arange(6).reshape(2, 3).T, tensix.arange(6)[::-2], tensix.tensor(5),
    tensix.empty(0, 3, dtype="int64"), tensix.arange(24).reshape(2, 3, 4)[:, 1, ::2], tensix.arange(2).expand(3, 2),
    tensix.ones((1,) * 64, dtype="int64"),
], ids=lambda x: str(x.shape))  # fmt: skip
def test_geometry(x):
    view = memoryview(x)
    assert (view.shape, view.ndim, view.readonly, view.obj is x) == (x.shape, x.ndim, False, True)
    assert view.strides == tuple(8 * step for step in x.stride())
    assert view.c_contiguous == x.is_contiguous()
    assert view.f_contiguous == x.permute(*range(x.ndim)[::-1]).is_contiguous()
    assert np.asarray(view).tolist() == x.tolist()
    if 0 < x.ndim < 64:
        assert bytes(view) == np.asarray(x).tobytes()


def test_written_by_both_sides():
    x = tensix.zeros(2)
    view = memoryview(x)
    view[0] = 5
    x[1] = 6
    assert x.tolist() == view.tolist() == [5.0, 6.0]
    io.BytesIO(np.float32([7, 8]).tobytes()).readinto(x)
    assert x.tolist() == [7.0, 8.0]


def test_read_only():
    x = tensix.asarray(b"ab")
    assert memoryview(x).readonly and bytes(x) == b"ab"
    with pytest.raises(TypeError, match="read-only"):
        memoryview(x)[0] = 1
    with pytest.raises((BufferError, TypeError), match=r"read-only|read-write"):
        io.BytesIO(b"12").readinto(x)


def test_buffer_outlives_the_tensor_and_its_change():
    x = tensix.ones(3)
    view = memoryview(x)
    x.set_(tensix.zeros(5))
    assert view.tolist() == [1.0] * 3
    del x
    assert view.tolist() == [1.0] * 3


@pytest.mark.parametrize("make, text", [
    (tensix.Tensor, "without a storage"), (lambda: tensix.ones(2).to_sparse(), "without a storage"),
    (lambda: tensix.empty(2, device="meta"), "meta"), (lambda: tensix.ones(2, dtype="bfloat16"), "bfloat16"),
])  # fmt: skip
def test_what_has_no_buffer(make, text):
    with pytest.raises(BufferError, match=text):
        memoryview(make())


get_buffer = ctypes.pythonapi.PyObject_GetBuffer
get_buffer.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
release = ctypes.pythonapi.PyBuffer_Release
release.argtypes = [ctypes.c_void_p]
SIMPLE, WRITABLE, FORMAT, ND, STRIDES, C, F, ANY = 0, 1, 4, 8, 24, 56, 88, 152


@pytest.mark.parametrize("flags, kinds", [
    (SIMPLE, "c"), (WRITABLE, "c"), (ND, "c"), (FORMAT | ND, "c"), (STRIDES, "cfn"), (C, "c"), (F, "f"), (ANY, "cf"),
    (STRIDES | FORMAT | WRITABLE, "cfn"),
])  # fmt: skip
def test_requests(flags, kinds):
    """Rows, columns and neither: a request is granted or refused."""
    rows = tensix.ones(4, 6)
    for kind, x in {"c": rows, "f": rows.T, "n": rows[::2, ::2]}.items():
        view = ctypes.create_string_buffer(200)
        if kind in kinds:
            get_buffer(x, view, flags)
            release(view)
        else:
            with pytest.raises(BufferError, match="contiguous"):
                get_buffer(x, view, flags)


def test_bytes_without_a_format():
    view = ctypes.create_string_buffer(200)
    get_buffer(tensix.ones(2, dtype="bfloat16"), view, ND)
    release(view)


# ---- in


@pytest.mark.parametrize("obj, dtype, values", [
    (b"ab", "uint8", [97, 98]), (bytearray(b"ab"), "uint8", [97, 98]), (arrays.array("i", [1, 2]), "int32", [1, 2]),
    (arrays.array("q", [1, 2]), "int64", [1, 2]), (arrays.array("l", [1, 2]), np.dtype("l").name, [1, 2]),
    ((ctypes.c_int16 * 2)(1, 2), "int16", [1, 2]), (((ctypes.c_double * 2) * 2)((1, 2), (3, 4)), "float64",
                                                    [[1, 2], [3, 4]]),
    ((ctypes.c_longlong * 1)(5), "int64", [5]), ((ctypes.c_bool * 2)(True, False), "bool", [True, False]),
    (ctypes.create_string_buffer(b"a"), "uint8", [97, 0]), (memoryview(bytes(4)).cast("f"), "float32", [0.0]),
    (memoryview(bytes(12)).cast("i", (1, 3)), "int32", [[0, 0, 0]]), (memoryview(b"abcd")[::-2], "uint8", [100, 98]),
    (ctypes.c_float(3), "float32", 3.0), (b"", "uint8", []), (memoryview(np.float16([1, 2])), "float16", [1, 2]),
    (memoryview(np.complex64([1j])), "complex64", [1j]), (memoryview(np.zeros((2, 0))), "float64", [[], []]),
])  # fmt: skip
def test_buffers_are_shared(obj, dtype, values):
    for copy in (None, False):
        x = tensix.asarray(obj, copy=copy)
        assert (x.dtype.name, x.tolist(), x.readonly) == (dtype, values, memoryview(obj).readonly)
    copied = tensix.asarray(obj, copy=True)
    assert copied.tolist() == values and not copied.readonly
    if x.numel():
        assert copied.data_ptr() != x.data_ptr() == tensix.asarray(obj).data_ptr()


def test_buffer_is_locked_and_let_go():
    data = bytearray(8)
    x = tensix.asarray(data)
    with pytest.raises(BufferError):
        data.append(1)
    del x
    data.append(1)


def test_map_cannot_be_closed_under_a_tensor():
    with mmap.mmap(-1, 4096) as area:
        x = tensix.asarray(area)
        x[0] = 5
        assert area[0] == 5 and x.shape == (4096,)
        with pytest.raises(BufferError):
            area.close()
        del x


@pytest.mark.parametrize("obj, error", [
    (memoryview(np.zeros(2, ">f4")), None), (memoryview(bytes(9))[1:].cast("d"), None),
    (memoryview(np.zeros(2, "S3")), TypeError), (memoryview(np.zeros(2, [("a", "f4")])), TypeError),
    (memoryview(np.zeros(2, np.longdouble)), TypeError), ((ctypes.c_wchar * 2)(), ValueError),
    ((ctypes.c_char_p * 1)(), (TypeError, ValueError)), (np.zeros(3, "i1,f4")["f1"].data, None),
])  # fmt: skip
def test_buffers_that_cannot_be_shared(obj, error):
    """Elements that tensix has a type for are copied, others refused."""
    with pytest.raises(ValueError, match="copy is False"):
        tensix.asarray(obj, copy=False)
    if error is None:
        assert tensix.asarray(obj).tolist() == np.asarray(obj).tolist()
    else:
        with pytest.raises(error):
            tensix.asarray(obj)


def test_bytes_are_cloned_lazily():
    x = tensix.asarray(b"ab")
    assert x.lazy_clone().data_ptr() == x.data_ptr()
    assert tensix.asarray(memoryview(bytearray(2)).toreadonly()).lazy_clone().is_cow() is False


def test_failing_exporter():
    closed = memoryview(b"a")
    closed.release()
    with pytest.raises(ValueError, match="released"):
        tensix.asarray(closed)
