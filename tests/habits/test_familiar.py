"""Functions that NumPy and PyTorch have and the standard lacks: they answer as NumPy does."""

import collections
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix

DRAW = np.random.default_rng(1)


def pair(a, dtype=np.float64):
    a = np.asarray(a, dtype)
    return a, tensix.from_numpy(a.copy())


@pytest.mark.parametrize(("subscripts", "shapes"), [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]),
    ("ii", [(3, 3)]), ("ii->i", [(3, 3)]), ("i,i", [(3,), (3,)]), ("i,j->ij", [(3,), (4,)]), ("ij,ij->i", [(2, 3)] * 2),
    ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]), ("...ij,...jk", [(5, 2, 3), (3, 4)]), ("...i->...", [(2, 3, 4)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]), ("ij,ik,il->jkl", [(2, 3), (2, 4), (2, 5)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5)] * 2), ("iij->j", [(3, 3, 2)]), ("iijj->ij", [(2, 2, 3, 3)]),
    ("ijk,k", [(2, 3, 4), (4,)]), ("ij,kl->", [(2, 3), (4, 5)]), (",i", [(), (3,)]),
    ("ij , jk -> ki", [(2, 3), (3, 4)]), ("ab,ab,ab->b", [(2, 3)] * 3), ("...a,...b->...ab", [(4, 2), (3, 1, 5)]),
    ("ij,ij->ij", [(1, 3), (2, 3)]), ("ij,jk->ik", [(2, 1), (3, 4)]), ("ij,jk->ik", [(2, 0), (0, 4)]), ("ba", [(2, 3)]),
])  # fmt: skip
def test_einsum(subscripts, shapes):
    arrays = [DRAW.integers(-3, 4, shape) for shape in shapes]
    for dtype in (np.float64, np.int64, np.complex128):
        given_ = [array.astype(dtype) for array in arrays]
        found = tensix.einsum(subscripts, *[tensix.from_numpy(array) for array in given_])
        np.testing.assert_array_equal(np.asarray(found), np.einsum(subscripts, *given_), strict=True)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_einsum_of_any_letters(data):
    sizes = dict(zip("abcd", (2, 3, 1, 4), strict=True))
    terms = data.draw(st.lists(st.text("abcd", min_size=0, max_size=3), min_size=1, max_size=4))
    letters = sorted(set("".join(terms)))
    output = "".join(data.draw(st.permutations(letters))[: data.draw(st.integers(0, len(letters)))])
    arrays = [DRAW.integers(-2, 3, [sizes[c] for c in term]) for term in terms]
    subscripts = f"{','.join(terms)}->{output}"
    found = tensix.einsum(subscripts, *map(tensix.asarray, arrays))
    np.testing.assert_array_equal(np.asarray(found), np.einsum(subscripts, *arrays), err_msg=subscripts)


@pytest.mark.parametrize(("subscripts", "shapes"), [
    ("ij,jk", [(2, 3)]), ("ij", [(2, 3, 4)]), ("ij,jk", [(2, 3), (4, 5)]), ("ij,jk", [(200, 300), (400, 500)]),
    ("ij->ijk", [(2, 3)]), ("ii", [(2, 3)]), ("i1", [(2, 3)]), ("ij->ii", [(2, 2)]), ("i,i,i", [(2,), (2,), (3,)]),
])  # fmt: skip
def test_wrong_einsum(subscripts, shapes):
    with pytest.raises(ValueError, match=re.escape(f"einsum({subscripts!r}) of shapes " + ", ".join(map(str, shapes)))):
        tensix.einsum(subscripts, *[tensix.ones(shape) for shape in shapes])


def test_einsum_needs_a_tensor():
    with pytest.raises(ValueError, match="needs at least one tensor"):
        tensix.einsum("ij")


def test_einsum_of_no_letters():
    with pytest.raises(TypeError, match="subscripts such as"):
        tensix.einsum(tensix.ones(2), [0])


