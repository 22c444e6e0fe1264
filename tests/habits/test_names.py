"""Names that NumPy and PyTorch have: they are here, or the error says what is."""

import builtins
import operator
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import tensix
from tensix.tensors import names_elsewhere

HERE = [
    "allclose", "array_equal", "cat", "clamp", "concatenate", "cumprod", "cumsum", "dot", "einsum", "hstack",
    "isclose", "median", "outer", "pad", "quantile", "randperm", "set_printoptions", "split", "unique", "vstack",
]  # fmt: skip


@pytest.mark.parametrize("name", HERE)
def test_names_that_are_here(name):
    assert callable(getattr(tensix, name)) and name in tensix.__all__


@pytest.mark.parametrize(("name", "text"), [
    ("array", "tensix has no `array`: `tensor` copies"),
    ("power", "tensix has no `power`: the standard calls it `pow`"),
    ("arctan2", "the standard calls it `atan2`"),
    ("topk", "argsort"), ("histogram", "searchsorted"), ("softmax", "exp"), ("bincount", "unique_counts"),
    ("nansum", "isnan"), ("nanmean", "isnan"), ("get_default_dtype", "float32"), ("set_default_dtype", "dtype="),
    ("range", r"arange\(start, stop \+ step, step\)"), ("spmm", "matmul"), ("dsmm", "matmul"), ("hsmm", "to_sparse"),
    ("saddmm", "x \\+ y @ z"), ("get_device", r"x\.device\.index"), ("addmm", "x \\+ y @ z"),
    ("random", "randn"), ("copy", r"x\.copy\(\)"),
    ("amax", "the standard calls it `max`"), ("double", "float64"),
    ("seed", "manual_seed"), ("normal", "randn"), ("partition", "sort"), ("fromfile", "from_file"), ("half", "float16"),
    ("loadtxt", "numpy.loadtxt"), ("savez", r"save\(.*\.npz"), ("det", r"linalg\.det"), ("t", r"x\.t\(\)"),
    ("shuffle", "randperm"), ("union1d", "concat"), ("cfloat", "complex64"), ("one_hot", "arange"), ("erf", "scipy"),
])  # fmt: skip
def test_functions_that_are_not(name, text):
    with pytest.raises(AttributeError, match=text):
        getattr(tensix, name)
    assert not hasattr(tensix, name)


def test_linear_algebra():
    with pytest.raises(AttributeError, match=r"tensix\.linalg has no `norm`: use `linalg\.vector_norm`"):
        _ = tensix.linalg.norm
    with pytest.raises(AttributeError, match=r"no `lstsq`: use `linalg\.pinv"):
        _ = tensix.linalg.lstsq
    with pytest.raises(AttributeError, match=r"module 'tensix\.linalg' has no attribute 'nothing_like_it'"):
        _ = tensix.linalg.nothing_like_it


@pytest.mark.parametrize(("name", "text"), [
    ("strides", r"x\.stride\(\)"), ("fill", r"x\.fill_"),
    ("get_device", r"x\.device"), ("resize", r"x\.resize_\(shape\)"), ("resize_as_", r"x\.resize_\(y\.shape\)"),
    ("power", r"x \*\* y"), ("requires_grad", "no gradients"), ("cuda", "to_device"), ("swapaxes", "transpose"),
    ("pow_", r"x\.pow\(y, out=x\)"), ("sin_", r"x\.sin\(out=x\)"), ("amax", r"x\.max"), ("svd", r"linalg\.svd"),
    ("mH", r"mT\.conj"), ("bfloat16", r"to\(tensix\.bfloat16\)"), ("moveaxis", "movedim"),
])  # fmt: skip
def test_attributes_of_tensors(name, text):
    x = tensix.ones(2)
    with pytest.raises(AttributeError, match=text) as caught:
        getattr(x, name)
    assert caught.value.name == name and caught.value.obj is x
    assert not hasattr(x, name) and getattr(tensix.Tensor, name, None) is None
    assert name not in dir(x)


