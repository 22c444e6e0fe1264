"""A result is written over an operand only if no one can see it. See Note [Temporaries]."""

import functools
import gc
import itertools
import operator
import platform
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import tensix
from tensix.dispatch import dispatcher
from tensix.memory import statistics

SIZE = 1 << 19  # from which on operands are looked at
needs_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others do not tell who calls")


@pytest.fixture
def x():
    return tensix.ones(SIZE)


@needs_glibc
def test_a_temporary_takes_the_result(x):
    y, z = tensix.ones(SIZE), tensix.ones(SIZE)
    with statistics() as counted:
        found = x * 2 + y * 3 - z
    assert counted.total_count == 2
    assert (found == 4).all() and (x == 1).all() and (y == 1).all() and (z == 1).all()


@needs_glibc
@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "%", "**"])
def test_every_sign_gives_what_it_gives_elsewhere(x, sign):
    small = eval(f"(tensix.ones(4) * 3) {sign} 2", {"tensix": tensix})
    with statistics() as counted:
        found = eval(f"(x * 3) {sign} 2", {"x": x})
    assert counted.total_bytes < 2 * x.nbytes  # what else there is are the numbers
    assert (found == small[0]).all()


def test_what_has_a_name_stays(x):
    y = x * 2
    z = y + 1
    assert (y == 2).all() and (z == 3).all()


def test_what_a_container_has_stays(x):
    kept = [x * 2]
    assert ((kept[0] + 1) == 3).all() and (kept[0] == 2).all()


def test_views_and_exports_stay(x):
    seen = []

    def keep(part):
        seen.append(part)
        return 0

    def made(look):
        y = x * 2
        keep(look(y))
        return y

    looks = [lambda y: y[1:], np.asarray, memoryview, lambda y: y.storage(), lambda y: y.lazy_clone(), np.from_dlpack]
    for look in looks:
        assert ((made(look) + 1) == 3).all()
    assert all((np.asarray(one) == 2).all() for one in seen if not isinstance(one, tensix.Storage))
    assert seen[3].data_ptr() and (tensix.Tensor.from_storage(seen[3], 0, (SIZE,), (1,), tensix.float32) == 2).all()


def test_a_weak_reference_dies_with_the_operand(x):
    seen = []

    def made():
        y = x * 2
        seen.append(weakref.ref(y))
        return y

    z = made() + 1
    assert seen[0]() is None and (z == 3).all()


def test_memory_of_others_stays():
    array = np.ones(SIZE, "f4")
    assert ((tensix.from_numpy(array) + 1) == 2).all() and (array == 1).all()
    with tensix.use_allocator(tensix.SharedMemoryAllocator()):
        shared = tensix.ones(SIZE)
        with statistics() as counted:
            shared * 2 + 1
    assert counted.total_count == 2  # another process may look at the first


@pytest.mark.parametrize(
    "other",
    [tensix.ones(SIZE, dtype="float64"), tensix.ones(2, SIZE), 1j, True, np.ones(SIZE, "f8"), tensix.ones(1, 1)],
)
def test_results_of_another_type_or_shape_have_their_own_memory(x, other):
    expected = tensix.asarray(np.asarray(x) * np.float32(2) + np.asarray(other))
    assert ((x * 2 + other) == expected).all()


def test_integers_that_become_floats():
    i = tensix.ones(SIZE, dtype="int32")
    assert (i * 3 / 2).dtype is tensix.float32 and ((i * 3 / 2) == 1.5).all()
    assert ((i * 3 > 2) == tensix.ones(SIZE, dtype=bool)).all()


def test_an_error_leaves_the_operand():
    kept = []

    def made():
        y = tensix.ones(SIZE)
        kept.append(weakref.ref(y))
        return y

    with pytest.raises(OverflowError):
        made() + 10**400
    with pytest.raises(ValueError, match="broadcast"):
        made() + tensix.ones(7)
    gc.collect()
    assert kept[0]() is None and kept[1]() is None


def test_functions_of_python_that_add(x):
    assert (sum([x, x, x]) == 3).all()
    assert (functools.reduce(operator.add, [x, x, x]) == 3).all()
    totals = list(itertools.accumulate([x, x, x], operator.add))
    assert [total[0].item() for total in totals] == [1, 2, 3]
    assert (operator.add(x * 2, 1) == 3).all()
    assert ((x * 2).__add__(1) == 3).all()
    assert [(part + 1)[0].item() for part in map(operator.mul, [x, x], [2, 3])] == [3, 4]


def test_a_function_of_python_may_use_its_argument_again(x):
    def add_and_multiply(y):
        z = y + 1
        return y * z

    assert (add_and_multiply(x * 2) == 6).all()


def test_a_function_in_c_may_use_its_argument_again(counting, x):
    assert (counting.Adding()[x * 2] == 6).all()
    assert ((counting.Adding() + x * 2) == 6).all()
    assert (x * 2 + counting.Adding() == 6).all()
    assert (sum([x * 2], counting.Adding()) == 6).all()


def test_a_listener_is_told_of_the_operator_that_was_called(x):
    called = []
    listener = SimpleNamespace(
        before_call=lambda table, *_: called.append(table.schema.name), after_call=lambda *_: None, failed_call=print
    )
    dispatcher.add_listener(listener)
    try:
        x * 2 + 1
    finally:
        dispatcher.remove_listener(listener)
    assert [name for name in called if name != "empty"] == ["mul", "add"]
