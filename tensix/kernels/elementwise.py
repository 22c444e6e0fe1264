"""The array API standard's elementwise functions, declared once each: signature, docstring and kernel.

Note [Elementwise functions]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Of two operands one may be a number of Python: it takes the other's element type, unless its kind is higher. Shapes are
broadcast. A function that is defined for real and complex numbers only takes integers and bools in the default floating
type.

Beside the standard each takes `out`, a tensor of the result's shape to write to and return. The result's kind (bool,
integer, real, complex) must not be above that of `out`; within a kind it is converted. `out` may overlap the operands:
the result is as if they had been copied first.

To add one, write it down here with `elementwise`, which makes the operators, their kernels and the function of it, and
name it in ``__all__``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tensix.dispatch import native_functions
from tensix.dispatch.annotations import Operand
from tensix.dispatch.tensor_function import alias, operator
from tensix.kernels.meta import MetaUfuncKernel
from tensix.loops.ufunc import (
    ARRAY_EQUAL, ClipKernel, CopyingOutKernel, IdentityKernel, OutKernel, PowerKernel, UfuncKernel,
)
from tensix.tensors import promotion
from tensix.tensors.dtype import float32, float64

if TYPE_CHECKING:
    from tensix._tensor import Tensor

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clamp", "clip", "conj",
    "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal",
    "hypot", "imag", "isclose", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log10", "log1p", "log2",
    "logaddexp", "logical_and", "logical_nor", "logical_not", "logical_or", "logical_xor", "maximum", "minimum",
    "multiply", "negative", "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round",
    "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
]  # fmt: skip

Declaration = TypeVar("Declaration", bound=Callable[..., Any])

SCHEMA_TYPES = {"complex": "Scalar", "float": "float", "int": "int", "bool": "bool"}


def elementwise(
    ufunc: Any = None, *, operator_name: str | None = None, promotes: bool = False, integers: Any = None,
    kernel: type[UfuncKernel] = UfuncKernel, in_place: bool = False, alpha: bool = False, method: bool = True,
) -> Callable[[Declaration], Declaration]:  # fmt: skip
    """Make an elementwise function of its declaration, a function of one tensor or two and options by name.

    Parameters
    ----------
    ufunc : numpy.ufunc, optional
        Whose loops compute. If not given, the declaration's body does, made of other functions.
    operator_name : str, optional
        The operator's name; that of the function if not given.
    promotes : bool, optional
        Whether a ufunc's loops for real and complex numbers alone are taken, and integers and bools converted.
    integers : numpy.ufunc, optional
        Whose loops serve integers instead.
    kernel : type, optional
        The kernel of a ufunc.
    in_place : bool, optional
        Whether there is a variant that writes to the first operand, which an operator sign such as ``+=`` calls.
    alpha : bool, optional
        Whether the operators, though not the function, take a factor of the second operand, as PyTorch's do.
    method : bool, optional
        Whether tensors have it as a method, too. See Note [Functions as methods].

    Returns
    -------
    callable
        For the declaration. See Note [Functions as methods].
    """

    def make(declaration):
        code, name = declaration.__code__, operator_name or declaration.__name__
        inputs, names = code.co_posonlyargcount, code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        defaults, own = declaration.__kwdefaults__, [option for option in names[inputs:] if option != "out"]
        types = [SCHEMA_TYPES[declaration.__annotations__[option]] for option in own]
        rest = [f"{kind} {o}={defaults[o]!r}" for kind, o in zip(types, own, strict=True)] + ["Scalar alpha=1"][:alpha]
        second, overload = (", Tensor other", ".Tensor") if inputs == 2 else ("", "")
        named = "".join([", *" if rest else "", *[f", {option}" for option in rest]])
        table = native_functions.define(f"{name}{overload}(Tensor self{second}{named}) -> Tensor")
        named_out = "".join(f", {option}" for option in [*rest, "Tensor(a!) out"])
        out = native_functions.define(f"{name}.out(Tensor self{second}, *{named_out}) -> Tensor(a!)")
        to_self = None
        if in_place:
            to_self = native_functions.define(f"{name}_{overload}(Tensor(a!) self{second}{named}) -> Tensor(a!)")
        register(declaration, table, out, to_self)
        return operator(table, out=out, in_place=to_self, method=method)(declaration)

    def register(declaration, table, out, to_self):
        if ufunc is None:
            table.register("CompositeImplicitAutograd", declaration)
            out.register("CompositeImplicitAutograd", CopyingOutKernel(table))
        else:
            rules = kernel(table.schema.name, ufunc, integers=integers, promotes=promotes, alpha=alpha)
            table.register("CPU", rules)
            table.register("Meta", MetaUfuncKernel(rules))
            for variant in (out, to_self):
                if variant is not None:
                    writer = OutKernel(rules, in_place=variant is to_self)
                    variant.register("CPU", writer)
                    variant.register("Meta", writer)  # it knows of meta itself

    return make


# ---- arithmetic


@elementwise(np.absolute)
def abs(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the absolute value of each element; of complex numbers a real tensor.

    Examples
    --------
    >>> tensix.abs(tensix.tensor([-2, 3]))
    tensor([2, 3])
    """


