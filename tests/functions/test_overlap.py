"""Writing to a tensor whose elements share a place is refused; all else is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix
from tensix.testing import FailingAllocator

WRITES = {
    "fill_": lambda x: x.fill_(7), "zero_": lambda x: x.zero_(), "copy_": lambda x: x.copy_(tensix.ones(())),
    "converted copy_": lambda x: x.copy_(tensix.ones((), dtype=tensix.int8)),
    "assignment": lambda x: x.__setitem__(..., -3),
    "uniform_": lambda x: tensix.ops.tensix.uniform_(x), "normal_": lambda x: tensix.ops.tensix.normal_(x),
}  # fmt: skip

OVERLAPPING = {
    "expand": lambda x: x[:1].expand(2, 24), "windows": lambda x: x.unfold(0, 3, 1), "row": lambda x: x[0].expand(3),
    "windows of windows": lambda x: x.view(4, 6).unfold(0, 2, 1).unfold(1, 2, 2),
    "turned": lambda x: x.as_strided((3, 3), (1, -1), 5), "coarse": lambda x: x.as_strided((4, 3), (2, 3)),
}  # fmt: skip

APART = {
    "all": lambda x: x, "every other": lambda x: x[::2], "turned": lambda x: x.view(4, 6)[::-1, ::-2].T,
    "windows side by side": lambda x: x.unfold(0, 3, 3), "windows with gaps": lambda x: x.unfold(0, 3, 5),
    "one window": lambda x: x.unfold(0, 24, 1), "diagonal": lambda x: x.view(4, 6).diagonal(),
    "interleaved": lambda x: x.as_strided((2, 3), (3, 2)), "nothing": lambda x: x[:0].view(0, 1).expand(0, 5),
    "one row": lambda x: x.as_strided((1, 24), (0, 1)), "one element": lambda x: x[3:4].expand(1, 1),
}  # fmt: skip


def counted():
    return tensix.tensor(np.arange(24, dtype=np.float32))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("look", OVERLAPPING.values(), ids=OVERLAPPING)
def test_refused(look, write):
    x = counted()
    with pytest.raises(RuntimeError, match=r"single memory location.*Write to a clone\(\)"):
        write(look(x))
    assert x.tolist() == counted().tolist()
    write(look(x).clone())


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("look", APART.values(), ids=APART)
def test_written(look, write):
    x = counted()
    before = look(x).tolist()
    write(look(x))
    assert look(x).numel() == 0 or look(x).tolist() != before


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-12, 12)), max_size=4))
def test_what_is_refused_overlaps(dims):
    """For two dimensions what is allowed does not, either; of more, three may meet where no two do."""
    shape, strides = [size for size, _ in dims], [stride for _, stride in dims]
    offset = -sum(min(stride, 0) * max(size - 1, 0) for size, stride in dims)
    x = tensix.tensor(list(range(300))).as_strided(shape, strides, offset)
    places = np.array(x.tolist()).ravel()
    overlaps = len(set(places)) < len(places)
    try:
        x.fill_(0)
        refused = False
    except RuntimeError:
        refused = True
    assert overlaps or not refused
    assert refused or not overlaps or sum(size > 1 for size in shape) > 2


@pytest.mark.parametrize("key", [slice(1, None), slice(None, None, 2), (slice(None), slice(1, 3)), 2, ...])
def test_an_assignment_onto_itself_needs_no_memory(key):
    """Python ends ``x[key] += y`` with one, when the sum is written already."""
    x = tensix.arange(12).reshape(4, 3)
    y, expected = tensix.tensor(5), x.clone()
    with tensix.use_allocator(FailingAllocator(fail_at=1)):
        version = x.version
        x[key] = x[key]
        assert x.tolist() == expected.tolist() and x.version > version
        x[key] += y
    expected[key] = expected[key] + 5
    assert x.tolist() == expected.tolist()


@pytest.mark.parametrize("fail_at", [1, 2, 3])
def test_a_shifted_sum_is_written_or_not(fail_at):
    x = tensix.arange(6)
    try:
        with tensix.use_allocator(FailingAllocator(fail_at=fail_at)):
            x[1:] += x[:-1]
    except MemoryError:
        assert fail_at == 1 and x.tolist() == [0, 1, 2, 3, 4, 5]
    else:
        assert fail_at > 1 and x.tolist() == [0, 1, 3, 5, 7, 9]


def test_a_share_is_no_view_onto_itself():
    x = tensix.arange(6)
    share = x.lazy_clone()
    share[1:] = x[1:]
    share.add_(1)
    assert (x.tolist(), share.tolist()) == ([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6])
