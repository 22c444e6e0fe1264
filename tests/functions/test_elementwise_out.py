"""Writing to a tensor: `out=`, and the operators that write to their first operand."""

import inspect
import operator

import numpy as np
import pytest

import tensix
from tensix.kernels import elementwise

FUNCTIONS = {
    name: function for name in tensix.__all__
    if inspect.isroutine(function := getattr(tensix, name)) and "out" in inspect.signature(function).parameters
    and name in elementwise.__all__
}  # fmt: skip
ARITHMETIC = {
    "add": operator.iadd, "sub": operator.isub, "mul": operator.imul, "truediv": operator.itruediv,
    "floordiv": operator.ifloordiv, "mod": operator.imod, "pow": operator.ipow,
}  # fmt: skip
BITS = {
    "and": operator.iand, "or": operator.ior, "xor": operator.ixor, "lshift": operator.ilshift,
    "rshift": operator.irshift,
}  # fmt: skip
IN_PLACE = ARITHMETIC | BITS
each_in_place = pytest.mark.parametrize("name", IN_PLACE)


def plain(name):
    """Return the operator that makes a new tensor."""
    return getattr(operator, f"__{name}__")


def operands(function, count=6):
    """Return arguments that a function is defined for."""
    is_bitwise = function.__name__.startswith("bitwise")
    dtype = tensix.int64 if is_bitwise else tensix.float32
    first = tensix.tensor(np.arange(1, count + 1) / (1 if is_bitwise else count + 1), dtype=dtype)
    second = tensix.tensor([1] * count, dtype=dtype)
    return (first, second) if "x2" in inspect.signature(function).parameters else (first,)


def equal(a, b):
    """Compare; NumPy's loops over other strides may round another way."""
    np.testing.assert_allclose(np.array(a.tolist()), np.array(b.tolist()), rtol=1e-6)
    return a.dtype is b.dtype and a.shape == b.shape


# ---- out


@pytest.mark.parametrize("name", FUNCTIONS)
def test_out(name):
    function = FUNCTIONS[name]
    args = operands(function)
    wanted = function(*args)
    before = [x.tolist() for x in args]
    for out in (tensix.empty(6, dtype=wanted.dtype), tensix.empty(12, dtype=wanted.dtype)[::-2]):
        assert function(*args, out=out) is out and equal(out, wanted)
    assert [x.tolist() for x in args] == before
    meta = [tensix.empty(6, dtype=x.dtype, device="meta") for x in args]
    out = tensix.empty(6, dtype=wanted.dtype, device="meta")
    assert function(*meta, out=out) is out
    with pytest.raises(ValueError, match=r"output with shape \(2, 3\) doesn't match the broadcast shape \(6,\)"):
        function(*args, out=tensix.empty(2, 3, dtype=wanted.dtype))
    with pytest.raises(RuntimeError, match="same device"):
        function(*args, out=out)
    for wrong in (1, np.empty(6), [0]):
        with pytest.raises(TypeError, match="out must be a tensor"):
            function(*args, out=wrong)
    if len(args) == 2:
        number = args[1][0].item()
        assert equal(function(args[0], number, out=tensix.empty(6, dtype=wanted.dtype)), wanted)
        assert equal(function(number, args[0], out=tensix.empty(6, dtype=wanted.dtype)), function(number, args[0]))


def test_table_of_out():
    x = tensix.ones(2)
    out = tensix.empty(2)
    assert tensix.ops.tensix.add(x, x, out=out) is out and out.tolist() == [2, 2]
    assert tensix.ops.tensix.add(x, x, alpha=3, out=out).tolist() == [4, 4]
    assert tensix.ops.tensix.add.out(x, x, alpha=1, out=x) is x and x.tolist() == [2, 2]
    with pytest.raises(TypeError, match="'out' is missing"):
        tensix.ops.tensix.sqrt.out(x)


