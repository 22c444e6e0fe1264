"""What holds while arrays, buffers and DLPack tensors look at a storage, and no longer."""

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
        with pytest.raises(RuntimeError, match="looks at it"):
            change()
    del other
    storage.resize_(1000)


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
    assert interface == {
        "version": 3, "shape": (3, 2), "typestr": "<i8", "data": (x.data_ptr(), False), "strides": (8, 24),
    }  # fmt: skip
    with pytest.raises(RuntimeError, match="looks at it"):
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


def test_interface_of_others():
    array = np.arange(3.0)
    obj = type("Foreign", (), {"__array_interface__": array.__array_interface__, "keep": array})()
    x = tensix.asarray(obj)
    assert x.data_ptr() == array.ctypes.data and x.tolist() == [0, 1, 2]
