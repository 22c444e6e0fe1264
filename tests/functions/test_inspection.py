"""What the namespace says of itself, its constants, and that its functions have the standard's signatures."""

import importlib
import inspect
import math

import pytest

import tensix

INFO = tensix.__array_namespace_info__()


def test_capabilities():
    assert INFO.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert tensix.empty((1,) * 64).ndim == 64
    with pytest.raises(ValueError):
        tensix.empty((1,) * 65)


def test_devices():
    assert type(INFO.devices()) is tuple and INFO.default_device() in INFO.devices()
    assert INFO.default_device() == tensix.empty(1).device


def test_default_types_are_those_of_the_functions():
    for device in (None, "cpu", INFO.default_device()):
        found = INFO.default_dtypes(device=device)
        assert found["real floating"] is tensix.asarray(1.0).dtype is tensix.zeros(1).dtype
        assert found["complex floating"] is tensix.asarray(1j).dtype
        assert found["integral"] is tensix.asarray(1).dtype
        assert found["indexing"] is tensix.argsort(tensix.ones(1)).dtype


@pytest.mark.parametrize("kind, names", [
    ("bool", {"bool"}), ("signed integer", {"int8", "int16", "int32", "int64"}),
    ("unsigned integer", {"uint8", "uint16", "uint32", "uint64"}), ("real floating", {"float32", "float64"}),
    ("complex floating", {"complex64", "complex128"}), (("bool", "real floating"), {"bool", "float32", "float64"}),
])
def test_types_of_a_kind(kind, names):
    found = INFO.dtypes(kind=kind, device="cpu")
    assert set(found) == names and all(getattr(tensix, name) is dtype for name, dtype in found.items())


def test_all_types():
    assert len(INFO.dtypes()) == 13 and set(INFO.dtypes(kind=("numeric", "bool"))) == set(INFO.dtypes())
    with pytest.raises(ValueError, match="no kind"):
        INFO.dtypes(kind="float")
    with pytest.raises((RuntimeError, ValueError)):
        INFO.dtypes(device="nowhere")


def test_constants():
    assert (tensix.e, tensix.pi, tensix.inf, tensix.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(tensix.nan)


@pytest.mark.parametrize("name, signature", {
    "arange": "(start, /, stop=None, step=1, *, dtype=None, device=None, layout=None, pin_memory=None)",
    "asarray": "(obj, /, *, dtype=None, device=None, copy=None, immutable=False)",
    "astype": "(x, dtype, /, *, copy=True, device=None)",
    "eye": "(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None, layout=None, pin_memory=None)",
    "linspace": "(start, stop, /, num, *, dtype=None, device=None, endpoint=True, layout=None, pin_memory=None)",
    "meshgrid": "(*arrays, indexing='xy')",
    "full_like": "(x, /, fill_value, *, dtype=None, device=None, layout=None, pin_memory=None)",
    "take": "(x, indices, /, *, axis=None)",
    "concat": "(arrays, /, *, axis=0)",
    "reshape": "(x, /, shape, *, copy=None)",
    "roll": "(x, /, shift, *, axis=None)",
    "sort": "(x, /, *, axis=-1, descending=False, stable=True)",
    "searchsorted": "(x1, x2, /, *, side='left', sorter=None)",
    "where": "(condition, x1, x2, /)",
    "linalg.matrix_norm": "(x, /, *, keepdims=False, ord='fro')",
    "linalg.trace": "(x, /, *, offset=0, dtype=None)",
    "fft.fftn": "(x, /, *, s=None, axes=None, norm='backward')",
    "fft.fftfreq": "(n, /, *, d=1.0, dtype=None, device=None, layout=None, pin_memory=None)",
}.items())  # fmt: skip
def test_signatures(name, signature):
    function = tensix
    for part in name.split("."):
        function = getattr(function, part)
    found = inspect.signature(function)
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    assert str(inspect.Signature(bare)) == signature


def test_extensions_are_modules():
    assert tensix.linalg is importlib.import_module("tensix.linalg")
    assert tensix.fft is importlib.import_module("tensix.fft")
    results = [name for name in tensix.linalg.__all__ if name.endswith("Result")]
    assert len(tensix.linalg.__all__) == 25 + len(results) and len(tensix.fft.__all__) == 14
    for module in (tensix.linalg, tensix.fft):
        assert all(callable(getattr(module, name)) for name in module.__all__)
