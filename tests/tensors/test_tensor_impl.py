"""The body of a tensor: products that overflow, flags that follow the geometry, shapes that are compared."""

import itertools

import pytest

import tensix
from tensix import Storage, Tensor, float32, float64


@pytest.mark.parametrize("shape", [(2**32, 2**31), (2**62, 2), (3, 2**62), (2**21,) * 3, (2, 0, 2**62, 2)])
def test_more_elements_than_63_bits_count(shape):
    with pytest.raises(ValueError, match="numel: integer multiplication overflow: shape"):
        tensix.empty(shape)
    if 0 not in shape:
        with pytest.raises(ValueError, match="numel: integer multiplication overflow: shape"):
            tensix.ones(()).expand(shape)
        with pytest.raises(ValueError, match="numel: integer multiplication overflow: shape"):
            Tensor.from_storage(Storage(4), 0, shape, (0,) * len(shape), float32)


@pytest.mark.parametrize("shape, dtype", [((2**62,), "float32"), ((2**60, 2), "float64"), ((2**60,), "complex128")])
def test_more_bytes_than_63_bits_count(shape, dtype):
    with pytest.raises(ValueError, match="Storage size calculation overflowed"):
        tensix.empty(shape, dtype=dtype)
    assert tensix.ones((), dtype=dtype).expand(shape).nbytes >= 2**63  # a view of one element


@pytest.mark.parametrize("make", [tensix.empty, tensix.zeros, lambda shape: tensix.ones(1).as_strided(shape, shape)])
def test_negative_sizes(make):
    with pytest.raises(ValueError, match=r"negative dimension -1|sizes of 0 or more"):
        make((2, -1))


@pytest.mark.parametrize("number, error", [(2.0, TypeError), (True, TypeError), ("2", TypeError), (None, TypeError),
                                           (2**63, OverflowError), (-(2**63) - 1, OverflowError)])
def test_sizes_are_ints_of_64_bits(number, error):
    for make in (lambda: tensix.empty(2, number), lambda: tensix.ones(2, 1).expand(2, number)):
        with pytest.raises(error):
            make()


@pytest.mark.parametrize("shape, stride, contiguous", [
    ((2, 3), (3, 1), True), ((2, 3), (1, 2), False), ((2, 3), (4, 1), False), ((), (), True), ((1,), (7,), True),
    ((0, 3), (5, 5), True), ((2, 1, 3), (3, 99, 1), True), ((1, 1), (-5, 0), True), ((3,), (-1,), False),
    ((3,), (0,), False), ((2, 1), (1, 1), True), ((2, 2), (2, -1), False),
])
def test_contiguous(shape, stride, contiguous):
    x = Tensor.from_storage(Storage(400), 10, shape, stride, float32)
    assert x.is_contiguous() == contiguous


@pytest.mark.parametrize("sizes", [(2, 3, 4), (2, 1, 3, 2), (2,) * 5, (2, 3, 1, 1, 2, 2)])
def test_what_is_dense_keeps_its_strides_when_cloned(sizes):
    """Non-overlapping and dense is any permutation of row-major order, and nothing else."""
    for order in itertools.islice(itertools.permutations(range(len(sizes))), 0, None, 5):
        x = tensix.rand(sizes).permute(order)
        assert [s for s, n in zip(x.clone().stride(), x.shape, strict=True) if n > 1] == [
            s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1
        ]  # fmt: skip


@pytest.mark.parametrize("shape, stride", [((2, 3), (4, 1)), ((2, 3), (1, 3)), ((3,), (2,)), ((3,), (-1,)),
                                           ((2, 2), (0, 1)), ((2, 2), (1, 1)), ((2, 2, 2), (4, 1, 1))])
def test_what_is_not_dense_is_cloned_in_row_major_order(shape, stride):
    x = Tensor.from_storage(Storage(400), 10, shape, stride, float64)
    assert x.clone().is_contiguous()


def test_shapes_compare_by_what_is_in_use():
    """What a body had before it was given fewer dimensions must not count; sums of equal shapes are a fast path."""
    squeezed = tensix.rand(2, 3, 1, 1).squeeze((2, 3))
    narrowed = tensix.rand(2, 3, 4).select(2, 0).contiguous()
    fresh = tensix.rand(2, 3)
    for x, y in itertools.permutations((squeezed, narrowed, fresh), 2):
        assert (x + y).shape == (2, 3)
    deep = tensix.rand((1,) * 7 + (2, 3))
    assert (deep + deep.squeeze(0)).shape == deep.shape and (deep.squeeze(tuple(range(7))) + fresh).shape == (2, 3)