def test_unknown_names_are_said_as_python_says_it():
    with pytest.raises(AttributeError, match="module 'tensix' has no attribute 'nothing_like_it'"):
        _ = tensix.nothing_like_it
    with pytest.raises(AttributeError, match="object has no attribute 'nothing_like_it'"):
        _ = tensix.ones(2).nothing_like_it


def test_no_advice_about_what_is_there():
    for name in {*names_elsewhere.STANDARD, *names_elsewhere.FUNCTIONS}:
        assert not hasattr(tensix, name), name
    for name in names_elsewhere.METHODS:
        assert not hasattr(tensix.Tensor, name), name
    for name in names_elsewhere.STANDARD.values():
        assert hasattr(tensix, name) or hasattr(tensix.linalg, name), name


def test_advice_can_be_followed():
    """Every name in it that is written as one of the namespace is one."""
    for text in {*names_elsewhere.FUNCTIONS.values(), *names_elsewhere.METHODS.values()}:
        for code in re.findall("`([^`]+)`", text):
            for name in re.findall(r"(?<![\w.])(?:tensix\.)?(linalg\.\w+|[a-z_0-9]+)\(", code):
                found = builtins if hasattr(builtins, name) and not hasattr(tensix, name) else tensix
                for part in name.split("."):
                    found = getattr(found, part)
            for name in re.findall(r"\bx\.(\w+)", code):
                assert hasattr(tensix.Tensor, name), text


def test_a_traceback_names_what_to_use():
    code = "import tensix; tensix.power(tensix.ones(2), 2)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "AttributeError: tensix has no `power`: the standard calls it `pow`." in done.stderr


@pytest.mark.parametrize(("module", "name", "nearest"), [
    (tensix, "onse", "ones"), (tensix, "armax", "argmax"), (tensix, "Tensr", "Tensor"), (tensix, "float33", "float32"),
    (tensix.linalg, "dett", "det"), (tensix.memory, "recrod", "record"), (tensix.core, "Storgae", "Storage"),
    (tensix.dispatch, "Dispatchkey", "DispatchKey"),
])  # fmt: skip
def test_a_misspelt_name_is_answered_by_the_nearest(module, name, nearest):
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert str(caught.value) == f"module {module.__name__!r} has no attribute {name!r}. Did you mean: {nearest!r}?"
    assert caught.value.name == name


def test_an_operator_that_is_not_declared_is_named():
    with pytest.raises(AttributeError) as caught:
        tensix.ops.tensix.matmull
    text = "no operator is called tensix::matmull; dir(tensix.ops.tensix) lists the operators. Did you mean: 'matmul'?"
    assert str(caught.value) == text


def test_a_namespace_without_operators_is_named():
    with pytest.raises(AttributeError) as caught:
        tensix.ops.nothing.add
    assert str(caught.value) == "no operator is declared in the namespace nothing; dir(tensix.ops) lists the namespaces"


@pytest.mark.parametrize("code", [
    "tensix.onse", "tensix.armax", "tensix.linalg.dett", "tensix.fft.ftt", "tensix.ones(2).summ()",
    "tensix.ones(2).shpae", "tensix.ops.tensix.matmull", "tensix.Storage(4).nbyts",
])  # fmt: skip
def test_a_traceback_suggests_a_name_once(code):
    """By the text of the error, or by CPython, which takes it from `dir` of the object that the error names."""
    done = subprocess.run([sys.executable, "-c", f"import tensix; {code}"], capture_output=True, text=True, check=False)
    assert done.stderr.count("Did you mean: '") == 1, done.stderr


def test_nothing_is_suggested_that_is_not_near():
    for name in ("xyzzy", "__wrapped__", "_onse"):
        with pytest.raises(AttributeError) as caught:
            getattr(tensix, name)
        assert "Did you mean" not in str(caught.value)