@elementwise(np.add, in_place=True, alpha=True)
def add(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the sum of each pair of elements.

    Parameters
    ----------
    x1, x2 : Tensor or number
        The operands, one of them a tensor at least.
    out : Tensor, optional
        Where the result is written, as described in Note [Elementwise functions]; a new tensor if not given.

    Returns
    -------
    Tensor
        Of the operands' common element type and shape; `out`, if that is given.

    Raises
    ------
    TypeError
        If the element types have none in common, or that of the result cannot be converted to that of `out`.
    ValueError
        If the shapes cannot be broadcast together, or `out` has another one than the result.
    RuntimeError
        If `out` is read-only, or several of its elements lie at the same place.

    Examples
    --------
    >>> tensix.add(tensix.tensor([1, 2]), 10)
    tensor([11, 12])
    """


@elementwise(np.subtract, operator_name="sub", in_place=True, alpha=True)
def subtract(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the difference of each pair of elements; parameters as for `add`.

    Examples
    --------
    >>> tensix.subtract(10, tensix.tensor([1, 2]))
    tensor([9, 8])
    """


@elementwise(np.multiply, operator_name="mul", in_place=True)
def multiply(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the product of each pair of elements; parameters as for `add`.

    Examples
    --------
    >>> tensix.multiply(tensix.tensor([1.5, 2.0]), 2)
    tensor([3., 4.])
    """


@elementwise(np.divide, operator_name="div", promotes=True, in_place=True)
def divide(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the quotient of each pair of elements, a real or complex number; parameters as for `add`.

    Examples
    --------
    >>> tensix.divide(tensix.tensor([1, 2]), 4)
    tensor([0.25, 0.50])
    """


@elementwise(np.floor_divide, in_place=True)
def floor_divide(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the quotient of each pair of elements, rounded down.

    Infinite operands give what the rounded quotient gives, as the standard has it and NumPy has not. An integer
    divided by zero is 0. It takes parameters as for `add`.

    Examples
    --------
    >>> tensix.floor_divide(tensix.tensor([7, -7]), 2)
    tensor([ 3, -4])
    """


@elementwise(np.remainder, in_place=True)
def remainder(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return what each division rounded down leaves, of the divisor's sign; of integers by zero 0.

    It takes parameters as for `add`.

    Examples
    --------
    >>> tensix.remainder(tensix.tensor([7, -7]), 4)
    tensor([3, 1])
    """


@elementwise(np.power, kernel=PowerKernel, in_place=True)
def pow(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the first element of each pair to the power of the second; parameters as for `add`.

    Raises
    ------
    ValueError
        If an integer is raised to a negative integer power.

    Examples
    --------
    >>> tensix.pow(tensix.tensor([2, 3]), 2)
    tensor([4, 9])
    """


@elementwise(np.negative, operator_name="neg")
def negative(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return each element times -1.

    Examples
    --------
    >>> tensix.negative(tensix.tensor([1, -2]))
    tensor([-1,  2])
    """


@elementwise(np.positive, kernel=IdentityKernel)
def positive(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return each element unchanged; from 64 KiB on a lazy clone, which is copied when one of the two is written to.

    Examples
    --------
    >>> tensix.positive(tensix.tensor([1, -2]))
    tensor([ 1, -2])
    """


@elementwise(np.reciprocal, promotes=True)
def reciprocal(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return 1 divided by each element, a real or complex number.

    Examples
    --------
    >>> tensix.reciprocal(tensix.tensor([2.0, 4.0]))
    tensor([0.50, 0.25])
    """


@elementwise(np.sign)
def sign(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return -1, 0 or 1 for each element; of complex numbers the direction from zero.

    Examples
    --------
    >>> tensix.sign(tensix.tensor([-2.5, 0.0, 3.0]))
    tensor([-1.,  0.,  1.])
    """


@elementwise(np.square)
def square(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return each element times itself.

    Examples
    --------
    >>> tensix.square(tensix.tensor([2, 3]))
    tensor([4, 9])
    """


@elementwise(np.sqrt, promotes=True)
def sqrt(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the square root of each element; of negative real numbers not a number.

    Examples
    --------
    >>> tensix.sqrt(tensix.tensor([4.0, 9.0]))
    tensor([2., 3.])
    """


@elementwise(np.hypot, promotes=True)
def hypot(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the length of the hypotenuse for each pair of legs; parameters as for `add`.

    Examples
    --------
    >>> tensix.hypot(tensix.tensor([3.0]), 4.0)
    tensor([5.])
    """


# ---- exponentials and logarithms


@elementwise(np.exp, promotes=True)
def exp(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return e to the power of each element.

    Examples
    --------
    >>> tensix.exp(tensix.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """


@elementwise(np.expm1, promotes=True)
def expm1(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return e to the power of each element, minus 1, precise near zero.

    Complex numbers with infinite parts give what the standard says, where NumPy leaves it to the C library.

    Examples
    --------
    >>> tensix.expm1(tensix.tensor([0.0, 1e-5]))
    tensor([0.e+00, 1.e-05])
    """


@elementwise(np.log, promotes=True)
def log(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the natural logarithm of each element.

    Examples
    --------
    >>> tensix.log(tensix.tensor([1.0, float("inf")]))
    tensor([ 0., inf])
    """


@elementwise(np.log1p, promotes=True)
def log1p(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the natural logarithm of 1 plus each element, precise near zero.

    Examples
    --------
    >>> tensix.log1p(tensix.tensor([0.0, 1e-5]))
    tensor([0.0000e+00, 9.9999e-06])
    """


@elementwise(np.log2, promotes=True)
def log2(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the logarithm of each element to base 2.

    Examples
    --------
    >>> tensix.log2(tensix.tensor([1.0, 8.0]))
    tensor([0., 3.])
    """


@elementwise(np.log10, promotes=True)
def log10(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the logarithm of each element to base 10.

    Examples
    --------
    >>> tensix.log10(tensix.tensor([1.0, 100.0]))
    tensor([0., 2.])
    """


@elementwise(np.logaddexp, promotes=True)
def logaddexp(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the logarithm of the sum of the exponentials of each pair, without overflow.

    The error is half a unit in the last place in float32, and in float64 one and a half of the largest of operands and
    result, as NumPy's is. It takes parameters as for `add`.

    Examples
    --------
    >>> tensix.logaddexp(tensix.tensor([1000.0]), 1000.0)
    tensor([1000.6932])
    """


# ---- trigonometric and hyperbolic functions


@elementwise(np.arccos, promotes=True)
def acos(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the angle whose cosine each element is.

    Examples
    --------
    >>> tensix.acos(tensix.tensor([1.0, 0.0]))
    tensor([0.0000, 1.5708])
    """


@elementwise(np.arccosh, promotes=True)
def acosh(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the number whose hyperbolic cosine each element is.

    Examples
    --------
    >>> tensix.acosh(tensix.tensor([1.0]))
    tensor([0.])
    """


@elementwise(np.arcsin, promotes=True)
def asin(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the angle whose sine each element is.

    Examples
    --------
    >>> tensix.asin(tensix.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5708])
    """


@elementwise(np.arcsinh, promotes=True)
def asinh(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the number whose hyperbolic sine each element is.

    Examples
    --------
    >>> tensix.asinh(tensix.tensor([0.0]))
    tensor([0.])
    """


@elementwise(np.arctan, promotes=True)
def atan(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the angle whose tangent each element is.

    Examples
    --------
    >>> tensix.atan(tensix.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
    """


@elementwise(np.arctan2, promotes=True)
def atan2(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the angle of each point (x2, x1) with the positive x axis; parameters as for `add`.

    Examples
    --------
    >>> tensix.atan2(tensix.tensor([0.0, 1.0]), 1.0)
    tensor([0.0000, 0.7854])
    """


@elementwise(np.arctanh, promotes=True)
def atanh(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the number whose hyperbolic tangent each element is.

    Examples
    --------
    >>> tensix.atanh(tensix.tensor([0.0, 0.5]))
    tensor([0.0000, 0.5493])
    """


@elementwise(np.cos, promotes=True)
def cos(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the cosine of each angle in radians.

    Examples
    --------
    >>> tensix.cos(tensix.tensor([0.0]))
    tensor([1.])
    """


@elementwise(np.cosh, promotes=True)
def cosh(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the hyperbolic cosine of each element.

    Examples
    --------
    >>> tensix.cosh(tensix.tensor([0.0]))
    tensor([1.])
    """


@elementwise(np.sin, promotes=True)
def sin(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the sine of each angle in radians.

    Examples
    --------
    >>> tensix.sin(tensix.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])
    """


@elementwise(np.sinh, promotes=True)
def sinh(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the hyperbolic sine of each element.

    Examples
    --------
    >>> tensix.sinh(tensix.tensor([0.0]))
    tensor([0.])
    """


@elementwise(np.tan, promotes=True)
def tan(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the tangent of each angle in radians.

    Examples
    --------
    >>> tensix.tan(tensix.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5574])
    """


@elementwise(np.tanh, promotes=True)
def tanh(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the hyperbolic tangent of each element.

    The imaginary part of the result for an infinite real part is zero with the sign that the standard says.

    Examples
    --------
    >>> tensix.tanh(tensix.tensor([0.0, float("inf")]))
    tensor([0., 1.])
    """


# ---- comparisons and bounds


@elementwise(np.equal, method=False)  # PyTorch's returns one bool
def equal(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether the elements of each pair are equal; parameters as for `add`.

    Examples
    --------
    >>> tensix.equal(tensix.tensor([1, 2]), 2)
    tensor([False,  True])
    """


@elementwise(np.not_equal)
def not_equal(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether the elements of each pair differ; parameters as for `add`.

    Examples
    --------
    >>> tensix.not_equal(tensix.tensor([1, 2]), 2)
    tensor([ True, False])
    """


@elementwise(np.less)
def less(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether the first element of each pair is the smaller one; parameters as for `add`.

    Examples
    --------
    >>> tensix.less(tensix.tensor([1, 2]), 2)
    tensor([ True, False])
    """


@elementwise(np.less_equal)
def less_equal(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether the first element of each pair is not above the second; parameters as for `add`.

    Examples
    --------
    >>> tensix.less_equal(tensix.tensor([1, 2]), 1)
    tensor([ True, False])
    """


@elementwise(np.greater)
def greater(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether the first element of each pair is the larger one; parameters as for `add`.

    Examples
    --------
    >>> tensix.greater(tensix.tensor([1, 2]), 1)
    tensor([False,  True])
    """


@elementwise(np.greater_equal)
def greater_equal(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether the first element of each pair is not below the second; parameters as for `add`.

    Examples
    --------
    >>> tensix.greater_equal(tensix.tensor([1, 2]), 2)
    tensor([False,  True])
    """


@elementwise()
def isclose(
    x1: Operand, x2: Operand, /, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return whether the elements of each pair differ by no more than ``atol + rtol * abs(x2)``.

    Parameters
    ----------
    x1, x2 : Tensor or number
        The operands, one of them a tensor at least; the second is the measure.
    rtol, atol : float, optional
        How far the first may be away: in parts of the second, and beside that.
    equal_nan : bool, optional
        Whether two that are not a number are close.
    out : Tensor, optional
        Where the result is written, as for `add`.

    Returns
    -------
    Tensor
        Of bools.

    Examples
    --------
    >>> tensix.isclose(tensix.tensor([1.0, 2.0]), tensix.tensor([1.000001, 2.1]))
    tensor([ True, False])
    """
    dtype = promotion.promote_types(x1.dtype, x2.dtype)
    if dtype.kind not in "fc":
        dtype = float64  # in which the smallest integer has an absolute value
    elif dtype.itemsize == 2:
        dtype = float32  # for the tolerances
    a, b = native_functions.ASTYPE(x1, dtype), native_functions.ASTYPE(x2, dtype)
    bound = abs(b)
    add(multiply(bound, rtol, out=bound), atol, out=bound)
    close = less_equal(abs(subtract(a, b)), bound)
    logical_or(logical_and(close, isfinite(b), out=close), equal(a, b), out=close)
    return logical_or(close, logical_and(isnan(a), isnan(b)), out=close) if equal_nan else close


@elementwise(np.maximum)
def maximum(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the larger element of each pair; not a number, if one is not; parameters as for `add`.

    Examples
    --------
    >>> tensix.maximum(tensix.tensor([1, 5]), 3)
    tensor([3, 5])
    """


@elementwise(np.minimum)
def minimum(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the smaller element of each pair; not a number, if one is not; parameters as for `add`.

    Examples
    --------
    >>> tensix.minimum(tensix.tensor([1, 5]), 3)
    tensor([1, 3])
    """


native_functions.CLIP.register("CompositeImplicitAutograd", ClipKernel(maximum.table, minimum.table))


def equal_by_operators(x1, x2):
    """Compare on any device."""
    return not native_functions.ANY(not_equal.table(x1, x2))


native_functions.ARRAY_EQUAL.register("CPU", ARRAY_EQUAL)
native_functions.ARRAY_EQUAL.register("CompositeExplicitAutograd", equal_by_operators)


# ---- logical and bitwise functions


@elementwise(np.logical_and)
def logical_and(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether both elements of each pair are true, that is, not zero; parameters as for `add`.

    Examples
    --------
    >>> tensix.logical_and(tensix.tensor([True, False]), True)
    tensor([ True, False])
    """


@elementwise(np.logical_or)
def logical_or(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether an element of each pair is true, that is, not zero; parameters as for `add`.

    Examples
    --------
    >>> tensix.logical_or(tensix.tensor([True, False]), False)
    tensor([ True, False])
    """


@elementwise()
def logical_nor(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether neither element of a pair is true; parameters as for `add`.

    Examples
    --------
    >>> tensix.logical_nor(tensix.tensor([True, False]), False)
    tensor([False,  True])
    """
    found = logical_or(x1, x2)
    return logical_not(found, out=found) if found.size > 1 << 16 else logical_not(found)  # which is faster for few


@elementwise(np.logical_xor)
def logical_xor(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether exactly one element of each pair is true, that is, not zero; parameters as for `add`.

    Examples
    --------
    >>> tensix.logical_xor(tensix.tensor([True, False]), True)
    tensor([False,  True])
    """


@elementwise(np.logical_not)
def logical_not(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether each element is false, that is, zero.

    Examples
    --------
    >>> tensix.logical_not(tensix.tensor([True, False]))
    tensor([False,  True])
    """


@elementwise(np.bitwise_and, in_place=True)
def bitwise_and(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the bits that both elements of each pair have; parameters as for `add`.

    Examples
    --------
    >>> tensix.bitwise_and(tensix.tensor([5, 6]), 3)
    tensor([1, 2])
    """


@elementwise(np.bitwise_or, in_place=True)
def bitwise_or(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the bits that an element of each pair has; parameters as for `add`.

    Examples
    --------
    >>> tensix.bitwise_or(tensix.tensor([5, 6]), 3)
    tensor([7, 7])
    """


@elementwise(np.bitwise_xor, in_place=True)
def bitwise_xor(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the bits that exactly one element of each pair has; parameters as for `add`.

    Examples
    --------
    >>> tensix.bitwise_xor(tensix.tensor([5, 6]), 3)
    tensor([6, 5])
    """


@elementwise(np.invert)
def bitwise_invert(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the bits that each element has not.

    Examples
    --------
    >>> tensix.bitwise_invert(tensix.tensor([0, 5]))
    tensor([-1, -6])
    """


@elementwise(np.left_shift, in_place=True)
def bitwise_left_shift(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the bits of each first element moved up by the second; those beyond the type are lost.

    It takes parameters as for `add`.

    Examples
    --------
    >>> tensix.bitwise_left_shift(tensix.tensor([1, 2]), 3)
    tensor([ 8, 16])
    """


@elementwise(np.right_shift, in_place=True)
def bitwise_right_shift(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the bits of each first element moved down by the second; negative numbers stay so.

    It takes parameters as for `add`.

    Examples
    --------
    >>> tensix.bitwise_right_shift(tensix.tensor([8, -8]), 1)
    tensor([ 4, -4])
    """


# ---- rounding


@elementwise(np.ceil, integers=np.positive)
def ceil(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the next integer above each element, of the same type.

    Examples
    --------
    >>> tensix.ceil(tensix.tensor([1.2, -1.2]))
    tensor([ 2., -1.])
    """


@elementwise(np.floor, integers=np.positive)
def floor(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the next integer below each element, of the same type.

    Examples
    --------
    >>> tensix.floor(tensix.tensor([1.2, -1.2]))
    tensor([ 1., -2.])
    """


@elementwise(np.rint, integers=np.positive, method=False)  # it takes a number of digits
def round(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the integer next to each element, of two the even one, of the same type.

    Examples
    --------
    >>> tensix.round(tensix.tensor([0.5, 1.5, -1.2]))
    tensor([ 0.,  2., -1.])
    """


@elementwise(np.trunc, integers=np.positive)
def trunc(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return the next integer towards zero, of the same type.

    Examples
    --------
    >>> tensix.trunc(tensix.tensor([1.7, -1.7]))
    tensor([ 1., -1.])
    """


@operator(native_functions.CLIP)
def clip(x: Tensor, /, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Return each element, or the bound that it lies beyond.

    The result's element type is the one that `maximum` and `minimum` give: that of `x` with bounds of its type, or with
    numbers of its kind.

    Parameters
    ----------
    x : Tensor
        The elements.
    min, max : Tensor or number, optional
        The lower and the upper bound; None means none. Where the lower one is above the upper, the latter holds.

    Returns
    -------
    Tensor
        A copy, also if there are no bounds.

    Examples
    --------
    >>> tensix.clip(tensix.tensor([1, 5, 9]), 2, 6)
    tensor([2, 5, 6])
    """


clamp = alias("clamp", clip)  # in PyTorch


# ---- floating-point and complex numbers


@elementwise(np.copysign, promotes=True)
def copysign(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the first element of each pair with the sign of the second; parameters as for `add`.

    Examples
    --------
    >>> tensix.copysign(tensix.tensor([1.0, -2.0]), -1.0)
    tensor([-1., -2.])
    """


@elementwise(np.nextafter, promotes=True)
def nextafter(x1: Operand, x2: Operand, /, *, out: Tensor | None = None) -> Tensor:
    """Return the next number of the type from the first element of each pair towards the second.

    It takes parameters as for `add`.

    Examples
    --------
    >>> tensix.nextafter(tensix.tensor([0.0]), 1.0) > 0
    tensor([ True])
    """


@elementwise(np.signbit, promotes=True)
def signbit(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether the sign of each element is set, that of -0 too.

    Examples
    --------
    >>> tensix.signbit(tensix.tensor([-0.0, 0.0]))
    tensor([ True, False])
    """


@elementwise(np.isfinite)
def isfinite(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether each element is neither infinite nor not a number.

    Examples
    --------
    >>> tensix.isfinite(tensix.tensor([1.0, float("inf")]))
    tensor([ True, False])
    """


@elementwise(np.isinf)
def isinf(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether each element is infinite.

    Examples
    --------
    >>> tensix.isinf(tensix.tensor([1.0, -float("inf")]))
    tensor([False,  True])
    """


@elementwise(np.isnan)
def isnan(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return whether each element is not a number.

    Examples
    --------
    >>> tensix.isnan(tensix.tensor([1.0, float("nan")]))
    tensor([False,  True])
    """


@elementwise(np.conjugate, kernel=IdentityKernel)
def conj(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    """Return each element with the sign of its imaginary part turned; of real numbers, `positive`.

    Examples
    --------
    >>> tensix.conj(tensix.tensor([1 + 2j]))
    tensor([1.-2.j], dtype=tensix.complex64)
    """


@operator(native_functions.REAL, method=False)
def real(x: Tensor, /) -> Tensor:
    """Return the real part of each element, as a view.

    Notes
    -----
    Lifetime: the result keeps the storage alive; a write to one is seen in the other, with real numbers too.

    Examples
    --------
    >>> tensix.real(tensix.tensor([1 + 2j]))
    tensor([1.])
    """


@operator(native_functions.IMAG, method=False)
def imag(x: Tensor, /) -> Tensor:
    """Return the imaginary part of each element, as a view; of real numbers new zeros.

    Notes
    -----
    Lifetime: the result keeps the storage alive; a write to one is seen in the other.

    Examples
    --------
    >>> tensix.imag(tensix.tensor([1 + 2j]))
    tensor([2.])
    """
