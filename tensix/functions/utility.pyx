"""The array API standard's chapter of utilities: whether all elements, or any, are true."""
from tensix._tensor cimport Tensor

__all__ = ["all", "any"]


def all(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return whether all elements are not zero; of no elements, all are.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to fold; all if not given. Negative ones count from the end.
    keepdims : bool, optional
        Whether folded axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> import tensix
    >>> tensix.all(tensix.tensor([[0, 5], [7, 2]]), axis=0)
    tensor([False,  True])
    """
    return x.all(axis, keepdims)


def any(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return whether any element is not zero; of no elements, none is.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to fold; all if not given. Negative ones count from the end.
    keepdims : bool, optional
        Whether folded axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> import tensix
    >>> tensix.any(tensix.tensor([[0, 0], [7, 0]]), axis=0)
    tensor([ True, False])
    """
    return x.any(axis, keepdims)
