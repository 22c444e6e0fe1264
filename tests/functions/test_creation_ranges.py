"""Ranges, grids and triangles against NumPy's."""

import platform
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import Cython.Build
import numpy as np
import pytest
import setuptools
from hypothesis import given, settings
from hypothesis import strategies as st
from setuptools.command.build_ext import build_ext

import tensix

ends = st.floats(-100, 100, width=16)


def assert_like(x, array, dtype):
    assert (x.shape, str(x.dtype)) == (array.shape, dtype)
    np.testing.assert_allclose(np.asarray(x), array.astype(dtype), rtol=1e-6)


# ---- arange


@pytest.mark.parametrize("args", [(3,), (0,), (-3,), (1, 5), (5, 1), (5, 1, -2), (0, 10, 3), (True,), (np.int8(3),)])
def test_arange_of_integers(args):
    assert_like(tensix.arange(*args), np.arange(*args), "int64")


@settings(max_examples=50)
@given(ends, ends, st.floats(0.25, 8, width=16))
def test_arange_of_floats(start, stop, step):
    assert_like(tensix.arange(start, stop, step), np.arange(start, stop, step), "float32")


@given(ends, ends, st.floats(0.1, 8) | st.floats(-8, -0.1))
def test_arange_is_numpys_to_the_last_bit(start, stop, step):
    assert np.array_equal(np.asarray(tensix.arange(start, stop, step, dtype="float64")), np.arange(start, stop, step))


@pytest.mark.parametrize("args", [(0.0, 5e-324, 1e10), (0.0, -5e-324, 1e10), (2**53, 2**53 + 3, 1.0), (3, 3, 0.5)])
def test_arange_at_the_edge_of_what_floats_hold(args):
    assert np.array_equal(np.asarray(tensix.arange(*args, dtype="float64")), np.arange(*args))


@pytest.mark.parametrize("args", [(0, 1, 1e-300), (0, float("inf"), 1), (0, float("nan"), 1), (2**63 - 1, 2**63 + 2)])
def test_arange_whose_length_or_numbers_cannot_be_held(args):
    with pytest.raises((ValueError, OverflowError)):
        tensix.arange(*args)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "float64", "complex64"])
def test_arange_of_a_type(dtype):
    assert_like(tensix.arange(1, 6, 2, dtype=dtype), np.arange(1, 6, 2), dtype)


def test_arange_keeps_its_precision_to_the_end():
    """Adding up in float32 would not."""
    x = tensix.arange(0, 1000, 0.1)
    assert np.array_equal(np.asarray(x), (np.arange(10000) * 0.1).astype(np.float32))


@pytest.mark.parametrize("stop, dtype", [(2**63 - 1, None), (2**63, None), (2**63, "uint64"), (2**63, "int8"),
                                         (float(2**63), None), (2**63 - 1, "int32"), (10**400, None), (2**62, None)])
def test_arange_that_is_too_long(stop, dtype):
    with pytest.raises(ValueError, match=r"no tensor has so many|Storage size calculation overflowed"):
        tensix.arange(stop, dtype=dtype)


def test_ranges_for_which_there_is_no_memory():
    with pytest.raises(tensix.OutOfMemoryError, match="281,474,976,710,656 bytes"):
        tensix.arange(2**45)
    with pytest.raises(tensix.OutOfMemoryError, match="140,737,488,355,328 bytes"):
        tensix.linspace(0, 1, 2**45)


SETUP = Path(tensix.__file__).parents[1] / "setup.py"
OTHER_BUILD = """
import importlib.util, sys
class Finder:
    def find_spec(name, path, target=None):
        return importlib.util.spec_from_file_location(name, sys.argv[1]) if name == sys.argv[2] else None
class Finders(list):
    def insert(self, place, finder):  # behind the one above
        super().insert(place + 1, finder)
sys.meta_path = Finders([Finder, *sys.meta_path])
import numpy as np, tensix
assert sys.modules[sys.argv[2]].__file__ == sys.argv[1] != tensix.core.storage.__file__
for start, stop, step in [(0.1, 1000.0, 0.3), (-7.7, 90.0, 0.01), (1e-3, 5.0, 1 / 3), (3.3, -900.0, -0.7)]:
    x = tensix.arange(start, stop, step, dtype="float64")
    assert np.array_equal(np.asarray(x), np.arange(start, stop, step)), (start, stop, step)
"""


def has_fused_multiplication():
    """Whether -march=native lets the compiler round a product and a sum once."""
    info = Path("/proc/cpuinfo")
    return platform.machine() in ("arm64", "aarch64") or (info.exists() and " fma " in info.read_text())


