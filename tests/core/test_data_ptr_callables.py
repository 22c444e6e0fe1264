"""Data pointers freed by Python code: closures and ctypes callbacks, well-behaved or not."""

import ctypes
import sys
import threading
import weakref

import pytest

from tensix.core import DataPtr, Storage

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Callable:
    """A callable that can be watched."""

    def __init__(self):
        self.calls = []

    def __call__(self, address):
        self.calls.append(address)


def test_from_callable_calls_once_with_the_data_dp_16():
    freed = []
    pointer = DataPtr.from_callable(0x1000, freed.append)
    assert pointer.get() == 0x1000
    assert pointer.get_context() not in (0, 0x1000)
    assert pointer.get_deleter() != 0
    pointer.clear()
    pointer.clear()
    del pointer
    assert freed == [0x1000]


def test_from_callable_with_null_data_is_called_too_dp_5_dp_16():
    freed = []
    DataPtr.from_callable(0, freed.append)
    assert freed == [0]


def test_from_callable_takes_a_device_dp_16():
    assert DataPtr.from_callable(0x1000, print, device="meta").release_context() != 0
    pointer = DataPtr.from_callable(0x1000, lambda address: None, "cuda:1")
    assert pointer.device == "cuda:1"


def test_the_callable_lives_as_long_as_the_memory_dp_16():
    function = Callable()
    calls, watch = function.calls, weakref.ref(function)
    pointer = DataPtr.from_callable(0x1000, function)
    del function
    assert watch() is not None
    del pointer
    assert calls == [0x1000]
    assert watch() is None


def test_a_closure_can_be_moved_by_hand_dp_9_dp_16():
    freed = []
    pointer = DataPtr.from_callable(0x1000, freed.append)
    run_closure = pointer.get_deleter()
    heir = DataPtr(0x1000, pointer.release_context(), run_closure)
    del pointer
    assert freed == []
    heir.clear()
    assert freed == [0x1000]


def test_a_closure_moves_into_a_storage_dp_13_dp_16():
    freed = []
    pointer = DataPtr.from_callable(0x1000, freed.append)
    storage = Storage.from_data_ptr(8, pointer)
    assert not pointer
    del pointer
    assert freed == []
    storage.reset()
    assert freed == [0x1000]


@pytest.mark.parametrize("wrong", [None, 1, "free"])
def test_from_callable_refuses_what_cannot_be_called(wrong):
    with pytest.raises(TypeError, match="callable"):
        DataPtr.from_callable(0x1000, wrong)


@pytest.mark.parametrize(("address", "error"), [(-1, ValueError), (1 << 64, OverflowError), (None, TypeError)])
def test_from_callable_refuses_bad_addresses_and_calls_nothing(address, error):
    function = Callable()
    watch = weakref.ref(function)
    with pytest.raises(error):
        DataPtr.from_callable(address, function)
    assert function.calls == []
    del function
    assert watch() is None


def raise_lookup_error(ctx):
    raise LookupError("in the deleter")


@pytest.mark.parametrize("free", [lambda pointer: pointer.clear(), lambda pointer: Storage.from_data_ptr(8, pointer)])
@pytest.mark.parametrize(
    "make",
    [
        lambda: DataPtr.from_callable(0x1000, raise_lookup_error),
        lambda: DataPtr(0x1000, 0x1000, FUNCTION(raise_lookup_error)),
    ],
)
def test_a_deleter_that_raises_is_reported_and_harms_nobody(unraisable, make, free):
    pointer = make()
    free(pointer)
    assert [repr(error) for error in unraisable] == [repr(LookupError("in the deleter"))]
    assert not pointer


def test_a_report_goes_to_the_hook_and_nowhere_else(unraisable, capfd):
    DataPtr.from_callable(0x1000, raise_lookup_error).clear()
    assert len(unraisable) == 1
    assert capfd.readouterr() == ("", "")


def test_an_error_under_way_survives_the_deleter(unraisable):
    def fail():
        DataPtr.from_callable(0x1000, raise_lookup_error)
        pointer = DataPtr.from_callable(0x2000, raise_lookup_error)
        raise ValueError(f"the error under way, with {pointer!r} alive")

    with pytest.raises(ValueError, match="under way"):
        fail()
    assert repr(unraisable[0]) == repr(LookupError("in the deleter"))
    unraisable.clear()  # its context holds fail()'s frame, and with it the second pointer
    assert repr(unraisable[0]) == repr(LookupError("in the deleter"))


def test_a_deleter_may_look_at_its_owner_and_sees_it_empty_dp_6():
    seen = []

    def look(address):
        seen.append((address, pointer.get(), pointer.get_context(), bool(pointer)))
        pointer.clear()

    pointer = DataPtr.from_callable(0x1000, look)
    pointer.clear()
    assert seen == [(0x1000, 0, 0, False)]


def test_a_deleter_may_make_and_free_further_pointers():
    freed = []

    def free_two(address):
        freed.append(address)
        if address > 0x1000:
            DataPtr.from_callable(address - 0x1000, free_two)

    DataPtr.from_callable(0x3000, free_two)
    assert freed == [0x3000, 0x2000, 0x1000]


def test_a_deleter_runs_on_the_thread_that_drops_last():
    names = []
    pointers = [DataPtr.from_callable(0x1000, lambda address: names.append(threading.current_thread().name))]
    thread = threading.Thread(target=pointers.clear, name="dropper")
    thread.start()
    thread.join()
    # Without a GIL, CPython frees an object on the thread that made it, if that still runs.
    assert names == ["dropper" if getattr(sys, "_is_gil_enabled", lambda: True)() else "MainThread"]


def test_the_callables_result_is_dropped():
    kept = []

    class Result:
        pass

    def give(address):
        result = Result()
        kept.append(weakref.ref(result))
        return result

    DataPtr.from_callable(0x1000, give)
    assert kept[0]() is None
