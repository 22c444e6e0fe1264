"""Pickles of tensors: what is kept, what is shared, and what is not copied."""

import inspect
import pickle
import pickletools
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tensix

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)
TYPES = ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "complex128"]


def again(obj, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(obj, protocol))


def out_of_band(obj):
    """Return an object loaded from buffers that were handed over as they are, and the buffers."""
    buffers = []
    data = pickle.dumps(obj, 5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=buffers), buffers, data


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype, protocol):
    x = tensix.asarray([0, 1, 1], dtype=dtype)
    y = again(x, protocol)
    assert (y.dtype, y.tolist(), y.readonly, type(y)) == (x.dtype, x.tolist(), False, tensix.Tensor)
    y.fill_(0)
    assert x.tolist() == tensix.asarray([0, 1, 1], dtype=dtype).tolist()


BASE = tensix.arange(24).reshape(4, 6)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("x, stride", [
    (BASE, (6, 1)), (BASE.T, (1, 6)), (BASE[1:3], (6, 1)), (BASE[1:3].T, (1, 6)), (BASE[:, ::2], (3, 1)),
    (BASE[::-1], (6, 1)), (BASE[2, 3], ()), (BASE[:0], (6, 1)), (tensix.arange(2).expand(3, 2), (2, 1)),
    (BASE.reshape(2, 2, 6).permute(1, 2, 0), None),
], ids=str)  # fmt: skip
def test_views(x, stride, protocol):
    y = again(x, protocol)
    assert y.shape == x.shape and y.tolist() == x.tolist() and y.stride() == (stride or x.stride())
    assert y.storage().nbytes() == 8 * y.numel()  # no more than the elements


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_read_only(protocol):
    x = tensix.asarray(np.arange(3.0))
    x.storage().readonly = True
    for part in (x, x[1:], x[::2].T[:1]):
        y = again(part, protocol)
        assert y.tolist() == part.tolist() and (y.readonly or not part.is_contiguous())
    y = again(x, protocol)
    with pytest.raises(RuntimeError, match="read-only"):
        y.fill_(1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tensors_over_the_same_bytes_share_them_again(protocol):
    x = tensix.zeros(2, 3)
    a, b, c, part = again([x, x.T, x, x[0]], protocol)
    assert a is c and a.is_alias_of(b) and not a.is_alias_of(part)
    a[0, 1] = 7
    assert b[1, 0].item() == 7 and part.tolist() == [0, 0, 0]


@pytest.mark.parametrize("make", [
    tensix.Tensor, lambda: tensix.empty(2, 3, device="meta").T, lambda: tensix.tensor([0, 3, 0, 4]).to_sparse(),
    lambda: tensix.empty(0, 3),
], ids=["undefined", "meta", "sparse", "empty"])  # fmt: skip
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tensors_without_bytes(make, protocol):
    x = make()
    y = again(x, protocol)
    assert (y.defined(), y.shape, y.layout) == (x.defined(), x.shape, x.layout)
    assert getattr(y, "device", None) == getattr(x, "device", None)
    if y.layout is tensix.sparse_coo:
        assert y.to_dense().tolist() == [0, 3, 0, 4]
    elif y.defined():
        assert y.stride() == x.stride() and y.dtype is x.dtype


def test_types_and_devices_are_the_same_objects_again():
    for obj in (tensix.float32, tensix.bfloat16, tensix.Device("cuda:1"), tensix.strided, tensix.channels_last):
        assert again(obj) == obj


# ---- out of band


@pytest.mark.parametrize("x", [BASE, BASE.T, BASE[1:3], tensix.ones(5, dtype="bfloat16")], ids=str)
def test_no_byte_is_copied_out_of_band(x):
    y, buffers, data = out_of_band(x)
    assert y.data_ptr() == x.data_ptr() and y.stride() == x.stride() and y.tolist() == x.tolist()
    assert len(buffers) == 1 and buffers[0].raw().nbytes == x.nbytes and len(data) < 400


def test_gaps_are_left_out():
    y, buffers, _ = out_of_band(BASE[:, ::2])
    assert buffers[0].raw().nbytes == 96 and y.tolist() == BASE[:, ::2].tolist()


def test_read_only_out_of_band():
    x = tensix.asarray(b"abcdefgh")
    y, buffers, _ = out_of_band(x)
    assert y.readonly and y.data_ptr() == x.data_ptr() and buffers[0].raw().readonly
    data = pickle.dumps(x, 5, buffer_callback=[].append)
    assert pickle.loads(data, buffers=[bytearray(b"12345678")]).readonly  # although these could be written


def test_buffers_of_the_receiver():
    """They are kept, locked and looked at; what cannot be written gives what cannot be written."""
    data = pickle.dumps(tensix.zeros(2), 5, buffer_callback=[].append)
    own = bytearray(np.float32([1, 2]).tobytes())
    x = pickle.loads(data, buffers=[own])
    x[0] = 5
    assert np.frombuffer(own, "f4").tolist() == [5, 2]
    with pytest.raises(BufferError):
        own.append(1)
    assert pickle.loads(data, buffers=[bytes(own)]).readonly
    assert pickle.loads(data, buffers=[np.float32([3, 4])]).tolist() == [3, 4]


def test_buffer_that_is_not_aligned_is_copied():
    data = pickle.dumps(tensix.zeros(2, dtype="float64"), 5, buffer_callback=[].append)
    own = memoryview(bytearray(17))[1:]
    x = pickle.loads(data, buffers=[own])
    assert x.tolist() == [0, 0] and x.data_ptr() % 8 == 0 and not x.readonly
    assert pickle.loads(data, buffers=[own.toreadonly()]).readonly


@pytest.mark.parametrize("buffer, error", [
    (bytearray(7), RuntimeError), (b"", RuntimeError), (3, TypeError), (np.zeros((2, 4), "u1").T[::2], BufferError),
])  # fmt: skip
def test_wrong_buffers(buffer, error):
    data = pickle.dumps(tensix.zeros(2), 5, buffer_callback=[].append)
    with pytest.raises(error):
        pickle.loads(data, buffers=[buffer])


def test_pickling_leaves_no_trace():
    """A lazy clone stays lazy where bytes go in band; no export is left behind."""
    x = tensix.zeros(2)
    lazy = x.lazy_clone()
    again(lazy, 4)
    assert lazy.data_ptr() == x.data_ptr()
    for protocol in PROTOCOLS:
        again(x, protocol)
    assert x.lazy_clone().is_cow()
    x.storage().resize_(100)


def test_pickled_by_threads():
    x = tensix.arange(1000)
    with ThreadPoolExecutor(8) as pool:
        assert all(a.is_alias_of(b) and a.tolist() == x.tolist() for a, b in pool.map(again, [(x, x)] * 200))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("nbytes", [0, 4])
def test_a_shrunk_storage_is_refused(protocol, nbytes):
    x = tensix.ones(1 << 20)
    x.storage().resize_(nbytes)
    with pytest.raises(RuntimeError, match="bytes"):
        pickle.dumps(x, protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_readonly_is_kept_where_elements_have_gaps(protocol):
    array = np.arange(10.0)
    array.flags.writeable = False
    x = tensix.asarray(array)
    for view in (x[::2], x[:1].expand(3), x):
        assert again(view, protocol).readonly and again(view, protocol).tolist() == view.tolist()
    assert not x.contiguous().readonly or x.contiguous() is x


# ---- other machines


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("readonly", [False, True])
def test_pickle_of_a_machine_of_the_other_byte_order(monkeypatch, protocol, readonly):
    """Its numbers were read with their bytes turned round."""
    x, other = tensix.tensor([1, 2]), {"little": "big", "big": "little"}[sys.byteorder]
    x.storage().readonly = readonly
    with monkeypatch.context() as patch:
        patch.setattr(sys, "byteorder", other)
        foreign = pickle.dumps([x, x.T], protocol)
    with pytest.raises(ValueError, match=rf"of a {other}-endian machine, .* tensix.save\(\)"):
        pickle.loads(foreign)


def objects():
    """Return one of everything that is kept in pickles."""
    with tensix.record() as recording:
        x = tensix.reshape(tensix.arange(6), (2, 3))
    types = [tensix.float32, tensix.TypeMeta.make(tensix.float32), tensix.channels_last, tensix.strided]
    tensors = [x, x.T, x[:, 1:], tensix.asarray(b"abc"), tensix.Tensor(), tensix.empty(3, device="meta")]
    tensors += [tensix.sparse_coo_tensor([[0]], [1.0], (2,))]
    functions = [tensix.zeros, tensix.sin, tensix.sum, tensix.Tensor.sum, tensix.einsum, tensix.linalg.inv]
    functions += [tensix.load, tensix.manual_seed, tensix.get_allocator, tensix.Library]
    results = [tensix.unique_all(x), tensix.unique_counts(x), tensix.unique_inverse(x), tensix.finfo("float32")]
    results += [tensix.iinfo("int8"), tensix.linalg.svd(tensix.ones(2, 2))]
    counts = [tensix.Stat(1, 2, 3, 2), tensix.OutOfMemoryError(4096, 64, 1024), recording.snapshot()]
    return types + tensors + functions + results + counts + [tensix.Device("cpu"), tensix.DispatchKey.CPU]


PUBLIC = {"tensix", "tensix.fft", "tensix.linalg", "tensix.library", "tensix.files", "tensix.testing"}


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("obj", objects(), ids=lambda obj: f"{type(obj).__name__}")
def test_pickles_name_public_modules_only(obj, protocol):
    operations = list(pickletools.genops(pickle.dumps(obj, protocol)))
    named = {arg.split()[0] for operation, arg, _ in operations if operation.name == "GLOBAL"}
    strings = {arg for operation, arg, _ in operations if "UNICODE" in operation.name}
    named |= {text for text in strings if text in sys.modules}
    assert {name for name in named if name.startswith("tensix")} <= PUBLIC


@pytest.mark.parametrize("package", [tensix, tensix.linalg, tensix.fft])
def test_public_functions_and_classes_say_where_users_find_them(package):
    found = [getattr(package, name) for name in package.__all__]
    for one in found:
        if inspect.isroutine(one) or inspect.isclass(one):
            assert one.__module__ in PUBLIC, one
            assert getattr(sys.modules[one.__module__], one.__name__) is one


@pytest.mark.parametrize("one", [tensix.Tensor, *dict.fromkeys(map(type, objects()[:7])), tensix.CachingStats])
def test_classes_say_that_they_are_from_the_package(one):
    """Compiled or not, loaded at once or later."""
    assert (one.__module__, one.__name__) == ("tensix", one.__qualname__)
    assert getattr(tensix, one.__name__) is one


def test_a_span_whose_end_overflows_is_not_read():
    x = tensix.ones(3)
    state = type(x.__reduce_ex__(4)[1][0])(x.storage(), 2**64 - 64, 65, None)
    with pytest.raises(RuntimeError, match="of a storage that has 12 bytes"):
        state.__reduce_ex__(4)
