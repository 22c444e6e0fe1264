"""An operator never writes to its operands, also if others have them, by whichever call."""

import functools
import itertools
import operator

import pytest

import tensix
from tensix.library import Library
from tensix.memory import statistics

SIZE = 1 << 20


@pytest.fixture
def x():
    return tensix.ones(SIZE)


def firsts(results):
    return [result[0].item() for result in results]


def test_map_of_a_bound_method_keeps_its_tensor(x):
    out = []
    out += map((x * 1).__mul__, [2.0, 3.0, 4.0])
    assert firsts(out) == [2, 3, 4]


def test_map_of_a_partial_keeps_its_argument(x):
    out = []
    out += map(functools.partial(operator.mul, x * 1), [2.0, 3.0, 4.0])
    assert firsts(out) == [2, 3, 4]


def test_starmap_keeps_the_tensors_in_its_tuples(x):
    pairs = [(x * value, 10.0) for value in (1, 2, 3)]
    out = []
    out += itertools.starmap(operator.mul, pairs)
    assert firsts(out) == [10, 20, 30]
    assert firsts(tensor for tensor, _ in pairs) == [1, 2, 3]


def test_an_update_of_a_dict_keeps_what_its_iterator_has(x):
    out = {}
    out |= zip("abc", map((x * 1).__mul__, [2.0, 3.0, 4.0]), strict=True)
    assert firsts(out.values()) == [2, 3, 4]


def test_a_sign_that_is_a_partial_keeps_its_argument(x):
    class Total:
        __add__ = staticmethod(functools.partial(operator.add, x * 1))

    total = Total()
    assert firsts([total + 2.0, total + 3.0, total + 4.0]) == [3, 4, 5]


def test_an_expression_leaves_what_it_is_made_of(x):
    y, z = x * 2, x * 3
    with statistics() as counted:
        found = y * 2 + z * 3 - y
    assert counted.total_count == 4  # every result has a block of its own
    assert firsts([found, x, y, z]) == [11, 1, 2, 3]


@pytest.mark.parametrize("size", [4, SIZE])
def test_a_registered_kernel_is_called_at_every_size(size):
    called = []
    x = tensix.ones(size)
    with Library("tensix") as library:
        library.impl("add.Tensor", lambda a, b, **_: called.append(a.numel()) or a * 7, "CPU", allow_override=True)
        assert firsts([x * 1 + x]) == [7]
    assert called == [size]
