"""Storages of C structs: the C functions are called on each element once, in the right order, and at the end too."""

import ctypes
import subprocess
import sys
import threading

import pytest

from tensix import CPUAllocator, DataPtr, Storage, TypedStorage, TypeMeta, register_type
from tensix.tensors.element_allocator import ElementAllocator

ON_ARRAY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)
ON_TWO = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Pair(ctypes.Structure):
    """Own a number: what is constructed has one, what is destroyed gives it back."""

    _fields_ = [("number", ctypes.c_int32), ("value", ctypes.c_double)]

    owned = set()
    calls = []


def pairs_at(address, count):
    return (Pair * count).from_address(address)


@ON_ARRAY
def construct(elements, count):
    Pair.calls.append(("construct", count))
    for pair in pairs_at(elements, count):
        pair.number, pair.value = max(Pair.owned, default=0) + 1, 0.5
        Pair.owned.add(pair.number)


@ON_TWO
def copy(source, target, count):
    Pair.calls.append(("copy", count))
    for old, new in zip(pairs_at(source, count), pairs_at(target, count)):
        new.value = old.value


@ON_ARRAY
def destroy(elements, count):
    Pair.calls.append(("destroy", count))
    Pair.owned -= {pair.number for pair in pairs_at(elements, count)}


register_type(Pair, itemsize=ctypes.sizeof(Pair), construct=construct, copy=copy, destroy=destroy)


@pytest.fixture(autouse=True)
def everything_is_given_back():
    Pair.calls, before = [], CPUAllocator.bytes_in_use()
    yield
    assert (Pair.owned, CPUAllocator.bytes_in_use()) == (set(), before)
    made = sum(count for name, count in Pair.calls if name == "construct")
    assert made == sum(count for name, count in Pair.calls if name == "destroy")


def pair_at(pairs, index):
    return Pair.from_buffer_copy(pairs[index])


def test_life_of_structs():
    pairs = TypedStorage(Pair, 3)
    assert [pair_at(pairs, i).number for i in range(3)] == [1, 2, 3] and len(pairs) == 3
    del pairs
    assert Pair.calls == [("construct", 3), ("destroy", 3)]


def test_writing_assigns():
    pairs = TypedStorage(Pair, 2)
    pairs[1] = Pair(99, 2.5)
    assert (pair_at(pairs, 1).number, pair_at(pairs, -1).value, pair_at(pairs, 0).value) == (2, 2.5, 0.5)
    assert Pair.calls == [("construct", 2), ("copy", 1)]


@pytest.mark.parametrize("value, error", [(b"short", ValueError), (bytes(17), ValueError), (16, TypeError),
                                          (None, TypeError), ("0123456789abcdef", TypeError)])
def test_what_is_no_struct(value, error):
    pairs = TypedStorage(Pair, 1)
    with pytest.raises(error):
        pairs[0] = value
    assert Pair.calls == [("construct", 1)]


@pytest.mark.parametrize("clone", [TypedStorage.clone, lambda pairs: pairs.storage().clone(),
                                   lambda pairs: pairs.storage().lazy_clone()])
def test_clones_construct_and_assign(clone):
    pairs = TypedStorage(Pair, 2)
    pairs[0] = Pair(0, 7.0)
    second = clone(pairs)
    second = TypedStorage.from_storage(second) if isinstance(second, Storage) else second
    assert [(pair_at(second, i).number, pair_at(second, i).value) for i in range(2)] == [(3, 7.0), (4, 0.5)]


def test_resizing():
    pairs = TypedStorage(Pair, 2)
    pairs[1] = Pair(0, 7.0)
    storage = pairs.storage()
    storage.resizable = True
    storage.resize_(3 * ctypes.sizeof(Pair))
    assert [pair_at(pairs, i).value for i in range(3)] == [0.5, 7.0, 0.5] and len(Pair.owned) == 3


def test_no_structs():
    assert len(TypedStorage(Pair, 0).clone()) == 0 and Pair.calls == []


def test_freed_on_another_thread_and_through_a_block():
    box = [TypedStorage(Pair, 2), ElementAllocator(TypeMeta.make(Pair)).allocate(16)]
    assert isinstance(box[1], DataPtr) and len(Pair.owned) == 3
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    assert Pair.owned == set()


# ---- types with some of the functions


def registered(**functions):
    return register_type(type("Struct", (), {}), itemsize=16, **functions)


def test_plain_structs_are_bytes():
    plain = TypedStorage(registered(), 2)
    plain[0], plain[1] = b"a" * 16, bytearray(b"b" * 16)
    assert list(plain) == list(plain.clone()) == [b"a" * 16, b"b" * 16] and plain.type_meta.is_trivial
    plain.storage().mutable_data_ptr()


def test_destructor_alone_makes_neither_construction_nor_copies():
    with pytest.raises(TypeError, match="not default-constructible: it was registered with destroy"):
        TypedStorage(registered(destroy=destroy), 2)
    pairs = TypedStorage(registered(construct=construct, destroy=destroy), 2)
    for write in (pairs.clone, lambda: pairs.__setitem__(0, bytes(16))):
        with pytest.raises(TypeError, match="does not allow assignment: it was registered with destroy"):
            write()


def test_constructor_alone_leaves_copies_to_the_bytes():
    pairs = TypedStorage(registered(construct=construct), 2)
    assert list(pairs.clone()) == list(pairs)
    destroy(pairs.storage().data_ptr(), 2)
    destroy(ElementAllocator(TypeMeta.make(Pair)).allocate(32).get(), 0)
    construct_again = pairs.clone()  # its constructor made two more, over which the bytes were copied
    assert len(construct_again) == 2
    Pair.owned.clear()
    Pair.calls.clear()


def test_functions_as_addresses_and_capsules():
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    address = ctypes.cast(construct, ctypes.c_void_p).value
    name = ctypes.create_string_buffer(b"tensix.destroy")
    capsule = make(ctypes.cast(destroy, ctypes.c_void_p), name, None)
    pairs = TypedStorage(registered(construct=address, copy=copy, destroy=capsule), 2)
    assert pair_at(pairs, 0).value == 0.5
    with pytest.raises(TypeError, match=r"tensix\.construct"):
        registered(construct=capsule)
    del pairs
    assert Pair.owned == set()


PROGRAM = """
import ctypes, sys, threading, time
from tensix import *

class Thing:
    def __del__(self):
        Storage(8)

ON_ARRAY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)
nothing = ON_ARRAY(lambda elements, count: None)
class Struct:
    pass
register_type(Thing)
register_type(Struct, itemsize=16, construct=nothing, destroy=nothing)
def make():
    return [TypedStorage(Thing, 10), TypedStorage(Struct, 10), TypedStorage(Thing, 1).storage().lazy_clone()]
"""


@pytest.mark.parametrize("program", [
    "kept = make()", "sys.kept = make()", "kept = make(); kept.append(kept)", "import builtins; builtins.kept = make()",
    "kept = make(); raw.incref(kept[0].storage().impl)",
    "def work():\n    while True: make()\nfor _ in range(3): threading.Thread(target=work, daemon=True).start()\n"
    "time.sleep(0.05)",
    "def keep():\n    kept = make(); started.set(); time.sleep(1000)\nstarted = threading.Event()\n"
    "threading.Thread(target=keep, daemon=True).start(); started.wait()",
], ids=["module", "sys", "cycle", "builtins", "raw count", "busy threads", "sleeping thread"])  # fmt: skip
def test_exit_is_quiet(program):
    ended = subprocess.run([sys.executable, "-c", PROGRAM + program], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