@pytest.mark.skipif(not SETUP.exists() or sys.platform == "win32", reason="needs the sources, and GCC or Clang")
@pytest.mark.skipif(not has_fused_multiplication(), reason="this processor rounds twice in any case")
def test_arange_is_the_same_whatever_the_processor_can(tmp_path, monkeypatch):
    """Built for all that the processor has, and for the rest as setup.py says."""
    monkeypatch.chdir(SETUP.parent)
    with monkeypatch.context() as patched:
        patched.setenv("TENSIX_CFLAGS", "-march=native")
        names = runpy.run_path(str(SETUP), run_name="setup")
    (module,) = [module for module in names["modules"] if module.name.endswith("kernels.creation")]
    module.sources = [shutil.copy(SETUP.parent / module.sources[0], tmp_path)]
    # In a file of its own.
    module.define_macros = [(name, value) for name, value in module.define_macros if "pyinit" not in name.lower()]
    made = Cython.Build.cythonize(
        [module], include_path=[str(SETUP.parent)], compiler_directives=names["DIRECTIVES"], quiet=True
    )
    command = build_ext(setuptools.Distribution({"ext_modules": made}))
    command.build_lib = command.build_temp = str(tmp_path)
    command.ensure_finalized()
    command.run()
    arguments = [sys.executable, "-c", OTHER_BUILD, command.get_ext_fullpath(module.name), module.name]
    finished = subprocess.run(arguments, capture_output=True, text=True, timeout=100, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")


def test_arange_begins_with_what_it_is_given():
    assert np.signbit(np.asarray(tensix.arange(-0.0, 2.0))).tolist() == [True, False]
    assert tensix.arange(1, 2, float("inf")).tolist() == [1.0]


@pytest.mark.parametrize("args, error", [((0, 1, 0), ValueError), (("a",), TypeError), ((1j,), TypeError),
                                         ((2**62,), (ValueError, MemoryError)), ((), TypeError)])
def test_arange_that_cannot_be(args, error):
    with pytest.raises(error):
        tensix.arange(*args)


# ---- linspace


@settings(max_examples=50)
@given(ends, ends, st.integers(0, 20), st.booleans())
def test_linspace(start, stop, num, endpoint):
    x = tensix.linspace(start, stop, num, endpoint=endpoint)
    assert_like(x, np.linspace(start, stop, num, endpoint=endpoint), "float32")
    if num > 1:
        assert x[0].item() == start and (not endpoint or x[-1].item() == stop)


def test_linspace_of_types():
    assert tensix.linspace(0, 10, 3, dtype="int32").tolist() == [0, 5, 10]
    assert tensix.linspace(0, 1j, 3).tolist() == [0, 0.5j, 1j]
    assert tensix.linspace(0, 1, 3, dtype="float64").dtype is tensix.float64


@pytest.mark.parametrize("num, error", [(-1, ValueError), (2.5, TypeError), (None, TypeError),
                                        (2**63, ValueError), (2**64, ValueError), (2**62, ValueError)])
def test_linspace_that_cannot_be(num, error):
    with pytest.raises(error):
        tensix.linspace(0, 1, num)


# ---- matrices


@pytest.mark.parametrize("args", [(3,), (2, 4), (4, 2), (0,), (0, 3)])
@pytest.mark.parametrize("k", [0, 1, -1, 9, -9])
def test_eye(args, k):
    assert_like(tensix.eye(*args, k=k), np.eye(*args, k=k), "float32")
    assert tensix.eye(2, dtype=bool).tolist() == [[True, False], [False, True]]
    assert tensix.eye(2, k=2**63).tolist() == tensix.eye(2, k=-(2**80)).tolist() == [[0, 0], [0, 0]]


def test_eye_of_negative_size():
    with pytest.raises(ValueError):
        tensix.eye(-1)


@pytest.mark.parametrize("name", ["tril", "triu"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (2, 3, 3), (0, 3), (3, 0)])
@pytest.mark.parametrize("k", [0, 1, -2, 7])
def test_triangles(name, shape, k):
    array = np.arange(np.prod(shape), dtype="int16").reshape(shape) + 1
    assert_like(getattr(tensix, name)(tensix.from_numpy(array), k=k), getattr(np, name)(array, k=k), "int16")


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sizes", [(2,), (2, 3), (2, 3, 4), (0, 2)])
def test_meshgrid(indexing, sizes):
    arrays = [np.arange(n, dtype="int32") for n in sizes]
    found = tensix.meshgrid(*map(tensix.from_numpy, arrays), indexing=indexing)
    assert type(found) is tuple and not any(x.readonly for x in found)
    for x, array in zip(found, np.meshgrid(*arrays, indexing=indexing), strict=True):
        assert_like(x, array, "int32")


def test_meshgrid_of_nothing_and_of_nonsense():
    assert tensix.meshgrid() == ()
    with pytest.raises(ValueError, match="xy"):
        tensix.meshgrid(tensix.ones(2), indexing="yx")
    with pytest.raises(TypeError):
        tensix.meshgrid([1, 2])


def test_devices():
    for make in (lambda **o: tensix.arange(3, **o), lambda **o: tensix.linspace(0, 1, 3, **o),
                 lambda **o: tensix.eye(3, **o)):  # fmt: skip
        assert make(device="meta").shape[0] == 3 and str(make(device="meta").device) == "meta"
        assert str(make(device="cpu").device) == "cpu"
        with pytest.raises(NotImplementedError):
            make(device="cuda")


@pytest.mark.parametrize("device", ["meta", "cuda"])
def test_only_the_cpu_takes_memory_for_numbers(device):
    for make, shape in ((lambda: tensix.arange(2**45, device=device), (2**45,)),
                        (lambda: tensix.arange(0.0, -(2**45), -0.5, dtype="float16", device=device), (2**46,)),
                        (lambda: tensix.arange(0, 2**40, 2, dtype="int8", device=device), (2**39,)),
                        (lambda: tensix.linspace(0, 1, 2**45, device=device), (2**45,)),
                        (lambda: tensix.fft.rfftfreq(2**45, device=device), (2**44 + 1,))):  # fmt: skip
        if device == "meta":
            assert make().shape == shape and str(make().device) == "meta"
        else:
            with pytest.raises(NotImplementedError):
                make()


@pytest.mark.parametrize("args", [(3,), (-3,), (1.5, 5), (5, 1, -0.75), (0.0, 5e-324, 1e10), (True,), (2, 2.5, 1)])
def test_length_on_meta_is_that_on_the_cpu(args):
    x, y = tensix.arange(*args, device="meta"), tensix.arange(*args)
    assert (x.shape, x.dtype) == (y.shape, y.dtype)
