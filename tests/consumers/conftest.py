"""Tests with libraries that take any array of the standard; they run only when asked for by name.

So a missing library is an error of ``python -m pytest tests/consumers``, and no skip that looks like a pass elsewhere.
"""

import os

import numpy as np
import pytest

import tensix

os.environ["SCIPY_ARRAY_API"] = "1"  # read when SciPy is imported first


@pytest.fixture
def same_as_numpy():
    """Return a function that checks another: of tensors it gives tensors, with NumPy's values.

    Types may differ in width: what is made of no input, as ranks are, has the namespace's default type, here float32.
    """

    def check(function, *arrays, atol=1e-12):
        expected = leaves(function(*arrays))
        found = leaves(function(*[tensix.asarray(array) for array in arrays]))
        assert len(found) == len(expected) > 0
        for one, other in zip(found, expected, strict=True):
            assert isinstance(one, tensix.Tensor), type(one)
            assert one.dtype.kind == tensix.asarray(other).dtype.kind
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=atol)

    return check


def leaves(result):
    """Return what a result is made of, from left to right."""
    return [leaf for part in result for leaf in leaves(part)] if isinstance(result, tuple) else [result]
