"""Memory that only somebody outside looks at any more: it lives, and goes once, with the last export."""

import ctypes
import gc
import threading

import numpy as np
import pytest

import tensix
from tensix.testing import assert_no_leaks

EXPORTS = {
    "array": lambda x: x.__array__(),
    "capsule": lambda x: x.__dlpack__(),
    "versioned capsule": lambda x: x.__dlpack__(max_version=(1, 0)),
    "dlpack": np.from_dlpack,
}


@pytest.fixture(params=EXPORTS.values(), ids=EXPORTS)
def export(request):
    return request.param


def watched():
    """Return a tensor of two floats, which nothing else keeps, and the list that says when its memory is freed."""
    freed = []
    memory = (ctypes.c_float * 2)(1.0, 2.0)
    address = ctypes.addressof(memory)
    keep = {address: memory}
    x = tensix.from_blob(address, (2,), deleter=lambda gone: freed.append(keep.pop(gone)), dtype="float32")
    return x, freed


def test_memory_outlives_the_tensor(export):
    x, freed = watched()
    look = export(x)
    del x
    gc.collect()
    assert not freed
    if isinstance(look, np.ndarray):
        assert look.tolist() == [1.0, 2.0]
    del look
    assert len(freed) == 1


def test_last_of_many_looks_frees():
    x, freed = watched()
    looks = [export(x) for export in EXPORTS.values() for _ in range(50)]
    del x
    while looks:
        assert not freed
        looks.pop(len(looks) // 2)
    assert len(freed) == 1


def test_exports_are_owners(export):
    x, _ = watched()
    storage = x.storage()
    look = export(x)
    assert storage.use_count() == 3  # the tensor's, this one, and that of the export
    weak = storage.weak()
    del x, storage
    assert not weak.expired() and weak.use_count() == 1
    del look
    assert weak.expired() and not weak.lock()


def test_the_count_of_an_export_cannot_be_taken(export):
    x, freed = watched()
    look, impl = export(x), x.storage().impl
    del x
    with pytest.raises(RuntimeError, match="every strong count belongs to a handle"):
        tensix.IntrusivePtr.reclaim(impl)
    assert not freed and look is not None


def test_weak_handles_do_not_matter(export):
    """With them, the storage's bytes and its object go at different times."""
    x, freed = watched()
    weak, look = x.storage().weak(), export(x)
    del x
    assert not freed
    del look
    assert len(freed) == 1 and weak.expired()
    del weak
    assert len(freed) == 1


def test_weak_handles_that_go_first(export):
    x, freed = watched()
    weak, look = x.storage().weak(), export(x)
    del x, weak
    assert not freed
    del look
    assert len(freed) == 1


def test_looks_that_end_first(export):
    x, freed = watched()
    weak, look = x.storage().weak(), export(x)
    del look
    assert not freed and not weak.expired()
    del x
    assert len(freed) == 1


def test_releasing_by_hand_is_refused(export):
    x, freed = watched()
    look = export(x)
    impl = x.storage().impl
    with pytest.raises(RuntimeError, match="uses it"):
        impl.release_resources()
    assert not freed and look is not None


def test_an_interface_keeps_nothing():
    x, freed = watched()
    assert x.__array_interface__["shape"] == (2,)
    del x
    assert len(freed) == 1


def test_an_interface_keeps_nothing_from_weak_handles():
    x, freed = watched()
    weak = x.storage().weak()
    assert x.__array_interface__["shape"] == (2,)
    del x
    assert len(freed) == 1 and weak.expired()


def test_leaks_name_what_is_only_looked_at(export):
    words = "1 StorageImpl, 8 bytes: no handle, exported to arrays"
    with pytest.raises(AssertionError, match=words), assert_no_leaks():
        look = export(tensix.zeros(2))
    assert look is not None


def test_a_pending_exception_stays(export):
    x, freed = watched()
    look = export(x)
    del x
    with pytest.raises(KeyError, match="kept"):
        try:
            raise KeyError("kept")
        finally:
            del look
    assert len(freed) == 1


def taken_out(capsule, dlpack):
    """Return the address of a versioned capsule's struct, which is the caller's now."""
    set_name = ctypes.pythonapi.PyCapsule_SetName
    set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = ctypes.addressof(dlpack.described(capsule))
    set_name(capsule, USED)
    return address


USED = b"used_dltensor_versioned"


def end(address, dlpack, function=ctypes.CFUNCTYPE):
    """Call a struct's deleter; ``CFUNCTYPE`` does so without the GIL, ``PYFUNCTYPE`` with it."""
    deleter = ctypes.cast(dlpack.Versioned.from_address(address).deleter, ctypes.c_void_p).value
    function(None, ctypes.c_void_p)(deleter)(address)


@pytest.mark.parametrize("function", [ctypes.CFUNCTYPE, ctypes.PYFUNCTYPE])
def test_last_look_may_end_with_the_gil_or_without(dlpack, function):
    x, freed = watched()
    address = taken_out(x.__dlpack__(max_version=(1, 0)), dlpack)
    del x
    assert not freed
    end(address, dlpack, function)
    assert len(freed) == 1


def test_ends_race_with_the_end_of_the_tensor(dlpack):
    """The tensor goes while threads end its exports, half of them without the GIL: memory goes exactly once."""
    for turn in range(60):
        tracker = tensix.testing.DeleteTracker()
        memory = (ctypes.c_float * 2)()
        x = tensix.from_blob(ctypes.addressof(memory), (2,), deleter=tracker, dtype="float32")
        addresses = [taken_out(x.__dlpack__(max_version=(1, 0)), dlpack) for _ in range(8)]
        start = threading.Barrier(3)

        def work(mine, function, start=start):
            start.wait()
            for address in mine:
                end(address, dlpack, function)

        threads = [
            threading.Thread(target=work, args=(addresses[i::2], (ctypes.CFUNCTYPE, ctypes.PYFUNCTYPE)[i]))
            for i in range(2)
        ]
        for thread in threads:
            thread.start()
        start.wait()
        if turn % 2:
            del x
        for thread in threads:
            thread.join()
        x = None
        assert len(tracker.calls) == 1
