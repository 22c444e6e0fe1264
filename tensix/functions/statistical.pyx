"""The array API standard's chapter on statistics: sums, products, extremes, means and spreads.

NaN is passed on. Sums of floating numbers are made by pairs, so that the error grows with the logarithm of their count.
"""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.reduction cimport reduce, reduce_as, reduce_moment
from tensix.tensors.dtype cimport dtype_from_any
from tensix._tensor cimport Tensor

from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import alias, method

__all__ = [
    "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var",
]

cdef OperatorTable CUMULATIVE_SUM = native_functions.CUMULATIVE_SUM
cdef OperatorTable CUMULATIVE_PROD = native_functions.CUMULATIVE_PROD
cdef OperatorTable MAX = native_functions.MAX
cdef OperatorTable MEAN = native_functions.MEAN
cdef OperatorTable MIN = native_functions.MIN
cdef OperatorTable PROD = native_functions.PROD
cdef OperatorTable STD = native_functions.STD
cdef OperatorTable SUM = native_functions.SUM
cdef OperatorTable VAR = native_functions.VAR


@method
def cumulative_prod(Tensor x not None, /, *, axis=None, dtype=None, include_initial=False):
    """Return the products of the first, the first two, and so on up to all elements of an axis.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int, optional
        The axis to go along; may be left out for one dimension.
    dtype : DType, optional
        The type of the result. If not given, small integers become int64 or uint64, and bools int64.
    include_initial : bool, optional
        Whether the result begins with that of no elements, and so is one longer.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If no axis is given and there is not exactly one.

    Examples
    --------
    >>> import tensix
    >>> tensix.cumulative_prod(tensix.tensor([1, 2, 3]), include_initial=True)
    tensor([1, 1, 2, 6])
    """
    type_ = None if dtype is None else dtype_from_any(dtype)
    options = {"axis": axis, "dtype": type_, "include_initial": include_initial}
    return CUMULATIVE_PROD.call((x,), options, x.impl.key_set)


@method
def cumulative_sum(Tensor x not None, /, *, axis=None, dtype=None, include_initial=False):
    """Return the sums of the first, the first two, and so on up to all elements along an axis.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int, optional
        The axis to go along; may be left out for one dimension.
    dtype : DType, optional
        The type of the result. If not given, small integers become int64 or uint64, and bools int64.
    include_initial : bool, optional
        Whether the result begins with that of no elements, and so is one longer.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If no axis is given and there is not exactly one.

    Examples
    --------
    >>> import tensix
    >>> tensix.cumulative_sum(tensix.tensor([1, 2, 3]), include_initial=True)
    tensor([0, 1, 3, 6])
    """
    type_ = None if dtype is None else dtype_from_any(dtype)
    options = {"axis": axis, "dtype": type_, "include_initial": include_initial}
    return CUMULATIVE_SUM.call((x,), options, x.impl.key_set)


@method
def max(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return the largest elements.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to reduce; all if not given. Negative ones count from the end.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or an element is asked for where there is none.

    Examples
    --------
    >>> import tensix
    >>> tensix.max(tensix.tensor([[1, 5], [7, 2]]), axis=1)
    tensor([5, 7])
    """
    return reduce(MAX, x, axis, keepdims)


@method
def mean(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return the means, of no elements nan.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to reduce; all if not given. Negative ones count from the end.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Notes
    -----
    The result has the type of the elements; that of integers and bools is float32.

    Examples
    --------
    >>> import tensix
    >>> tensix.mean(tensix.tensor([[1.0, 5.0], [7.0, 3.0]]), axis=0)
    tensor([4., 4.])
    """
    return reduce(MEAN, x, axis, keepdims)


@method
def min(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return the smallest elements.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to reduce; all if not given. Negative ones count from the end.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or an element is asked for where there is none.

    Examples
    --------
    >>> import tensix
    >>> tensix.min(tensix.tensor([[1, 5], [7, 2]]), axis=1)
    tensor([1, 2])
    """
    return reduce(MIN, x, axis, keepdims)


@method
def prod(Tensor x not None, /, *, axis=None, dtype=None, keepdims=False):
    """Return the products, of no elements 1.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to reduce; all if not given. Negative ones count from the end.
    dtype : DType, optional
        The type of the result. If not given, small integers become int64 or uint64, and bools int64.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> import tensix
    >>> tensix.prod(tensix.tensor([[1, 5], [7, 2]]))
    tensor(70)
    """
    return reduce_as(PROD, x, axis, dtype, keepdims)


@method
def std(Tensor x not None, /, *, axis=None, correction=0.0, keepdims=False):
    """Return the standard deviations: the square roots of the variances.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to reduce; all if not given. Negative ones count from the end.
    correction : int or float, optional
        What is taken from the count that the squared distances are divided by; 1 estimates from a sample.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> import tensix
    >>> tensix.std(tensix.tensor([1.0, 3.0]))
    tensor(1.)
    """
    return reduce_moment(STD, x, axis, correction, keepdims)


@method
def sum(Tensor x not None, /, *, axis=None, dtype=None, keepdims=False):
    """Return the sums, of no elements 0.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to reduce; all if not given. Negative ones count from the end.
    dtype : DType, optional
        The type of the result. If not given, small integers become int64 or uint64, and bools int64.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> import tensix
    >>> tensix.sum(tensix.tensor([[1, 5], [7, 2]]), axis=0, keepdims=True)
    tensor([[8, 7]])
    """
    return reduce_as(SUM, x, axis, dtype, keepdims)


@method
def var(Tensor x not None, /, *, axis=None, correction=0.0, keepdims=False):
    """Return the variances: the means of the squared distances to the mean.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to reduce; all if not given. Negative ones count from the end.
    correction : int or float, optional
        What is taken from the count that the squared distances are divided by; 1 estimates from a sample.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Notes
    -----
    The result has the type of the elements; that of integers and bools is float32. That of complex
    numbers is real.

    Examples
    --------
    >>> import tensix
    >>> tensix.var(tensix.tensor([1.0, 3.0]), correction=1)
    tensor(2.)
    """
    return reduce_moment(VAR, x, axis, correction, keepdims)


cumprod = alias("cumprod", cumulative_prod)  # in NumPy and PyTorch
cumsum = alias("cumsum", cumulative_sum)
