"""Views on the parts of a tensor: how many there are, how large, and what is refused."""

import sys

import numpy as np
import pytest

import tensix


@pytest.fixture
def x():
    return tensix.tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))


@pytest.mark.parametrize("size, lengths", [(1, [1] * 4), (2, [2, 2]), (3, [3, 1]), (4, [4]), (99, [4]), (2**70, [4]),
                                           ([1, 3], [1, 3]), ((0, 4, 0), [0, 4, 0]), ([4], [4])])
def test_split(x, size, lengths):
    parts = x.split(size, -1)
    assert type(parts) is tuple and [part.shape for part in parts] == [(2, 3, length) for length in lengths]
    ends = np.cumsum(lengths)[:-1]
    assert [part.tolist() for part in parts] == [part.tolist() for part in np.split(np.array(x.tolist()), ends, -1)]
    assert all(part.is_alias_of(x) for part in parts)


@pytest.mark.parametrize("chunks, lengths", [(1, [5]), (2, [3, 2]), (3, [2, 2, 1]), (4, [2, 2, 1]), (5, [1] * 5),
                                             (6, [1] * 5), (2**62, [1] * 5)])
def test_chunk(chunks, lengths):
    x = tensix.tensor(list(range(5)))
    assert [part.shape[0] for part in x.chunk(chunks)] == lengths
    assert [number for part in x.chunk(chunks) for number in part.tolist()] == x.tolist()


def test_parts_without_elements():
    x = tensix.empty(0, 2)
    assert [part.shape for part in x.chunk(3)] == [(0, 2)] * 3
    assert [part.shape for part in x.split(0)] == [part.shape for part in x.split(5)] == [(0, 2)]
    assert x.split([]) == x.unbind() == () and [part.shape for part in x.split([0, 0])] == [(0, 2)] * 2
    # PyList_New() of free-threaded CPython 3.13 frees what it has not set if there is no memory.
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        with pytest.raises(MemoryError):
            x.chunk(2**50)


@pytest.mark.parametrize("call, error", [
    (lambda x: x.split(0), ValueError), (lambda x: x.split(-1), ValueError), (lambda x: x.split([1, 2]), ValueError),
    (lambda x: x.split([3, -1]), ValueError), (lambda x: x.split([2**63, 2 - 2**63]), ValueError),
    (lambda x: x.split([]), ValueError), (lambda x: x.split(2.0), TypeError), (lambda x: x.split(None), TypeError),
    (lambda x: x.split([1.0, 1.0]), TypeError), (lambda x: x.split("ab"), TypeError),
    (lambda x: x.split(1, 3), IndexError), (lambda x: x.split([2], -4), IndexError), (lambda x: x.chunk(0), ValueError),
    (lambda x: x.chunk(-1), ValueError), (lambda x: x.chunk(1.5), TypeError), (lambda x: x.chunk(True), TypeError),
    (lambda x: x.chunk(2**70), OverflowError), (lambda x: x.chunk(2, 3), IndexError),
    (lambda x: x.unbind(3), IndexError), (lambda x: x[0, 0, 0].unbind(), IndexError),
    (lambda x: x[0, 0, 0].split(1), IndexError), (lambda x: x[0, 0, 0].chunk(1), IndexError),
])
def test_refused_parts(x, call, error):
    with pytest.raises(error):
        call(x)
    assert x.storage().use_count() == 2
