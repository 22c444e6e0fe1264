"""Data pointers: when the deleter runs, with what, and who owns the context. Ids such as dp_5 name a c10 fact."""

import copy
import ctypes
import pickle
import weakref

import pytest

from tensix.core import DataPtr, Device, Storage
from tensix.testing import DeleteTracker

CAPSULE_NAME = b"tensix.deleter"  # a capsule keeps the address of its name, so this has to stay
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def capsule_of(function):
    return new_capsule(address_of(function), CAPSULE_NAME, None)


FORMS = pytest.mark.parametrize("form_of", [lambda function: function, address_of, capsule_of])


@pytest.fixture
def deleter():
    return DeleteTracker()


@pytest.fixture
def freed(deleter):
    """The contexts that the deleter was called with, in order."""
    return deleter.calls


@pytest.fixture
def other_deleter():
    return DeleteTracker()


def test_default_is_empty_dp_2_dp_14():
    pointer = DataPtr()
    assert (pointer.get(), pointer.get_context(), pointer.get_deleter()) == (0, 0, 0)
    assert pointer.device == Device("cpu")
    assert not pointer


def test_data_alone_is_a_look_at_foreign_memory_dp_4():
    pointer = DataPtr(0x1000)
    assert (pointer.get(), pointer.get_context()) == (0x1000, 0)
    assert pointer


def test_a_null_deleter_does_nothing_dp_3():
    pointer = DataPtr(0x1000, 0x2000, None)
    assert pointer.get_deleter() == 0
    assert pointer.get_context() == 0x2000
    pointer.clear()
    assert pointer.get_context() == 0


@FORMS
def test_the_deleter_gets_the_context_not_the_data_dp_1_dp_5(freed, deleter, form_of):
    pointer = DataPtr(0x1000, 0x2000, form_of(deleter))
    assert pointer.get_deleter() == address_of(deleter)
    assert freed == []
    del pointer
    assert freed == [0x2000]


@pytest.mark.parametrize(("data", "ctx", "expected"), [(0x1000, 0, []), (0, 0, []), (0, 0x2000, [0x2000])])
def test_the_deleter_runs_only_for_a_context_dp_5(freed, deleter, data, ctx, expected):
    DataPtr(data, ctx, deleter)
    assert freed == expected


@pytest.mark.parametrize(("data", "ctx"), [(0, 0), (0x1000, 0), (0, 0x2000), (0x1000, 0x2000)])
def test_truth_is_data_or_context_dp_7(data, ctx):
    assert bool(DataPtr(data, ctx)) == bool(data or ctx)


def test_clear_frees_and_keeps_the_deleter_dp_6_dp_17(freed, deleter):
    pointer = DataPtr(0x1000, 0x2000, deleter)
    pointer.clear()
    assert freed == [0x2000]
    assert not pointer
    assert pointer.get_deleter() == address_of(deleter)
    pointer.clear()
    del pointer
    assert freed == [0x2000]


def test_release_context_leaves_the_data_readable_dp_8(freed, deleter):
    pointer = DataPtr(0x1000, 0x2000, deleter)
    assert pointer.release_context() == 0x2000
    assert (pointer.get(), pointer.get_context()) == (0x1000, 0)
    assert pointer
    assert pointer.release_context() == 0
    del pointer
    assert freed == []


def test_a_context_can_be_moved_by_hand_dp_9(freed, deleter):
    pointer = DataPtr(0x1000, 0x2000, deleter)
    heir = DataPtr(pointer.get(), pointer.release_context(), deleter)
    del pointer
    assert freed == []
    del heir
    assert freed == [0x2000]


@FORMS
def test_cast_context_needs_the_right_deleter_dp_11(deleter, other_deleter, form_of):
    pointer = DataPtr(0x1000, 0x2000, deleter)
    assert pointer.cast_context(form_of(deleter)) == 0x2000
    assert pointer.cast_context(form_of(other_deleter)) == 0
    assert pointer.cast_context(None) == 0
    assert DataPtr(0x1000, 0x2000).cast_context(None) == 0x2000


