"""Tensors as the data of xarray's arrays."""

import numpy as np
import pytest
import xarray

import tensix

NAMES = [
    "sum", "mean", "std", "var", "min", "max", "median", "prod", "count", "any", "all", "argmax", "argmin", "cumsum",
]  # fmt: skip
CALLS = {
    **{name: lambda d, name=name: getattr(d, name)("a") for name in NAMES},
    "quantile": lambda d: d.quantile([0.2, 0.5]),
    "quantile of the last": lambda d: d.quantile(0.5, "b"),
    "quantile of the first": lambda d: d.transpose(..., "a").quantile(0.5, "a"),
    "polyfit": lambda d: d.polyfit("b", 1, skipna=False).polyfit_coefficients,
    "sel": lambda d: d.sel(b=2),
    "isel": lambda d: d.isel(a=0),
    "add": lambda d: d * 2.5 + d,
    "where": lambda d: d.where(d > 3, 0),
    "T": lambda d: d.T,
    "concat": lambda d: xarray.concat([d, d], "a"),
    "stack": lambda d: d.stack(z=("a", "b")),
    "roll": lambda d: d.roll(a=1),
    "groupby": lambda d: d.groupby("b").mean(),
    "coarsen": lambda d: d.coarsen(b=2).mean(),
    "diff": lambda d: d.diff("a"),
    "dot": lambda d: xarray.dot(d, d),
    "astype": lambda d: d.astype("f4"),
    "clip": lambda d: d.clip(1, 5),
    "isnull": lambda d: d.isnull(),
    "sortby": lambda d: d.sortby("b", ascending=False),
    "sin": lambda d: np.sin(d),
    "chunk": lambda d: d.chunk({"a": 1}).std().compute(),
    "copy": lambda d: d.copy(),
}


def tensors_and_arrays():
    array = np.arange(12.0).reshape(3, 4)
    return [
        xarray.DataArray(data, dims=("a", "b"), coords={"b": [1, 2, 3, 4]})
        for data in (tensix.from_numpy(array), array)
    ]


@pytest.mark.parametrize("name", CALLS)
def test_data_stay_tensors(name):
    found, expected = map(CALLS[name], tensors_and_arrays())
    assert isinstance(found.data, tensix.Tensor)
    assert found.dtype == expected.dtype
    assert found.dims == expected.dims
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), atol=1e-12)


@pytest.mark.parametrize("call", [
    lambda d: d.rolling(a=2).mean(), lambda d: d.differentiate("b"), lambda d: d.shift(a=1), lambda d: d.where(d > 3),
])  # fmt: skip
def test_calls_that_need_arrays_of_numpy(call):
    """xarray implements these with functions and types that are not in the array API standard."""
    tensors, arrays = tensors_and_arrays()
    np.testing.assert_array_equal(call(tensors.as_numpy()), call(arrays))
