"""What holds while arrays, buffers and DLPack tensors look at a storage, and no longer."""

import ctypes
import threading

import numpy as np
import pytest

import tensix

EXPORTS = {
    "buffer": memoryview,
    "array": lambda x: x.__array__(),
    "asarray": np.asarray,
    "dlpack": np.from_dlpack,
    "capsule": lambda x: x.__dlpack__(),
    "versioned capsule": lambda x: x.__dlpack__(max_version=(1, 0)),
}


@pytest.fixture(params=EXPORTS.values(), ids=EXPORTS)
def export(request):
    return request.param


def test_lazy_clone_copies_at_once(export):
    x = tensix.zeros(2)
    other = export(x)
    lazy = x.lazy_clone()
    assert not lazy.is_cow() and not x.is_cow()
    del other
    assert x.lazy_clone().is_cow()


def test_elements_without_memory_are_not_exported(export):
    x = tensix.ones(4)
    x.storage().set_data_ptr(tensix.core.DataPtr())
    with pytest.raises((BufferError, RuntimeError, ValueError), match=r"not allocated|cannot coerce"):  # by NumPy
        export(x)


def test_lazy_clone_gets_its_own_bytes_before_it_goes_out(export):
    x = tensix.zeros(2)
    lazy = x.lazy_clone()
    export(lazy)
    assert lazy.data_ptr() != x.data_ptr()


def test_block_stays_where_it_is(export):
    x = tensix.zeros(2)
    storage, another = x.storage(), tensix.Storage(8)
    other = export(x)
    for change in (
        lambda: storage.resize_(1000), lambda: storage.impl.reset(),
        lambda: storage.set_data_ptr(tensix.core.DataPtr()),
        lambda: storage.set_data_ptr_noswap(tensix.core.DataPtr()),
        lambda: storage.impl.swap_data_ptr(another.impl),
        lambda: storage.impl.release_data_and_set_meta_custom_data_ptr_error_msg("gone"),
    ):
        with pytest.raises(RuntimeError, match="uses it"):
            change()
    del other
    storage.resize_(1000)


def test_exports_end_with_the_gil_and_without(dlpack):
    """Hundreds on one storage, of more and fewer dimensions than a room has, ended by four threads in three ways."""
    flat = tensix.zeros(4)
    wide = flat.reshape([1] * 20 + [4])
    set_name = ctypes.pythonapi.PyCapsule_SetName
    set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsules, taken = [], []
    for i in range(600):
        capsules.append((flat, wide)[i % 2].__dlpack__(max_version=(1, 0)))
        struct = dlpack.described(capsules[-1])
        assert struct.tensor.data == flat.data_ptr() and struct.tensor.shape[struct.tensor.ndim - 1] == 4
        if i % 3:
            taken.append((ctypes.addressof(struct), ctypes.CFUNCTYPE if i % 3 == 1 else ctypes.PYFUNCTYPE))
            set_name(capsules[-1], b"used_dltensor_versioned")

    def end(some):
        for address, function in some:
            deleter = ctypes.cast(dlpack.Versioned.from_address(address).deleter, ctypes.c_void_p).value
            function(None, ctypes.c_void_p)(deleter)(address)

    last = taken.pop()
    threads = [threading.Thread(target=end, args=(taken[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    capsules.clear()
    for thread in threads:
        thread.join()
    with pytest.raises(RuntimeError, match="uses it"):
        flat.storage().resize_(1000)
    end([last])
    flat.storage().resize_(1000)
    del wide
    assert flat.storage().use_count() == 2  # of the tensor and of this handle


def test_read_only_tensors_stay_lazy(export):
    x = tensix.zeros(2)
    x.storage().readonly = True
    if export is not EXPORTS["capsule"]:
        other = export(x)
        assert x.lazy_clone().is_cow() and other is not None


def test_tensors_without_elements(export):
    x = tensix.empty(0)
    other = export(x)
    assert other is not None and x.lazy_clone().numel() == 0


@pytest.mark.parametrize("make", [
    tensix.Tensor, lambda: tensix.empty(2, device="meta"), lambda: tensix.ones(2).to_sparse(),
])  # fmt: skip
def test_no_array(make):
    for function in (np.asarray, tensix.Tensor.__array__):
        with pytest.raises((RuntimeError, TypeError)):
            function(make())


# ---- __array_interface__


def test_interface():
    x = tensix.zeros(2, 3, dtype="int64").T
    interface = x.__array_interface__
    assert interface["data"] and interface == {
        "version": 3, "shape": (3, 2), "typestr": "<i8", "data": (x.data_ptr(), False), "strides": (8, 24),
    }  # fmt: skip
    with pytest.raises(RuntimeError, match="uses it"):
        x.storage().resize_(1000)
    assert not x.lazy_clone().is_cow()


def test_interface_gives_a_lazy_clone_its_own_bytes():
    x = tensix.zeros(2)
    lazy = x.lazy_clone()
    assert lazy.__array_interface__["data"][0] == lazy.data_ptr() != x.data_ptr()


def test_interface_of_what_is_read_only():
    assert tensix.asarray(b"a").__array_interface__["data"][1] is True


@pytest.mark.parametrize("make", [
    tensix.Tensor, lambda: tensix.ones(2, dtype="bfloat16"), lambda: tensix.empty(2, device="meta"),
    lambda: tensix.ones(2).to_sparse(),
])  # fmt: skip
def test_no_interface(make):
    assert not hasattr(make(), "__array_interface__")


@pytest.mark.parametrize("name", ["__array_interface__", "__array__"])
def test_interface_of_others_whose_elements_are_not_aligned(name):
    """They are copied, with their type: as a sequence of Python's numbers they would be of the default one."""
    array = np.zeros(33, "u1")[1:].view("c16")
    array[:] = 1e-300 + 1e300j
    value = array.__array_interface__ if name == "__array_interface__" else lambda self, dtype=None, copy=None: array
    obj = type("Foreign", (), {name: value, "keep": array})()
    assert tensix.asarray(obj).dtype is tensix.complex128 and tensix.asarray(obj).tolist() == array.tolist()
    assert tensix.asarray(obj, dtype="complex64").dtype is tensix.complex64
    with pytest.raises(ValueError, match="cannot share"):
        tensix.asarray(obj, copy=False)


def test_interface_of_others():
    array = np.arange(3.0)
    obj = type("Foreign", (), {"__array_interface__": array.__array_interface__, "keep": array})()
    x = tensix.asarray(obj)
    assert x.data_ptr() == array.ctypes.data and x.tolist() == [0, 1, 2]


def test_a_block_that_was_kept_for_an_address_goes_with_its_storage():
    """It was written while an array read it, and its new address was handed out before that ended."""

    def write_while_it_is_read():
        source = tensix.ones(1000)
        x = source.lazy_clone()
        np.apply_along_axis(lambda row: x.fill_(2.0).__array_interface__["data"][0] * 0.0, 0, x)

    before = tensix.memory.memory_allocated()
    write_while_it_is_read()
    assert tensix.memory.memory_allocated() == before
