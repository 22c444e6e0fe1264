"""Types of elements: identifiers, the table, and what registers."""

import copy
import ctypes
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import tensix
from tensix import TypeIdentifier, TypeMeta, register_type

DTYPES = [getattr(tensix, name) for name in tensix.__all__ if isinstance(getattr(tensix, name), tensix.DType)]
UNDEFINED = tensix.Tensor().dtype
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)


class Registered:
    """A class that all of these tests share: the table has no room for many."""


class Unregistered:
    pass


META = register_type(Registered)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_element_types_are_known_ahead(dtype):
    meta = TypeMeta.make(dtype)
    assert (hash(meta), meta.name, meta.itemsize) == (dtype.code, dtype.name, dtype.itemsize)
    assert meta.is_scalar_type() and meta.is_scalar_type(dtype) and meta.to_scalar_type() is dtype
    assert meta.is_trivial and meta == TypeMeta.from_scalar_type(dtype)
    assert repr(meta) == f"TypeMeta({dtype.name})" and meta.id.underlying_id == dtype.code + 1


def test_the_default_is_undefined():
    assert (TypeMeta().name, TypeMeta().itemsize) == ("nullptr (uninitialized)", 0)
    assert TypeMeta().id == TypeIdentifier() and TypeIdentifier().underlying_id == 0
    assert TypeMeta().to_scalar_type() is UNDEFINED and TypeMeta.make(UNDEFINED) == TypeMeta() and TypeMeta().is_trivial


def test_identifiers_tell_all_types_apart():
    identifiers = [TypeMeta.make(dtype).id for dtype in (*DTYPES, UNDEFINED)] + [META.id]
    assert len(set(identifiers)) == len({hash(one) for one in identifiers}) == len(identifiers)
    assert TypeMeta.make("float16").id != TypeMeta.make("uint16").id
    assert repr(TypeMeta.make("uint8").id) == "TypeIdentifier(1)"


@pytest.mark.parametrize("make", [lambda name: TypeMeta.make(name).id, TypeMeta.make], ids=["identifier", "meta"])
def test_order_and_equality(make):
    low, high = make("uint8"), make("float64")
    assert low < high and low <= high and high > low and high >= low and low != high
    assert low == make("uint8") and not low < make("uint8") and low <= make("uint8")
    assert low != 1 and low != "uint8" and sorted([high, low]) == [low, high]
    with pytest.raises(TypeError):
        low < 1


def test_order_of_the_table():
    """Element types, the undefined one, registered classes."""
    assert sorted([META, TypeMeta(), TypeMeta.make("uint64")]) == [TypeMeta.make("uint64"), TypeMeta(), META]


@pytest.mark.parametrize("given, name", [(np.float32, "float32"), (np.dtype("i2"), "int16"), (float, "float64"),
                                         ("bool", "bool"), (META, META.name), (Registered, META.name)])
def test_forms_in_which_a_type_is_named(given, name):
    assert TypeMeta.make(given).name == name


@pytest.mark.parametrize("given, text", [(None, "element type"), ("quaternion", "quaternion"), (3, "element type"),
                                         (Registered(), "element type"), (object, "builtins.object .*register_type"),
                                         (Unregistered, "test_type_meta.Unregistered is neither")])
def test_what_names_no_type(given, text):
    with pytest.raises(TypeError, match=text):
        TypeMeta.make(given)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda meta: pickle.loads(pickle.dumps(meta))])
def test_copies_are_equal(again):
    for meta in (TypeMeta(), TypeMeta.make("int8"), register_type(list)):
        assert again(meta) == meta


def test_nothing_is_made_by_hand():
    for cls in (TypeMeta, TypeIdentifier):
        with pytest.raises(TypeError):
            cls(5)
        with pytest.raises(TypeError):
            type("Mine", (cls,), {})
    with pytest.raises(AttributeError):
        TypeIdentifier().underlying_id = 5


# ---- registration


def test_registered_once():
    assert register_type(Registered) == META == TypeMeta.make(Registered)
    assert META.name == f"{__name__}.Registered" and META.itemsize == ctypes.sizeof(ctypes.py_object)
    assert not META.is_trivial and not META.is_scalar_type() and not META.is_scalar_type("int8")


def test_a_class_is_no_element_type():
    with pytest.raises(TypeError, match=r"Unsupported TypeMeta.*Registered is a registered class"):
        META.to_scalar_type()
    with pytest.raises(TypeError):
        TypeMeta.from_scalar_type(Registered)


class EqualToAll(type):
    def __eq__(cls, other):
        return True

    __hash__ = None


def test_classes_are_told_apart_by_identity():
    one, two = EqualToAll("One", (), {}), EqualToAll("Two", (), {})
    assert register_type(one) != register_type(two)


def test_struct_is_its_functions_and_size():
    class Struct:
        pass

    destroy = FUNCTION(lambda elements, count: None)
    meta = register_type(Struct, itemsize=24, destroy=destroy)
    assert meta.itemsize == 24 and not meta.is_trivial
    assert meta == register_type(Struct, itemsize=24, destroy=destroy)
    for other in ({}, {"itemsize": 24}, {"itemsize": 25, "destroy": destroy}):
        with pytest.raises(RuntimeError, match="registered already"):
            register_type(Struct, **other)
    assert TypeMeta.make(Struct).itemsize == 24


def test_plain_struct_is_trivial():
    class Plain:
        pass

    assert register_type(Plain, itemsize=300).is_trivial