@pytest.mark.parametrize(
    "shapes",
    [
        ((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((), (3,)), ((2, 3, 4), (4,)), ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (3, 4)),
    ],
)
def test_dot(shapes):
    (a, x), (b, y) = (pair(DRAW.integers(-3, 4, shape)) for shape in shapes)
    np.testing.assert_array_equal(tensix.dot(x, y).numpy(), np.dot(a, b))


def test_closeness_is_one_bool():
    x = tensix.tensor([1.0, float("nan")])
    assert tensix.allclose(x[:1], 1.000001) is True and tensix.allclose(x, x) is False
    assert tensix.allclose(x, x, equal_nan=True) is True and tensix.allclose(x[:1], tensix.tensor([1.1]), atol=0.2)
    assert tensix.array_equal(x, x) is False and tensix.array_equal(x, x, equal_nan=True) is True
    assert tensix.array_equal(tensix.ones(2), tensix.ones(3)) is False
    assert tensix.array_equal(tensix.ones(2), tensix.ones(2, dtype="int8")) is True
    with pytest.raises(TypeError, match="takes tensors only"):
        tensix.array_equal(tensix.ones(1), [1.0])


@pytest.mark.parametrize("dtype", ["bool", "int64", "bfloat16", "float16", "float32", "complex128"])
@pytest.mark.parametrize("other", ["bool", "float32", "complex128"])
def test_equality_is_found_without_a_tensor_of_it(dtype, other):
    """A difference anywhere is found, also in tensors of other strides and types; and the sign of a zero is none."""
    x, y = tensix.ones((300, 200), dtype=dtype), tensix.ones((200, 300), dtype=other).T
    with tensix.memory.statistics() as counted:
        assert tensix.array_equal(x, y) is True
    assert counted.total_count == 0
    for place in ((0, 0), (130, 7), (299, 199)):
        y[place] = 0
        assert tensix.array_equal(x, y) is tensix.array_equal(y, x) is False
        y[place] = 1
    x, y = tensix.zeros(3), -tensix.zeros(3)
    assert tensix.array_equal(x, y) and tensix.array_equal(x[:0], y[:0])
    x = tensix.ones(3, device="meta")
    with pytest.raises(RuntimeError, match="same device"):
        tensix.array_equal(x, y)
    with pytest.raises(NotImplementedError, match="meta"):
        tensix.array_equal(x, x)


@pytest.mark.parametrize("values", [[3, 1, 2], [4, 1, 3, 2], [7], [5, 5], [1, np.nan, 2]])
@pytest.mark.parametrize("q", [0, 0.1, 0.5, 0.75, 1, [0.25, 0.5]])
def test_quantiles_and_medians(values, q):
    a, x = pair(values)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(tensix.quantile(x, q).numpy(), np.quantile(a, q), rtol=1e-12)
        np.testing.assert_array_equal(tensix.median(x).numpy(), np.median(a))


def test_quantiles_of_infinities():
    """NumPy subtracts them, and has no number where two are the same."""
    infinity = float("inf")
    assert tensix.median(tensix.tensor([infinity, infinity])).item() == infinity
    assert tensix.quantile(tensix.tensor([-infinity, 1, infinity]), [0, 0.5, 0.75]).tolist() == [-infinity, 1, infinity]


def test_quantiles_along_a_dimension():
    a, x = pair(DRAW.normal(size=(3, 4, 5)))
    for axis in (0, 1, -1):
        for keepdims in (False, True):
            found = tensix.quantile(x, 0.3, axis=axis, keepdims=keepdims)
            np.testing.assert_allclose(found.numpy(), np.quantile(a, 0.3, axis=axis, keepdims=keepdims))
    assert tensix.median(x, keepdims=True).shape == (1, 1, 1)
    assert tensix.median(tensix.tensor([1, 2])).item() == 1.5
    with pytest.raises(ValueError, match="from 0 to 1"):
        tensix.quantile(x, 30)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bool"])
def test_a_quantile_of_no_elements_is_not_a_number(shape, dtype):
    x = tensix.ones(shape, dtype=dtype)
    along = shape.index(0)
    for found in (tensix.median(x, axis=along), tensix.quantile(x, 0.3, axis=along), tensix.median(x)):
        assert tensix.isnan(found).all()
        assert found.dtype is (tensix.float64 if dtype == "float64" else tensix.float32)
    assert tensix.median(x, axis=along).shape == tensix.ones(shape).sum(axis=along).shape
    assert tensix.quantile(x, [0.1, 0.2], axis=along, keepdims=True).shape == (
        2,
        *tensix.ones(shape).sum(axis=along, keepdims=True).shape,
    )


def test_of_no_parts_there_are_no_quantiles():
    assert tensix.quantile(tensix.ones(3), []).shape == (0,)
    assert tensix.quantile(tensix.ones(3, 4), [], axis=0).shape == np.quantile(np.ones((3, 4)), [], axis=0).shape


@pytest.mark.parametrize(
    "values", [[-np.inf, 1], [1, np.inf], [-np.inf, np.inf], [-np.inf, 1, 2, np.inf], [-3e38, 3e38]]
)
def test_medians_of_infinite_and_of_large_numbers(values):
    a, x = pair(values, np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(tensix.median(x).numpy(), np.median(a.astype("f8")).astype("f4"))


def test_unique():
    a, x = pair([[3, 1], [3, 2]], np.int64)
    np.testing.assert_array_equal(tensix.unique(x).numpy(), np.unique(a))
    found = tensix.unique(x, return_index=True, return_inverse=True, return_counts=True)
    expected = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine.numpy(), other)
    values, counts = x.unique(return_counts=True)
    assert values.tolist() == [1, 2, 3] and counts.tolist() == [1, 1, 2]


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)])
def test_stacks(shape):
    (a, x), (b, y) = (pair(DRAW.normal(size=shape)) for _ in range(2))
    np.testing.assert_array_equal(tensix.vstack([x, y]).numpy(), np.vstack([a, b]))
    np.testing.assert_array_equal(tensix.hstack([x, y]).numpy(), np.hstack([a, b]))