@pytest.mark.parametrize("result, output, fits", [
    ("int64", "uint8", True), ("int64", "float32", True), ("float64", "float16", True), ("float32", "bfloat16", True),
    ("bfloat16", "float32", True), ("bool", "int8", True), ("float32", "complex64", True), ("float32", "int64", False),
    ("complex64", "float64", False), ("int8", "bool", False), ("float32", "bool", False), ("uint64", "int8", True),
])
def test_types_of_outputs(result, output, fits):
    x, out = tensix.full((2,), 1, dtype=result), tensix.zeros(2, dtype=output)
    if fits:
        for made in (tensix.maximum(x, x, out=out), out):
            assert made is out and made.tolist() == [1, 1] and made.dtype.name == output
        return
    with pytest.raises(TypeError, match=f"result type {result} can't be cast to the desired output type {output}"):
        tensix.maximum(x, x, out=out)
    with pytest.raises(TypeError, match="can't be cast"):
        out *= x
    assert out.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int16"])
@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 2, 7])
@pytest.mark.parametrize("out_step, step", [(1, 1), (1, -1), (-1, 1), (2, 1), (1, 2), (-2, -2)])
def test_overlap(dtype, shift, out_step, step):
    """The result is as if the operands had been copied first."""
    room = tensix.tensor(np.arange(60), dtype=dtype)
    start = 20
    x = room[start : start + 8 * abs(step)][::step][:8]
    out = room[start + shift : start + shift + 8 * abs(out_step)][::out_step][:8]
    wanted = x.clone() + x[2].clone()
    untouched = room.clone()
    assert equal(tensix.add(x, x[2], out=out), wanted)
    where = tensix.tensor(np.arange(60))[start + shift : start + shift + 8 * abs(out_step)][::out_step][:8].tolist()
    assert all(room[i].item() == untouched[i].item() for i in range(60) if i not in where)


def test_overlap_of_other_kinds():
    x = tensix.tensor(np.arange(9.0).reshape(3, 3))
    wanted = x.clone() + x.T.clone()
    x += x.T
    assert equal(x, wanted)
    wanted = x.clone() - x[0].clone()
    x -= x[0]  # broadcast over what is written
    assert equal(x, wanted)
    bits = x.view("float32")[:, ::2]
    wanted = tensix.sqrt(bits.clone())
    assert equal(tensix.sqrt(bits, out=x.view("float32")[:, 1::2]), wanted)


# ---- what is not written


@pytest.fixture
def refusals():
    """Yield tensors that cannot be written to, and the words of the refusal."""
    frozen = np.ones((2, 3), np.float32)
    frozen.flags.writeable = False
    return [
        (tensix.from_numpy(frozen), "read-only"), (tensix.ones(3).expand(2, 3), "single memory location"),
        (tensix.ones(4).as_strided((2, 3), (1, 1)), "single memory location"),
    ]  # fmt: skip


def test_outputs_that_cannot_be_written(refusals):
    for out, words in refusals:
        for write in (
            lambda out=out: tensix.sqrt(out, out=out), lambda out=out: tensix.add(out, 1, out=out),
            lambda out=out: operator.iadd(out, 1), lambda out=out: out.mul_(2.0),
            lambda out=out: operator.imul(out, True),
        ):  # fmt: skip
            with pytest.raises(RuntimeError, match=words):
                write()
        assert (out == 1).tolist() == [[True] * 3] * 2


def test_undefined():
    x, null = tensix.ones(0), tensix.Tensor()
    for call in (
        lambda: tensix.sqrt(x, out=null), lambda: tensix.sqrt(null, out=x), lambda: tensix.add(x, null, out=x),
        lambda: operator.iadd(null, null), lambda: operator.iadd(null, 1), lambda: operator.iadd(x, null),
        lambda: operator.add(null, 1), lambda: null < x, lambda: null == null,
    ):  # fmt: skip
        with pytest.raises((RuntimeError, TypeError, ValueError)):
            call()
    assert x.tolist() == []