def test_who_only_asks_whether_a_name_is_there_does_not_pay():
    code = "import sys, tensix; print(hasattr(tensix, 'onse'), 'difflib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_an_error_with_a_suggestion_can_be_sent():
    with pytest.raises(AttributeError) as caught:
        _ = tensix.onse
    assert repr(caught.value) == f"AttributeError({str(caught.value)!r})"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_advice_computes_what_the_name_means():
    """Advice that is more than a name is compared with NumPy, which has the functions."""
    x = tensix.tensor([1.0, -2.0, 0.5, 4.0])
    y, a = x[:2], x.numpy()
    variables = {**{name: getattr(tensix, name) for name in tensix.__all__}, "x": x, "y": y, "tensix": tensix}
    for name, call in {
        "deg2rad": np.deg2rad, "rad2deg": np.rad2deg, "exp2": np.exp2, "cbrt": np.cbrt, "sinc": np.sinc,
        "isposinf": np.isposinf, "intersect1d": lambda a: np.intersect1d(a, a[:2]), "rsqrt": lambda a: a**-0.5,
        "setdiff1d": lambda a: np.setdiff1d(a, a[:2]), "union1d": lambda a: np.union1d(a, a[:2]),
        "nanprod": np.nanprod, "nanargmax": np.nanargmax, "logsumexp": lambda a: np.log(np.exp(a).sum()),
    }.items():  # fmt: skip
        (code,) = re.findall("`([^`]+)`", names_elsewhere.FUNCTIONS[name])[:1]
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(np.asarray(eval(code, variables)), call(a), rtol=1e-6, err_msg=name)
    (code,) = re.findall("`([^`]+)`", names_elsewhere.FUNCTIONS["kron"])[:1]
    variables |= {"x": x.reshape(2, 2), "y": tensix.ones(2, 3)}
    found = eval(code, variables).reshape(4, 6)
    np.testing.assert_allclose(found.numpy(), np.kron(variables["x"].numpy(), variables["y"].numpy()))
    for name in ("pow_", "remainder_", "sin_", "abs_"):
        z = tensix.tensor([1.0, 2.0])
        (code,) = re.findall("`([^`]+)`", names_elsewhere.METHODS[name])
        assert eval(code, {"x": z, "y": 2}) is z


@pytest.mark.parametrize(("name", "arguments"), [
    ("gcd", ([4, 6], [6, 9])), ("convolve", ([1.0, 2.0], [3.0, 4.0])), ("heaviside", ([0.0, 2.0], [0.5, 0.5])),
    ("nancumsum", ([1.0, float("nan")],)), ("unwrap", ([0.0, 6.0],)), ("i0", ([0.0, 1.0],)), ("frexp", ([3.0],)),
    ("linalg.cond", ([[1.0, 2.0], [3.0, 4.0]],)), ("fft.fft2", ([[1.0, 2.0], [3.0, 4.0]],)),
])  # fmt: skip
def test_functions_of_numpy_that_take_tensors(name, arguments):
    get = operator.attrgetter(name)
    with pytest.raises(AttributeError, match=rf"NumPy's takes tensors and returns them, so write `numpy\.{name}`\.$"):
        get(tensix)
    found = get(np)(*map(tensix.tensor, arguments))
    assert isinstance(found[0] if isinstance(found, tuple) else found, tensix.Tensor)
    np.testing.assert_allclose(np.asarray(found), get(np)(*arguments), rtol=1e-5)


def test_what_numpy_has_besides_is_no_advice():
    for name in ("printoptions", "object_", "ndindex_", "__config__", "save_npz"):
        with pytest.raises(AttributeError) as caught:
            getattr(tensix, name)
        assert "NumPy" not in str(caught.value)
    with pytest.raises(AttributeError, match=r"numpy\.testing\.assert_allclose` takes tensors"):
        _ = tensix.testing.assert_allclose


def test_the_names_of_linear_algebra_are_its_names():
    for name in names_elsewhere.LINEAR_ALGEBRA:
        assert name in tensix.linalg.__all__
