"""Sorting against NumPy's stable order, bit for bit: special values, and lengths at which another way begins."""

import threading

import numpy as np
import pytest

import tensix

TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16"]
SHAPES = [(0,), (1,), (2,), (30,), (64, 5), (257,), (700,), (3, 2500), (40_000,), (70, 600)]


def special(shape, kind, rng):
    """Return numbers of which many are equal, and are not-a-numbers or zeros of both signs."""
    a = rng.integers(-3, 4, shape).astype(kind)
    if a.dtype.kind in "fc":
        values = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.0, 1.0 + 2.0**-20], kind)
        a = rng.choice(values, shape)
    return a


def wide(shape, kind, rng):
    """Return any bits at all."""
    size = np.dtype(kind).itemsize
    bits = rng.integers(0, 256, (*shape, size), np.uint8)
    return (bits % 2 == 1)[..., 0] if kind == "?" else np.ascontiguousarray(bits).view(kind)[..., 0]


def close(shape, kind, rng):
    """Return numbers close to each other, also in bits."""
    return (1 + rng.integers(0, 5, shape) * 2.0**-52).astype(kind)


def bits_of(a):
    return np.ascontiguousarray(a).tobytes()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("draw", [special, wide, close])
@pytest.mark.parametrize("descending", [False, True])
def test_bits_are_those_of_a_stable_order(kind, draw, descending):
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        array = draw(shape, kind, rng)
        for source, axis in ((array, -1), (array.T, 0), (array[::-1], 0)):
            with np.errstate(all="ignore"):
                turned = np.flip(source, axis) if descending else source
                values, order = np.sort(turned, axis, stable=True), np.argsort(turned, axis, stable=True)
            if descending:
                values, order = np.flip(values, axis), source.shape[axis] - 1 - np.flip(order, axis)
            x = tensix.from_numpy(source)
            assert bits_of(tensix.sort(x, axis=axis, descending=descending)) == bits_of(values), (shape, axis)
            found = np.asarray(tensix.argsort(x, axis=axis, descending=descending))
            assert found.shape == order.shape and (found == order).all(), (shape, axis)


@pytest.mark.parametrize("kind", ["f4", "f8", "i2", "i8", "c8"])
def test_threads_sort_the_same(kind):
    array = special((500, 300), kind, np.random.default_rng(1))
    before = tensix.get_num_threads()
    found = []
    for threads in (1, 3):
        tensix.set_num_threads(threads)
        x = tensix.from_numpy(array)
        found.append(bits_of(tensix.sort(x)) + bits_of(tensix.argsort(x, axis=0)))
    tensix.set_num_threads(before)
    assert found[0] == found[1]


def test_elements_that_change_meanwhile_are_never_written_outside():
    """What another thread writes is counted once or twice, and the result holds no more than it has space for."""
    x = tensix.zeros(200_000)
    done = threading.Event()

    def disturb():
        n = 0
        while not done.is_set():
            x.fill_((0.0, -0.0, float("nan"), 1.0)[n % 4])
            n += 1

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(20):
            assert tensix.sort(x).shape == x.shape
            order = tensix.argsort(x)
            assert int(order.min().item()) >= 0 and int(order.max().item()) < x.size
            assert len(tensix.nonzero(x)[0]) <= x.size
    finally:
        done.set()
        thread.join()


def test_layout_of_the_result():
    x = tensix.rand(30, 40)
    assert tensix.sort(x, axis=0).is_contiguous() and tensix.sort(x.T, axis=0).T.is_contiguous()


@pytest.mark.parametrize("count", [1, 8, 9, 500, 3000])
@pytest.mark.parametrize("kind", ["?", "i1", "u2", "i4", "u8", "f4", "f8", "c8"])
def test_isin_of_few_and_of_many(count, kind):
    rng = np.random.default_rng(2)
    for draw in (special, wide):
        with np.errstate(all="ignore"):
            x, y = draw((40, 30), kind, rng), draw((count,), kind, rng)
            expected = np.isin(x, y)
        assert (np.asarray(tensix.isin(tensix.from_numpy(x), tensix.from_numpy(y))) == expected).all()
        assert (np.asarray(tensix.isin(tensix.from_numpy(x), tensix.from_numpy(y), invert=True)) != expected).all()


@pytest.mark.parametrize("kind", ["?", "i1", "u2", "i4", "u8", "f4", "f8"])
def test_searchsorted_of_special_values(kind):
    rng = np.random.default_rng(3)
    for length in (0, 1, 7, 1000):
        x, y = np.sort(special((length,), kind, rng)), special((50, 3), kind, rng)
        for side in ("left", "right"):
            found = tensix.searchsorted(tensix.from_numpy(x), tensix.from_numpy(y), side=side)
            assert (np.asarray(found) == np.searchsorted(x, y, side)).all()
