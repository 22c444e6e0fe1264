"""Data pointers refuse bad addresses, deleters and devices, and a borrowed look changes nothing."""

import ctypes

import pytest

from tensix.core import CPUAllocator, DataPtr, Storage
from tensix.testing import DeleteTracker

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
ANOTHER_NAME = b"another name"  # a capsule keeps the address of its name, so this has to stay


BAD_ADDRESSES = pytest.mark.parametrize(
    ("address", "error"),
    [(-1, ValueError), (1 << 64, OverflowError), (1.0, TypeError), ("0", TypeError), (None, TypeError)],
)


@BAD_ADDRESSES
@pytest.mark.parametrize("parameter", ["data", "ctx"])
def test_bad_addresses_are_refused(address, error, parameter):
    with pytest.raises(error):
        DataPtr(**{parameter: address})


@BAD_ADDRESSES
def test_bad_addresses_are_refused_by_reset_and_change_nothing(address, error):
    pointer = DataPtr(0x1000)
    with pytest.raises(error):
        pointer.unsafe_reset_data_and_ctx(address)
    assert (pointer.get(), pointer.get_context()) == (0x1000, 0)


def test_every_address_of_64_bits_is_accepted():
    assert DataPtr((1 << 64) - 1).get() == (1 << 64) - 1


BAD_DELETERS = pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (print, TypeError),
        ("free", TypeError),
        (1.0, TypeError),
        (new_capsule(8, ANOTHER_NAME, None), TypeError),
        (-1, ValueError),
        (1 << 64, OverflowError),
    ],
)


@BAD_DELETERS
def test_bad_deleters_are_refused(wrong, error):
    with pytest.raises(error):
        DataPtr(0, 0, wrong)


@BAD_DELETERS
def test_bad_deleters_are_refused_later_too(wrong, error):
    deleter = DeleteTracker()
    pointer = DataPtr(0, 0x2000, deleter)
    with pytest.raises(error):
        pointer.cast_context(wrong)
    with pytest.raises(error):
        pointer.compare_exchange_deleter(wrong, None)
    with pytest.raises(error):
        pointer.compare_exchange_deleter(deleter, wrong)
    del pointer
    assert deleter.calls == [0x2000]


def test_bad_devices_are_refused():
    with pytest.raises(ValueError, match="device"):
        DataPtr(device="gpu")
    with pytest.raises(TypeError, match="device"):
        DataPtr(0x1000).unsafe_set_device(0)


def test_a_borrowed_look_sees_and_changes_nothing():
    storage = Storage(16, CPUAllocator())
    look = storage.data_ptr_object()
    assert look.get() == storage.data_ptr()
    attempts = [
        look.clear,
        look.release_context,
        lambda: look.compare_exchange_deleter(look.get_deleter(), None),
        lambda: look.unsafe_reset_data_and_ctx(0),
        lambda: look.unsafe_set_device("meta"),
        lambda: look.__init__(0x1000),
        lambda: Storage.from_data_ptr(16, look),
    ]
    for attempt in attempts:
        with pytest.raises(RuntimeError):
            attempt()
    assert look.get() == storage.data_ptr() != 0


@pytest.mark.parametrize("emptied_by", [DataPtr.clear, DataPtr.release_context])
def test_a_counted_block_without_its_context_is_as_any_other(emptied_by):
    """The deleter stays, and says nothing about a context that is not there."""
    kept = []
    for _ in range(2):
        storage = Storage(8)
        kept.append(storage.share())
        pointer = storage.set_data_ptr(DataPtr())
        deleter, context = pointer.get_deleter(), pointer.get_context()
        if emptied_by(pointer) is not None:
            FUNCTION(deleter)(context)  # released, and freed by hand
        assert pointer.get_deleter() == deleter
        kept.append(Storage.from_data_ptr(8, pointer))
    assert not kept[1].is_alias_of(kept[3])
    assert kept[1].share().is_alias_of(kept[1])


class Filling:
    """An address that fills a pointer when it is read."""

    def __init__(self, pointer, deleter):
        self.pointer, self.deleter = pointer, deleter

    def __index__(self):
        self.pointer.__init__(0x1000, 0x2000, self.deleter)
        return 0x3000


def test_a_pointer_that_is_filled_meanwhile_keeps_what_it_has():
    tracker = DeleteTracker()
    pointer = DataPtr.__new__(DataPtr)
    with pytest.raises(RuntimeError, match="filled once"):
        pointer.__init__(Filling(pointer, tracker), 0x4000, DeleteTracker())
    other = DataPtr()
    assert not other.unsafe_reset_data_and_ctx(Filling(other, tracker))
    assert (pointer.get_context(), other.get()) == (0x2000, 0x1000)
    del pointer, other
    assert tracker.calls == [0x2000, 0x2000]