@FORMS
def test_compare_exchange_deleter_dp_10(deleter, other_deleter, form_of):
    other = other_deleter
    pointer = DataPtr(0x1000, 0x2000, deleter)
    assert not pointer.compare_exchange_deleter(form_of(other), other)
    assert pointer.get_deleter() == address_of(deleter)
    assert pointer.compare_exchange_deleter(form_of(deleter), form_of(other))
    assert pointer.get_deleter() == address_of(other)
    del pointer
    assert (deleter.calls, other.calls) == ([], [0x2000])


def test_a_deleter_can_be_taken_off_and_put_on_dp_10(freed, deleter):
    pointer = DataPtr(0, 0x2000)
    assert pointer.compare_exchange_deleter(None, deleter)
    assert pointer.compare_exchange_deleter(deleter, None)
    del pointer
    assert freed == []


def test_unsafe_reset_needs_a_pointer_without_deleter_dp_12_dp_17(freed, deleter):
    plain = DataPtr(0x1000, 0x2000)
    assert plain.unsafe_reset_data_and_ctx(0x3000)
    assert (plain.get(), plain.get_context()) == (0x3000, 0x3000)
    owning = DataPtr(0x1000, 0x2000, deleter)
    assert not owning.unsafe_reset_data_and_ctx(0x3000)
    assert (owning.get(), owning.get_context()) == (0x1000, 0x2000)
    assert freed == []


def test_device_is_only_a_label_dp_14(freed, deleter):
    assert not DataPtr(device="cuda:1")
    assert DataPtr(device=Device("cuda:1")).device == Device("cuda:1")
    pointer = DataPtr(0x1000, 0x2000, deleter)
    pointer.unsafe_set_device("meta")
    assert pointer.device == "meta"
    assert (pointer.get(), pointer.get_context()) == (0x1000, 0x2000)
    assert freed == []


def test_repr_shows_all_four():
    pointer = DataPtr(0x1000, 0x2000, 0, "cuda:1")
    assert repr(pointer) == "DataPtr(data=0x1000, ctx=0x2000, deleter=0x0, device='cuda:1')"


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_there_are_no_copies_dp_13(freed, deleter, duplicate):
    pointer = DataPtr(0x1000, 0x2000, deleter)
    with pytest.raises(TypeError):
        duplicate(pointer)
    del pointer
    assert freed == [0x2000]


def test_handing_over_moves_and_leaves_an_empty_pointer_dp_13(freed, deleter):
    pointer = DataPtr(0x1000, 0x2000, deleter)
    storage = Storage.from_data_ptr(16, pointer)
    assert (pointer.get(), pointer.get_context(), pointer.get_deleter()) == (0, 0, 0)
    assert not pointer
    pointer.clear()
    assert freed == []
    storage.reset()
    assert freed == [0x2000]


def test_the_function_object_lives_as_long_as_the_memory():
    function = DeleteTracker()
    freed, watch = function.calls, weakref.ref(function)
    pointer = DataPtr(0, 0x2000, function)
    del function
    assert watch() is not None
    del pointer
    assert freed == [0x2000]
    assert watch() is None


def test_exchanging_the_deleter_lets_the_old_function_object_go():
    function = DeleteTracker()
    watch = weakref.ref(function)
    pointer = DataPtr(0, 0x2000, function)
    assert pointer.compare_exchange_deleter(function, None)
    del function
    assert watch() is None


@pytest.mark.parametrize("arguments", [(0, 0), (0x1000, 0), (0x1000, 0x2000)])
def test_a_pointer_is_filled_once_and_loses_nothing(arguments):
    function = DeleteTracker()
    watch = weakref.ref(function)
    pointer = DataPtr(*arguments, function)
    try:
        pointer.__init__(0x3000, 0x4000)
    except RuntimeError as error:
        assert "filled once" in str(error)
    del pointer, function
    assert watch() is None
