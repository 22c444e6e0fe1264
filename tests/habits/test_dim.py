"""``dim`` and ``keepdim`` beside ``axis`` and ``keepdims``, and axes by position, in functions and methods."""

import numpy as np
import pytest

import tensix

X = tensix.from_numpy(np.random.default_rng(0).permutation(24).reshape(2, 3, 4).astype(np.float32))

# Functions that reduce, and those that keep their shape.
REDUCTIONS = ["all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var",
              "median"]  # fmt: skip
OTHERS = ["argsort", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff", "flip", "sort"]


def same(found, expected):
    np.testing.assert_array_equal(found.numpy(), expected.numpy(), strict=True)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    function, method = getattr(tensix, name), getattr(X, name)
    expected = function(X, axis=1, keepdims=True)
    for found in (
        function(X, dim=1, keepdim=True), function(X, dim=1, keepdims=True), method(axis=1, keepdims=True),
        method(dim=1, keepdim=True), method(1, keepdim=True), function(X, 1, keepdims=True),
    ):  # fmt: skip
        same(found, expected)
    same(method(-1), function(X, axis=-1))


@pytest.mark.parametrize("name", OTHERS)
def test_along_a_dimension(name):
    function, method = getattr(tensix, name), getattr(X, name)
    expected = function(X, axis=0)
    for found in (function(X, dim=0), method(axis=0), method(dim=0)):
        same(found, expected)
    if name != "diff":  # the number of times comes first
        same(function(X, 0), expected)
        same(method(0), expected)


@pytest.mark.parametrize("name", ["std", "var"])
def test_the_method_divides_as_the_function_does(name):
    """By the number of elements, however an axis is called: the standard and NumPy agree, PyTorch subtracts 1."""
    a = X.numpy()
    function, method = getattr(tensix, name), getattr(X, name)
    for found in (method(), method(axis=0), method(dim=0), function(X, dim=0)):
        axis = None if found.ndim == 0 else 0
        np.testing.assert_allclose(found.numpy(), getattr(np, name)(a, axis=axis), rtol=1e-5)


def test_functions_of_several_tensors():
    y = X + 1
    same(tensix.stack([X, y], dim=1), tensix.stack([X, y], axis=1))
    same(tensix.stack([X, y], 1), tensix.stack([X, y], axis=1))
    for concat in (tensix.concat, tensix.cat, tensix.concatenate):
        same(concat([X, y], dim=2), tensix.concat([X, y], axis=2))
        same(concat((X, y), 2), tensix.concat([X, y], axis=2))
        same(concat(tensors=[X, y], dim=0), tensix.concat([X, y]))


def test_several_dimensions():
    same(X.sum(dim=(0, 2)), tensix.sum(X, axis=(0, 2)))
    same(tensix.flip(X, dims=(0, 1)), tensix.flip(X, axis=(0, 1)))
    same(tensix.tensordot(X[0], X[0].T, dims=1), X[0] @ X[0].T)
    same(tensix.tensordot(X[0], X[0].T, 1), X[0] @ X[0].T)


def test_others():
    where = tensix.tensor([2, 0])
    same(tensix.take(X, where, 2), tensix.take(X, where, axis=2))
    same(X.take(where, dim=2), tensix.take(X, where, axis=2))
    same(tensix.linalg.vector_norm(X, dim=0, keepdim=True), tensix.linalg.vector_norm(X, axis=0, keepdims=True))
    same(tensix.fft.fft(X, dim=0), tensix.fft.fft(X, axis=0))
    same(tensix.fft.fftn(X, dim=(0, 1)), tensix.fft.fftn(X, axes=(0, 1)))
    same(X.std(ddof=1), tensix.std(X, correction=1))
    same(X.var(dim=0, unbiased=True), tensix.var(X, axis=0, correction=1))
    same(tensix.std(X, unbiased=False), tensix.std(X))
    assert [part.shape for part in tensix.split(X, 2, dim=2)] == [(2, 3, 2), (2, 3, 2)]


@pytest.mark.parametrize(("call", "text"), [
    (lambda: X.sum(0, dim=0), r"sum\(\) has 'axis' twice"),
    (lambda: tensix.sum(X, axis=0, dim=0), r"sum\(\) has 'axis' twice"),
    (lambda: X.max(0, True, False), r"max\(\) takes at most 2 positional arguments, found 3: max\(axis=None"),
        (lambda: tensix.ones(2, 2).flip(0, 1), r"Several dimensions are given as a tuple: axis=\(0, 1\)\.$"),
        (lambda: tensix.vstack([X], [X]), r"vstack\(\) takes at most 1 positional argument, found 2: vstack\(arrays"),
    (lambda: X.exp(dim=0), "dim"),
    (lambda: X.sum(dimension=0), "dimension"),
    (lambda: tensix.sum(), r"sum\(\) needs a tensor, found no arguments: sum\(x, /"),
])  # fmt: skip
def test_mistakes(call, text):
    with pytest.raises(TypeError, match=text):
        call()
