"""Memory formats: the strides they mean, how strides tell them, what keeps them, what is refused."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import tensix
from tensix import MemoryFormat, channels_last, channels_last_3d, contiguous_format, preserve_format


def images(*shape, memory_format=channels_last):
    x = tensix.empty(*shape, memory_format=memory_format)
    x.copy_(tensix.tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape)))
    return x


def test_formats_are_objects_of_which_there_is_one():
    assert [repr(memory_format) for memory_format in MemoryFormat] == [
        "tensix.contiguous_format", "tensix.preserve_format", "tensix.channels_last", "tensix.channels_last_3d",
    ]  # fmt: skip
    for memory_format in MemoryFormat:
        assert getattr(tensix, memory_format.name) is memory_format is copy.deepcopy(memory_format)
        assert pickle.loads(pickle.dumps(memory_format)) is memory_format


@pytest.mark.parametrize("shape, memory_format, stride", [
    ((2, 3, 4, 5), channels_last, (60, 1, 15, 3)), ((2, 3, 4, 5, 6), channels_last_3d, (360, 1, 90, 18, 3)),
    ((2, 3, 4, 5), contiguous_format, (60, 20, 5, 1)), ((), contiguous_format, ()),
    ((2, 1, 4, 5), channels_last, (20, 1, 5, 1)), ((1, 1, 1, 1), channels_last, (1, 1, 1, 1)),
    ((2, 0, 4, 5), channels_last, (20, 1, 5, 1)), ((2, 3, 4, 5), "channels_last", (60, 1, 15, 3)),
])
def test_strides_of_formats(shape, memory_format, stride):
    x = tensix.empty(shape, dtype=tensix.int16, memory_format=memory_format)
    assert (x.shape, x.stride(), x.dtype) == (shape, stride, tensix.int16)
    assert x.is_contiguous(memory_format=memory_format) and x.storage().nbytes() == x.nbytes


@pytest.mark.parametrize("shape, memory_format, error", [
    ((3, 4, 5), channels_last, ValueError), ((2, 3, 4, 5, 6), channels_last, ValueError),
    ((2, 3, 4, 5), channels_last_3d, ValueError), ((), channels_last, ValueError), ((3,), preserve_format, ValueError),
    ((3,), "rows", TypeError), ((3,), 0, TypeError), ((2, -1, 2, 2), channels_last, ValueError),
    ((2**32, 2**32, 2, 2), channels_last, ValueError), ((2, 2**62, 0, 2**62), channels_last, ValueError),
])
def test_refused_formats(shape, memory_format, error):
    with pytest.raises(error):
        tensix.empty(shape, memory_format=memory_format)


@pytest.mark.parametrize("shape, memory_format", [((2, 3, 4, 5), channels_last), ((2, 3, 2, 3, 2), channels_last_3d)])
def test_there_and_back(shape, memory_format):
    rows = tensix.rand(shape)
    last = rows.contiguous(memory_format=memory_format)
    assert last.tolist() == rows.tolist() and not last.is_alias_of(rows) and not last.is_contiguous()
    assert last.is_contiguous(memory_format) and not rows.is_contiguous(memory_format)
    assert last.contiguous(memory_format) is last and last.contiguous().stride() == rows.stride()
    assert last.clone().stride() == last.clone(memory_format=preserve_format).stride() == last.stride()
    assert last.clone(memory_format=contiguous_format).tolist() == rows.tolist()
    assert rows.clone(memory_format=memory_format).stride() == last.stride()
    assert (last.suggest_memory_format(), rows.suggest_memory_format()) == (memory_format, contiguous_format)


def test_clone_in_a_format_is_always_a_copy():
    x = images(2, 3, 4, 5)
    for memory_format in (channels_last, contiguous_format, preserve_format):
        clone = x.clone(memory_format=memory_format)
        assert clone.tolist() == x.tolist() and not clone.is_alias_of(x)
    one = tensix.rand(2, 1, 4, 5)  # in both orders at once
    assert one.is_contiguous(channels_last) and one.is_contiguous() and one.contiguous(channels_last) is one
    assert one.clone(memory_format=channels_last).tolist() == one.tolist()


@pytest.mark.parametrize("call, error", [
    (lambda x: x.contiguous(memory_format=preserve_format), ValueError), (lambda x: x.is_contiguous(7), TypeError),
    (lambda x: x.is_contiguous(preserve_format), ValueError), (lambda x: x.contiguous(channels_last), ValueError),
    (lambda x: x.clone(memory_format=channels_last_3d), ValueError), (lambda x: x.clone(memory_format=7), TypeError),
])
def test_refused_questions(call, error):
    with pytest.raises(error):
        call(tensix.ones(2, 3))


def test_only_its_number_of_dimensions_is_contiguous_in_a_format():
    assert not tensix.ones(3, 4, 5).is_contiguous(channels_last)
    assert not images(2, 3, 4, 5).is_contiguous(channels_last_3d)
    assert tensix.empty(2, 0, 3, 4).is_contiguous(channels_last)  # without elements there is no order


# ---- what strides are like


@pytest.mark.parametrize("shape, stride, found", [
    ((2, 3, 4, 5), (60, 1, 15, 3), channels_last), ((2, 3, 4, 5), (60, 20, 5, 1), contiguous_format),
    ((2, 3, 4, 5), (99, 1, 20, 4), channels_last),  # gaps
    ((2, 3, 4, 5), (60, 0, 15, 3), contiguous_format),  # expanded channels
    ((2, 0, 4, 5), (20, 1, 5, 1), contiguous_format),
    ((2, 3, 4, 5), (59, 1, 15, 3), contiguous_format),  # batches overlap
    ((2, 1, 1, 1), (1, 1, 1, 1), contiguous_format),  # fits both: N111
    ((2, 1, 1, 1), (4, 4, 4, 4), contiguous_format),  # a slice of N11W
    ((2, 1, 4, 1), (4, 1, 1, 1), channels_last), ((2, 1, 4, 1), (4, 4, 1, 1), contiguous_format),  # N1H1
    ((1, 3, 1, 4), (12, 1, 12, 3), channels_last),
    ((1, 4, 1, 3), (12, 3, 3, 1), contiguous_format),  # 1C1W, and transposed
    ((1, 3, 1, 4), (12, 1, 3, 3), contiguous_format), ((2, 3, 4), (12, 1, 3), contiguous_format),
    ((2, 3, 4, 5, 6), (360, 1, 90, 18, 3), channels_last_3d), ((2, 3, 4, 5), (60, -1, 15, 3), contiguous_format),
    ((2, 3, 4, 5, 6), (360, 120, 30, 6, 1), contiguous_format), ((2,) * 6, (1,) * 6, contiguous_format),
])
def test_format_that_strides_are_like(shape, stride, found):
    offset = 2 if min(stride) < 0 else 0
    x = tensix.empty(400 if len(shape) == 4 else 800).as_strided(shape, stride, offset)
    assert x.suggest_memory_format() is found


@pytest.mark.parametrize("sizes", [(2, 3, 2, 2), (3, 1, 2, 1), (2, 2, 1, 3)])
def test_contiguous_in_a_format_is_what_a_permutation_says(sizes):
    """Of all orders of dimensions, those are contiguous whose channels-last permutation is row-major."""
    for order in itertools.permutations(range(4)):
        x = tensix.empty([sizes[dim] for dim in order]).permute([order.index(dim) for dim in range(4)])
        assert x.shape == sizes
        assert x.is_contiguous(channels_last) == x.permute(0, 2, 3, 1).is_contiguous()


def test_views_and_arithmetic_of_images():
    x = images(2, 3, 4, 5)
    assert x[1:].is_contiguous(channels_last) and x[:, :, 1:3].suggest_memory_format() is channels_last
    assert (x + x).tolist() == (x.contiguous() * 2).tolist()
    assert x.permute(0, 2, 3, 1).is_contiguous() and x.flatten(2).is_alias_of(x)