def test_copy_on_write():
    x = tensix.ones(3)
    lazy = x.lazy_clone()
    lazy += x
    assert (x.tolist(), lazy.tolist()) == ([1] * 3, [2] * 3)
    lazy = x.lazy_clone()
    assert tensix.negative(x, out=lazy).tolist() == [-1] * 3 and x.tolist() == [1] * 3
    lazy = x.lazy_clone()
    with pytest.raises(ValueError):
        lazy += tensix.ones(2, 3)
    assert lazy.is_cow()


# ---- in place


@pytest.mark.parametrize("name, dtype", [
    (name, dtype)
    for dtype in ("int8", "uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64")
    for name in IN_PLACE
    if not (("int" not in dtype and name in BITS) or (dtype == "complex64" and name in ("floordiv", "mod")))
])  # fmt: skip
def test_in_place(name, dtype):
    kind = tensix.ones(1, dtype=dtype).dtype.kind
    for other in (2, tensix.tensor([1, 2, 3], dtype=dtype), tensix.tensor([[1], [2]], dtype=dtype)):
        x = tensix.tensor([[5, 6, 7], [8, 9, 4]], dtype=dtype)
        view, address = x[:], x.data_ptr()
        if name == "truediv" and kind in "iu":
            with pytest.raises(TypeError, match="result type float32 can't be cast"):
                IN_PLACE[name](x, other)
            continue
        wanted = plain(name)(x, other)
        assert IN_PLACE[name](x, other) is x and equal(x, wanted)
        assert x.data_ptr() == address and equal(view, wanted)


@each_in_place
def test_in_place_keeps_shape_and_type(name):
    x = tensix.tensor([4, 6], dtype="int8")
    for other in (tensix.ones(2, 2, dtype="int8"), tensix.ones(3, dtype="int8"), tensix.ones(0, dtype="int8")):
        with pytest.raises((ValueError, TypeError)):
            IN_PLACE[name](x, other)
    for other in (None, "1", [1, 2], np.ones(2), object()):
        with pytest.raises(TypeError):
            IN_PLACE[name](x, other)
    with pytest.raises(OverflowError):
        IN_PLACE[name](x, 1000)
    assert x.tolist() == [4, 6]
    if name != "truediv":
        wanted = plain(name)(x, tensix.tensor([1, 2], dtype="int64"))
        assert IN_PLACE[name](x, tensix.tensor([1, 2])).tolist() == wanted.tolist() and x.dtype is tensix.int8


def test_in_place_product_of_matrices():
    x = tensix.tensor([[1.0, 2.0], [3.0, 4.0]])
    same, wanted = x, x @ x.T
    x @= x.T
    assert x is same and equal(x, wanted)
    for other, error in ((tensix.ones(2, 3), ValueError), (tensix.ones(2), ValueError), (2, TypeError)):
        with pytest.raises(error):
            x @= other
    whole = tensix.ones(2, 2, dtype="int64")
    with pytest.raises(TypeError, match="result type float32 can't be cast to the desired output type int64"):
        whole @= x
    assert equal(x, wanted)


def test_methods():
    x = tensix.tensor([1.0, 2.0])
    assert x.add_(tensix.tensor([1.0, 1.0]), alpha=3) is x and x.tolist() == [4, 5]
    assert x.sub_(2, alpha=0.5).tolist() == [3, 4] and x.mul_(2).div_(x).tolist() == [1, 1]
    assert x.add_(1).tolist() == [2, 2] and x.sub_(x).tolist() == [0, 0]
    for wrong in (None, "1", [1, 2]):
        for method in (x.add_, x.sub_, x.mul_, x.div_):
            with pytest.raises(TypeError, match="takes a tensor or a number"):
                method(wrong)
    for alpha in (1.5, 1j):
        with pytest.raises(TypeError, match="higher kind"):
            tensix.tensor([1]).add_(1, alpha=alpha)
    with pytest.raises(TypeError):
        x.add_(1, alpha="2")
    with pytest.raises(TypeError, match="takes a tensor or a number"):
        x.add_("1", alpha=2)
    assert tensix.ops.tensix.sub(tensix.tensor([5]), tensix.tensor([1]), alpha=2).tolist() == [3]
