"""The C header, in C and in C++."""

import pytest
from tensix_consumer import plain_c, plain_cpp, targets

import tensix


def test_elements_from_c():
    x = tensix.arange(10, dtype=tensix.float64)
    assert plain_c.total(x) == 45
    assert plain_c.total(x[::3]) == 18
    with pytest.raises(TypeError, match="float64 vector"):
        plain_c.total(tensix.ones(2))
    with pytest.raises(TypeError, match="Tensor is needed"):
        plain_c.total([1.0])


def test_foreign_memory_from_c():
    before = plain_c.freed_count()
    x = plain_c.ones(5)
    assert x.sum() == 5
    assert plain_c.freed_count() == before
    del x
    assert plain_c.freed_count() == before + 1


def test_counts_from_c():
    pointer = targets.make_buffer()
    assert plain_c.counted(pointer.get()) == 2
    assert pointer.use_count() == 1
    with pytest.raises(TypeError, match="no target"):
        plain_c.counted(None)


def test_shape_from_cpp():
    assert plain_cpp.shape(tensix.ones(2, 3, 4)) == [2, 3, 4]
    with pytest.raises(TypeError, match="Tensor is needed"):
        plain_cpp.shape(None)