@pytest.mark.parametrize("cls, options, error, text", [
    (3, {}, TypeError, "takes a class, found int"), (float, {}, TypeError, "numbers"), (bool, {}, TypeError, "numbers"),
    (np.float32, {}, TypeError, "numbers"), (Unregistered, {"destroy": 8}, TypeError, "give their itemsize"),
    (Unregistered, {"itemsize": 0}, ValueError, "at least one byte"),
    (Unregistered, {"itemsize": -1}, ValueError, "0 or more"),
    (Unregistered, {"itemsize": 2**64}, OverflowError, "64 bits"),
    (Unregistered, {"itemsize": 1.5}, TypeError, "must be an int"),
    (Unregistered, {"itemsize": 8, "copy": len}, TypeError, "tensix.copy.*found builtin_function"),
    (Unregistered, {"itemsize": 8, "construct": "f"}, TypeError, "tensix.construct.*found str"),
    (Unregistered, {"itemsize": 8, "destroy": -1}, ValueError, "address"),
])
def test_what_is_not_registered(cls, options, error, text):
    with pytest.raises(error, match=text):
        register_type(cls, **options)
    with pytest.raises(TypeError, match="neither"):
        TypeMeta.make(Unregistered)


def test_threads_register_one_class_once():
    metas, barrier = [], threading.Barrier(8)

    class Contested:
        pass

    def register():
        barrier.wait()
        metas.append(register_type(Contested))

    threads = [threading.Thread(target=register) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(metas) == 8 and len(set(metas)) == 1


def test_the_table_has_an_end():
    """In a process of its own, since nothing is ever taken out."""
    ended = subprocess.run([sys.executable, "-c", """
from tensix import *
metas = [register_type(type(f"T{i}", (), {})) for i in range(255 - 47)]
assert hash(metas[-1]) == 254 and len(set(metas)) == 208
try:
    register_type(type("Last", (), {}))
except RuntimeError as error:
    assert "Maximum number of register_type() declarations has been exceeded" in str(error)
else:
    raise AssertionError
assert TypeMeta.make("int8").name == "int8" and metas[0].name == "__main__.T0"
assert len(TypedStorage(metas[-1], 3)) == 3
"""], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


# ---- elements in memory of the caller


def memory_for(meta, count):
    """Return memory for elements, zero at first, and its address."""
    memory = (ctypes.c_char * (meta.itemsize * count or 1))()
    return memory, ctypes.addressof(memory)


class Counted:
    alive = 0
    fail_at = None

    def __init__(self):
        if Counted.alive == Counted.fail_at:
            raise ValueError("no more")
        Counted.alive += 1
        self.is_whole = True

    def __del__(self):
        Counted.alive -= hasattr(self, "is_whole")


@pytest.fixture
def counted():
    Counted.alive, Counted.fail_at = 0, None
    return register_type(Counted)


def test_elements_of_a_class_are_constructed_copied_and_destroyed(counted):
    memory, address = memory_for(counted, 5)
    counted.construct(address, 3)
    assert Counted.alive == 3
    references = (ctypes.c_void_p * 5).from_buffer(memory)
    counted.copy(address, address + 2 * counted.itemsize)
    assert references[2] == references[0] and Counted.alive == 2
    counted.destroy(address, 3)
    assert Counted.alive == 0


def test_a_construction_that_fails_destroys_what_it_made(counted):
    _memory, address = memory_for(counted, 5)
    Counted.fail_at = 3
    with pytest.raises(ValueError, match="no more"):
        counted.construct(address, 5)
    assert Counted.alive == 0


def test_elements_of_a_struct_are_handled_by_its_functions():
    calls = []

    class Handled(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int64)]

    construct = FUNCTION(lambda place, count: calls.append(("construct", place, count)))
    destroy = FUNCTION(lambda place, count: calls.append(("destroy", place, count)))
    copied = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(
        lambda source, target, count: calls.append(("copy", source, target, count))
    )
    meta = register_type(Handled, construct=construct, copy=copied, destroy=destroy)
    _memory, address = memory_for(meta, 4)
    meta.construct(address, 2)
    meta.copy(address, address + 16, 2)
    meta.destroy(address)
    meta.construct(address, 0)
    assert calls == [("construct", address, 2), ("copy", address, address + 16, 2), ("destroy", address, 1)]


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
def test_elements_that_are_their_bytes_are_copied_as_bytes(dtype):
    meta = TypeMeta.make(dtype)
    memory, address = memory_for(meta, 4)
    memory[: meta.itemsize] = b"\x01" * meta.itemsize
    meta.construct(address, 2)
    meta.copy(address, address + 2 * meta.itemsize)
    meta.destroy(address, 4)
    assert memory.raw[2 * meta.itemsize : 3 * meta.itemsize] == b"\x01" * meta.itemsize
    TypeMeta().construct(0, 3)
    TypeMeta().copy(0, 0, 0)


class NeedsArguments:
    __copy__ = None

    def __init__(self, value):
        pass


def test_what_a_type_does_not_allow_is_refused_tm_8_tm_9():
    meta = register_type(NeedsArguments)
    _memory, address = memory_for(meta, 2)
    with pytest.raises(TypeError, match=r"Type .*NeedsArguments is not default-constructible"):
        meta.construct(address)
    with pytest.raises(TypeError, match=r"Type .*NeedsArguments does not allow assignment"):
        meta.copy(address, address + 8)


def test_elements_need_a_place_and_a_count():
    _memory, address = memory_for(META, 2)
    for call in (META.construct, META.destroy, lambda place, count=1: META.copy(place, address, count)):
        with pytest.raises(ValueError, match=r"1 elements of .*Registered cannot be at a null address"):
            call(0)
        with pytest.raises(ValueError, match="must be 0 or more, found -1"):
            call(address, -1)
        with pytest.raises(TypeError):
            call("here")
        call(0, 0)
