"""The text of tensors."""

import numpy as np
import pytest

import tensix


@pytest.mark.parametrize("data, options, text", [
    ([1.0, 2.5], {}, "tensor([1.0, 2.5])"), ([1.0, 2.0], {}, "tensor([1., 2.])"), (3.5, {}, "tensor(3.5)"),
    ([[1, 2], [3, 40]], {}, "tensor([[ 1,  2],\n        [ 3, 40]])"), ([True, False], {}, "tensor([ True, False])"),
    (7, {}, "tensor(7)"), ([1.0], {"dtype": tensix.float64}, "tensor([1.], dtype=tensix.float64)"),
    ([1], {"dtype": tensix.uint8}, "tensor([1], dtype=tensix.uint8)"), ([], {}, "tensor([])"),
    ([float("nan"), float("inf")], {}, "tensor([nan, inf])"),
    ([], {"dtype": tensix.int32}, "tensor([], dtype=tensix.int32)"),
    ([[]], {}, "tensor([], shape=(1, 0))"),
])
def test_text(data, options, text):
    assert repr(tensix.tensor(data, **options)) == str(tensix.tensor(data, **options)) == text


@pytest.mark.parametrize("dtype", [n for n in tensix.__all__ if isinstance(getattr(tensix, n), tensix.DType)])
def test_every_type_has_a_text(dtype):
    text = repr(tensix.empty(2, dtype=getattr(tensix, dtype)))
    assert text.startswith("tensor([") and (dtype in ("float32", "int64", "bool")) == ("dtype" not in text)


def test_read_only_is_said():
    array = np.zeros(2, np.float32)
    array.flags.writeable = False
    assert repr(tensix.from_numpy(array)) == "tensor([0., 0.], readonly=True)"


def test_undefined():
    assert repr(tensix.Tensor()) == "Tensor(undefined)"


def test_text_of_a_view_is_that_of_its_elements():
    x = tensix.tensor([[1, 2], [3, 4]])
    assert repr(x.T) == "tensor([[1, 3],\n        [2, 4]])" and repr(x[::-1, 0]) == "tensor([3, 1])"
    assert repr(x[0, 0].expand(3)) == "tensor([1, 1, 1])"


def test_large_tensor_is_cut():
    text = repr(tensix.zeros(100, 100))
    assert "..." in text and len(text) < 1000


def test_text_does_not_depend_on_numpys_options():
    with np.printoptions(precision=1, threshold=2, suppress=True):
        assert repr(tensix.tensor([1.25, 2.0, 3.0])) == "tensor([1.25, 2.00, 3.00])"


def test_printing_neither_copies_nor_materializes():
    x = tensix.ones(1000, 1000)
    clone = x.lazy_clone()
    before = tensix.CPUAllocator.bytes_in_use()
    assert "..." in repr(clone) and clone.is_cow() and clone.data_ptr() == x.data_ptr()
    assert tensix.CPUAllocator.bytes_in_use() == before
