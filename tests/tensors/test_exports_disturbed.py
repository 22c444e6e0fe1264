"""Exports of tensors that others exchange, shrink or take apart at the worst moment."""

import ctypes

import numpy as np
import pytest
from tensix.core.memory_facts import facts_of_storage

import tensix
from tensix.core import CPUAllocator, DataPtr, IntrusivePtr, Storage, StorageImpl
from tensix.testing import DeleteTracker

EXPORTS = {
    "buffer": memoryview,
    "array": lambda x: x.__array__(),
    "dlpack": np.from_dlpack,
    "capsule": lambda x: x.__dlpack__(),
    "versioned capsule": lambda x: x.__dlpack__(max_version=(1, 0)),
}


@pytest.fixture(params=EXPORTS.values(), ids=EXPORTS)
def export(request):
    return request.param


class Disturbing(tensix.Allocator):
    """Call a function once when memory is asked for, as it is for the copy that a lazy clone makes of itself."""

    disturb = None

    def allocate(self, nbytes):
        disturb, self.disturb = self.disturb, None
        if disturb is not None:
            disturb()
        return CPUAllocator().allocate(nbytes)


def disturbed_clone(disturb, count=4, **options):
    """Return a lazy clone whose copying calls a function with it, and the original."""
    allocator = Disturbing()
    x = tensix.Tensor.from_storage(Storage(4 * count, allocator, **options), 0, (count,), (1,), "float32")
    x.fill_(1)
    y = x.lazy_clone()
    allocator.disturb = lambda: disturb(y)
    return y, x


def exports_of(x):
    return facts_of_storage(x.storage().impl)["exports"]


def test_another_storage_while_one_is_copied(export):
    z = tensix.zeros(4)
    y, _original = disturbed_clone(lambda y: y.set_(z))
    before = y.storage()
    look = export(y)
    assert exports_of(z) == 1 and facts_of_storage(before.impl)["exports"] == 0
    if isinstance(look, np.ndarray):
        assert look.ctypes.data == z.data_ptr()
    del look
    assert exports_of(z) == 0


def test_another_type_and_shape_while_one_is_copied(export):
    z = tensix.zeros((2, 1), dtype="int16")
    y, _original = disturbed_clone(lambda y: y.set_(z), count=1000)
    look = export(y)
    if isinstance(look, (np.ndarray, memoryview)):
        assert look.shape == (2, 1) and look.nbytes == 4
    assert exports_of(z) == 1


def test_an_interface_tells_of_one_storage():
    z = tensix.zeros((2, 1), dtype="int16")
    y, _original = disturbed_clone(lambda y: y.set_(z))
    interface, expected = y.__array_interface__, z.__array_interface__
    assert interface["data"] == expected["data"] and interface == expected


def test_too_little_memory_when_the_copy_is_done(export):
    y, _original = disturbed_clone(lambda y: y.storage().resize_(4), resizable=True)
    with pytest.raises((RuntimeError, BufferError), match="has 4 bytes"):
        export(y)
    assert facts_of_storage(y.storage().impl)["exports"] == 0


def test_read_only_when_the_copy_is_done(export):
    def freeze(y):
        y.storage().readonly = True

    y, _original = disturbed_clone(freeze)
    with pytest.raises((RuntimeError, BufferError), match="read-only"):
        export(y)
    assert exports_of(y) == 0


def test_read_only_from_now_on_may_still_be_written_by_who_looks(export):
    x = tensix.zeros(4)
    look = export(x)
    x.storage().readonly = True
    y = x.lazy_clone()
    if isinstance(look, np.ndarray) and look.flags.writeable:  # before NumPy 2.3 none by DLPack is
        look[0] = 5
    assert y.tolist() == [0] * 4 and not y.is_cow()


# ---- storages that nobody counts


def test_adapted_storage_that_dies_under_an_export(export):
    """No count owns it; the code that adapts it has to keep it, and did not."""
    tracker = DeleteTracker()
    memory = (ctypes.c_float * 2)(1.0, 2.0)
    block = DataPtr(ctypes.addressof(memory), ctypes.addressof(memory), tracker)
    impl = StorageImpl(8, block)
    storage = Storage.from_impl(IntrusivePtr.unsafe_adapt_non_heap_allocated(impl))
    look = export(tensix.Tensor.from_storage(storage, 0, (2,), (1,), "float32"))
    del impl, storage
    assert not tracker.calls
    del look
    assert len(tracker.calls) == 1
    others = [Storage(8) for _ in range(100)]
    assert {facts_of_storage(other.impl)["exports"] for other in others} == {0}


def test_storage_that_nobody_owned_lets_its_deleter_go():
    tracker = DeleteTracker()
    impl = StorageImpl(8, DataPtr(0x1000, 0, tracker))
    del impl
    assert not tracker.calls


# ---- releasing by hand


def test_releasing_by_hand_after_all_have_ended(dlpack):
    """One of them without the GIL, which is counted elsewhere."""
    tracker, memory = DeleteTracker(), (ctypes.c_float * 2)()
    x = tensix.zeros(2)
    capsule = x.__dlpack__(max_version=(1, 0))
    struct = dlpack.described(capsule)
    set_name = ctypes.pythonapi.PyCapsule_SetName
    set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = b"used_dltensor_versioned"
    set_name(capsule, name)
    deleter = ctypes.cast(struct.deleter, ctypes.c_void_p).value
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(ctypes.addressof(struct))
    impl = x.storage().impl
    impl.release_resources()
    impl.set_data_ptr_noswap(DataPtr(ctypes.addressof(memory), ctypes.addressof(memory), tracker))
    look = x.__array__()
    with pytest.raises(RuntimeError, match="uses it"):
        impl.set_data_ptr_noswap(DataPtr())
    del impl, x
    assert not tracker.calls
    del look
    assert len(tracker.calls) == 1


# ---- capsules that come back


@pytest.mark.parametrize("version, name", [(None, b"dltensor"), ((1, 0), b"dltensor_versioned")])
def test_capsule_gets_its_name_back(version, name):
    """From a consumer that took the tensor, failed, and says so in words of its own."""
    set_name = ctypes.pythonapi.PyCapsule_SetName
    set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
    for x in (tensix.zeros(2), tensix.zeros([1] * 20)):
        capsule = x.__dlpack__(max_version=version)
        used, again = b"used_" + name, bytes(bytearray(name))
        set_name(capsule, used)
        set_name(capsule, again)
        del capsule
        assert exports_of(x) == 0