def test_splitting_is_the_method():
    x = tensix.arange(5)
    assert (
        [part.tolist() for part in tensix.split(x, 2)]
        == [part.tolist() for part in x.split(2)]
        == [[0, 1], [2, 3], [4]]
    )
    assert [part.tolist() for part in tensix.split(x, [1, 4])] == [[0], [1, 2, 3, 4]]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("width", [1, (1, 2), ((0, 1), (2, 2)), 0])
def test_padding(mode, width):
    a, x = pair(DRAW.integers(0, 9, (3, 4)), np.int32)
    np.testing.assert_array_equal(tensix.pad(x, width, mode=mode).numpy(), np.pad(a, width, mode), strict=True)


def test_wrong_padding():
    x = tensix.ones(2)
    assert tensix.pad(x, 1, constant_values=7).tolist() == [7, 1, 1, 7]
    with pytest.raises(ValueError, match="widths of 0 or more"):
        tensix.pad(x, -1)
    with pytest.raises(ValueError, match="has the modes"):
        tensix.pad(x, 1, mode="mirror")
    with pytest.raises(ValueError):
        tensix.pad(x, ((1, 1), (1, 1)))


def test_orders_by_chance():
    order = tensix.randperm(1000, generator=tensix.Generator(3))
    assert order.sort().tolist() == list(range(1000)) and order.tolist() != list(range(1000))
    assert tensix.array_equal(order, tensix.randperm(1000, generator=tensix.Generator(3)))
    assert tensix.randperm(3, dtype="int32").dtype is tensix.int32 and tensix.randperm(0).shape == (0,)
    assert sorted(tensix.arange(5)[tensix.randperm(5)].tolist()) == [0, 1, 2, 3, 4]
    generator = tensix.Generator(4)
    counts = collections.Counter(tuple(tensix.randperm(3, generator=generator).tolist()) for _ in range(6000))
    assert len(counts) == 6 and max(abs(count - 1000) for count in counts.values()) < 200  # six and a half deviations
    with pytest.raises(ValueError, match="0 or more"):
        tensix.randperm(-1)


def test_print_options():
    before = np.get_printoptions()
    try:
        tensix.set_printoptions(precision=2, threshold=5, edgeitems=1)
        assert repr(tensix.tensor([1 / 3])) == "tensor([0.33])"
        assert "..." in repr(tensix.arange(9))
        tensix.set_printoptions()
        assert repr(tensix.tensor([1 / 3])) == "tensor([0.33])"
        with pytest.raises(ValueError, match="0 or more"):
            tensix.set_printoptions(precision=-1)
    finally:
        np.set_printoptions(**before)
        tensix.set_printoptions(precision=4)
    assert repr(tensix.tensor([1 / 3])) == "tensor([0.3333])"


def test_parts_may_be_tensors_of_one_element():
    x = tensix.tensor([1.0, 2.0, 3.0])
    assert tensix.quantile(x, [tensix.tensor(0.5), 1.0]).tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="one element"):
        tensix.quantile(x, [x])
    with pytest.raises(ValueError, match=r"parts from 0 to 1, found 2\.0"):
        tensix.quantile(x, [tensix.tensor(2.0)])
