"""The array API standard's chapter on indexing by tensors, beside ``x[...]``."""
from tensix._tensor cimport Tensor
from tensix.dispatch.operator_table cimport OperatorTable

from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import method

__all__ = ["take", "take_along_axis"]

cdef OperatorTable TAKE = native_functions.TAKE
cdef OperatorTable TAKE_ALONG_AXIS = native_functions.TAKE_ALONG_AXIS


@method
def take(Tensor x not None, Tensor indices not None, /, *, axis=None):
    """Return the elements at given positions of a dimension.

    Parameters
    ----------
    x : Tensor
        The tensor.
    indices : Tensor
        The positions, of any shape, which takes the dimension's place; negative ones count from the end.
    axis : int or None, optional
        The dimension; None takes from the elements in row-major order.

    Raises
    ------
    IndexError
        If there is no such position or dimension.
    TypeError
        If the positions are not integers.

    Examples
    --------
    >>> import tensix
    >>> tensix.take(tensix.tensor([[1, 2, 3], [4, 5, 6]]), tensix.tensor([2, 0]), axis=1)
    tensor([[3, 1],
            [6, 4]])
    """
    return TAKE.call_complete((x, indices, axis), x.impl.key_set | indices.impl.key_set)


@method
def take_along_axis(Tensor x not None, Tensor indices not None, /, *, axis=-1):
    """Return elements whose positions in one dimension are given for each place of the others.

    Parameters
    ----------
    x : Tensor
        The tensor.
    indices : Tensor
        The positions; a tensor of as many dimensions, such as `argsort` returns.
    axis : int, optional
        The dimension that they are positions in.

    Raises
    ------
    IndexError
        If there is no such position or dimension.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.tensor([[3, 1, 2]])
    >>> tensix.take_along_axis(x, tensix.argsort(x))
    tensor([[1, 2, 3]])
    """
    return TAKE_ALONG_AXIS.call_complete((x, indices, axis), x.impl.key_set | indices.impl.key_set)
