"""Several keys in one index, drawn at random, against NumPy: what is read, what is written, and what is refused."""

import random

import numpy as np
import pytest

import tensix

SHAPES_OF_POSITIONS = [(), (3,), (2, 3), (1,), (0,), (1100,), (3, 1)]


def draw_index(shape, draw, rng):
    """Return keys, at least one of which is an array."""
    keys, dim, common = [], 0, draw.choice(SHAPES_OF_POSITIONS)
    while dim < len(shape) and draw.random() < 0.85:
        size, kind = shape[dim], draw.random()
        if kind < 0.5:
            of_one = draw.choice([common, common[1:], tuple(draw.choice([1, n]) for n in common)])
            outside = draw.random() < 0.03
            positions = rng.integers(-size, size + outside, of_one) if size + outside else np.zeros(of_one, "i8")
            keys.append(np.asarray(positions).astype(draw.choice(["i8", "i8", "i4", "i1" if size < 100 else "i2"])))
        elif kind < 0.65:
            keys.append(slice(draw.choice([None, -2, 0, 1]), draw.choice([None, -1, 3]), draw.choice([None, 2, -1])))
        elif kind < 0.75:
            keys.append(draw.randint(-size, size - 1) if size else 0)
        elif kind < 0.8:
            keys.append(None)
            continue
        elif kind < 0.87 and not any(key is Ellipsis for key in keys):
            keys.append(Ellipsis)
            continue
        else:
            keys.append(rng.integers(0, 2, shape[dim : dim + draw.choice([1, 1, 2])]).astype(bool))
            dim += keys[-1].ndim - 1
        dim += 1
    return keys if any(isinstance(key, np.ndarray) for key in keys) else [*keys, np.zeros(2, "i8")][-len(shape) :]


def outcome(call):
    try:
        return call()
    except (IndexError, ValueError) as error:
        return type(error)
    except DeprecationWarning:  # NumPy before 2.3, of what is outside where nothing is read
        return IndexError


@pytest.mark.parametrize("seed", range(8))
def test_any_index_is_numpy_s(seed):
    rng, draw = np.random.default_rng(seed), random.Random(seed)
    for _ in range(250):
        array = rng.integers(0, 100, [draw.choice([0, 1, 2, 3, 5, 40]) for _ in range(draw.randint(1, 4))])
        array = array.astype(draw.choice(["?", "i2", "f4", "f8", "c16"]))
        array = draw.choice([array, array, array.T, array[::-1], array[..., ::2]])
        keys = draw_index(array.shape, draw, rng)
        index = tuple(tensix.from_numpy(key) if isinstance(key, np.ndarray) and key.ndim else key for key in keys)
        x = tensix.from_numpy(array)
        expected, found = outcome(lambda: array[tuple(keys)]), outcome(lambda: x[index])
        if isinstance(expected, type):
            assert found is expected, (array.shape, keys)
            continue
        assert found.shape == expected.shape and (np.asarray(found) == expected).all(), (array.shape, keys)
        values = rng.integers(0, 100, draw.choice([(), expected.shape])).astype(array.dtype)
        written, target = array.copy(order="K"), tensix.from_numpy(array.copy(order="K"))
        written[tuple(keys)] = values
        target[index] = tensix.from_numpy(values) if draw.random() < 0.7 else values
        assert (np.asarray(target) == written).all(), (array.shape, keys)


def test_keys_that_are_what_is_written():
    x = tensix.arange(6)[::2]
    x[x // 2,] = tensix.tensor([2, 0, 4])
    assert x.tolist() == [2, 0, 4]
    y = tensix.arange(4)
    y[None, y] = tensix.flip(y)[None]
    assert y.tolist() == [3, 2, 1, 0]


def test_nothing_is_written_if_one_position_is_outside():
    x = tensix.zeros(3, 3)
    with pytest.raises(IndexError):
        x[tensix.tensor([0, 3]), tensix.tensor([0, 0])] = 1
    assert x.sum().item() == 0
