"""That nothing warns: what is too large is infinite, what has no value not a number, by every kernel."""

import warnings

import numpy as np
import pytest

import tensix

inf, nan = float("inf"), float("nan")
half, brain = tensix.ones(3, dtype="float16"), tensix.ones(3, dtype="bfloat16")
large, larger = tensix.full((3, 3), 3e38), tensix.full((3, 3), 6e4, dtype="float16")
odd = tensix.tensor([inf, nan, 1.0])


def assigned(x, key, value):
    x = x.clone()
    x[key] = value
    return x


QUIET = {
    "number beside float16": lambda: half * 1e6,
    "number before float16": lambda: 1e6 - half,
    "number beside bfloat16": lambda: brain * 1e300,
    "comparison": lambda: half < 1e6,
    "where": lambda: tensix.where(half > 0, half, 1e6),
    "clip": lambda: tensix.clip(half, 0, 1e6),
    "in place": lambda: half.clone().__iadd__(1e6),
    "fill_": lambda: half.clone().fill_(1e6),
    "fill_ with a number of NumPy": lambda: tensix.ones(3).fill_(np.float64(1e300)),
    "fill_ with a complex number": lambda: tensix.ones(3, dtype="complex64").fill_(1e300 + 1j),
    "fill_ of integers": lambda: tensix.ones(3, dtype="int32").fill_(np.float32(nan)),
    "full": lambda: tensix.full((2,), 1e6, dtype="float16"),
    "assignment": lambda: assigned(half, 0, 1e6),
    "assignment of a list": lambda: assigned(half, slice(2), [1e6, 1.0]),
    "assignment to a mask": lambda: assigned(half, half > 0, 1e6),
    "tensor": lambda: tensix.tensor([1e300], dtype="float32"),
    "tensor of float16": lambda: tensix.tensor([1e6], dtype="float16"),
    "tensor of complex numbers": lambda: tensix.tensor([1e300j, 1]),
    "tensor of an array": lambda: tensix.tensor(np.array([1e300]), dtype="bfloat16"),
    "asarray": lambda: tensix.asarray([1e6], dtype="float16"),
    "astype to integers": lambda: tensix.astype(odd, "int32"),
    "astype to float16": lambda: tensix.astype(large, "float16"),
    "cumulative_sum": lambda: tensix.cumulative_sum(large, axis=0),
    "cumulative_sum in integers": lambda: tensix.cumulative_sum(odd, dtype="int32"),
    "diff": lambda: tensix.diff(tensix.tensor([inf, inf])),
    "isin": lambda: tensix.isin(half, 1e6),
    "linspace": lambda: tensix.linspace(0, inf, 3),
    "linspace in integers": lambda: tensix.linspace(0, inf, 3, dtype="int32"),
    "tensordot": lambda: tensix.tensordot(large, large, axes=1),
    "cross": lambda: tensix.linalg.cross(large, large),
    "det": lambda: tensix.linalg.det(odd.expand(3, 3)),
    "inv": lambda: tensix.linalg.inv(tensix.eye(2) * 1e-45),
    "matrix_norm": lambda: tensix.linalg.matrix_norm(large),
    "matrix_power": lambda: tensix.linalg.matrix_power(large, 3),
    "outer": lambda: tensix.linalg.outer(large[0], large[0]),
    "trace": lambda: tensix.linalg.trace(larger),
    "vector_norm": lambda: tensix.linalg.vector_norm(tensix.zeros(3), ord=-1),
    "fft": lambda: tensix.fft.fft(large),
    "fftfreq": lambda: tensix.fft.fftfreq(3, d=1e-320),
    "sparse sum": lambda: (larger.to_sparse() + larger.to_sparse()).to_dense(),
    "sparse product": lambda: large.to_sparse() @ large,
    "printing": lambda: repr((odd, large, brain * inf)),
}


@pytest.mark.parametrize("errors", ["warn", "raise"])
@pytest.mark.parametrize("call", QUIET.values(), ids=QUIET)
def test_nothing_warns(call, errors):
    with warnings.catch_warnings(), np.errstate(all=errors):
        warnings.simplefilter("error")
        call()


def test_settings_of_the_user_are_as_before():
    before = np.geterr()
    tensix.tensordot(large, large, axes=1)
    with pytest.raises(ValueError, match="mismatch"):
        tensix.linalg.solve(large, tensix.ones(2))
    assert np.geterr() == before


@pytest.mark.parametrize("dtype, number", [("float16", 65519.99), ("float16", 65520.0), ("float16", -3e-8),
                                           ("float16", 2049), ("bfloat16", 1e39), ("bfloat16", 257)])
def test_numbers_are_rounded_as_tensors_are(dtype, number):
    expected = tensix.astype(tensix.tensor(number, dtype="float64"), dtype).item()
    assert tensix.empty(2, dtype=dtype).fill_(number).tolist() == [expected] * 2
    assert tensix.empty(2, dtype=dtype).fill_(np.float64(number)).tolist() == [expected] * 2
    assert (tensix.ones(1, dtype=dtype) * number).tolist() == [expected]
