"""Element types: one object each, PyTorch's numbers, and every form in which users name them."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import tensix
from tensix.tensors.dtype import DType

# name -> (PyTorch's ScalarType number, bytes, NumPy's name)
TYPES = {
    "uint8": (0, 1, "u1"), "int8": (1, 1, "i1"), "int16": (2, 2, "i2"), "int32": (3, 4, "i4"), "int64": (4, 8, "i8"),
    "float16": (5, 2, "f2"), "float32": (6, 4, "f4"), "float64": (7, 8, "f8"), "complex64": (9, 8, "c8"),
    "complex128": (10, 16, "c16"), "bool": (11, 1, "?"), "bfloat16": (15, 2, "bfloat16"), "uint16": (27, 2, "u2"),
    "uint32": (28, 4, "u4"), "uint64": (29, 8, "u8"),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_facts(name):
    code, itemsize, numpy_name = TYPES[name]
    dtype = getattr(tensix, name)
    assert (dtype.code, dtype.name, dtype.itemsize) == (code, name, itemsize)
    assert (repr(dtype), str(dtype)) == (f"tensix.{name}", name)
    assert dtype.numpy == np.dtype(getattr(ml_dtypes, numpy_name, numpy_name))


@pytest.mark.parametrize("name", TYPES)
def test_kind_and_type_are_numpys(name):
    dtype = getattr(tensix, name)
    assert dtype.kind == ("f" if name == "bfloat16" else dtype.numpy.kind)
    assert dtype.type is dtype.numpy.type


def test_every_type_is_public():
    assert set(TYPES) <= set(tensix.__all__)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda dtype: pickle.loads(pickle.dumps(dtype))])
def test_copies_are_the_same_object(again):
    assert again(tensix.float32) is tensix.float32


def test_not_made_by_hand_and_not_changed():
    for make in (DType, lambda: DType.__new__(DType), lambda: object.__new__(DType)):
        with pytest.raises(TypeError, match=r"not made by hand: use tensix.float32|not safe, use"):
            make()
    with pytest.raises(AttributeError):
        tensix.float32.itemsize = 8
    with pytest.raises(TypeError):
        type("Mine", (DType,), {})


@pytest.mark.parametrize(
    "given, meant",
    [
        (tensix.int16, "int16"), ("float64", "float64"), (float, "float64"), (int, "int64"), (bool, "bool"),
        (complex, "complex128"), (np.float32, "float32"), (np.dtype("u4"), "uint32"), (np.longlong, "int64"),
    ],
)  # fmt: skip
def test_forms_in_which_a_type_is_named(given, meant):
    """Python's classes mean what they mean to NumPy and PyTorch; the default types are others."""
    assert tensix.empty(0, dtype=given).dtype is getattr(tensix, meant)


@pytest.mark.parametrize("given", ["float24", "", np.dtype(">f4"), object, str, 6, [("a", "f4")]])
def test_what_is_no_type_of_ours_is_refused(given):
    with pytest.raises(TypeError, match="element type"):
        tensix.empty(0, dtype=given)


def test_none_is_no_type_where_one_is_needed():
    """np.dtype(None) is float64; nobody means that here."""
    with pytest.raises(TypeError, match="element type"):
        tensix.Tensor.from_storage(tensix.Storage(8), 0, (1,), (1,), None)
