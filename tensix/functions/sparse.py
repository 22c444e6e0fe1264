"""Making sparse tensors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensix._tensor import Tensor
from tensix.core import Device
from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import function
from tensix.functions.creation import tensor

__all__ = ["sparse_coo_tensor"]


@function
def sparse_coo_tensor(
    indices: Any, values: Any, size: Sequence[int] | None = None, *, dtype: Any = None,
    device: str | Device | None = None,
) -> Tensor:  # fmt: skip
    """Return a sparse tensor of the given entries; all other elements are zero.

    Parameters
    ----------
    indices : Tensor or nested sequence of int
        A row per dimension, a column per value; 0 or more, inside `size`. They are copied.
    values : Tensor or sequence of numbers
        One number per column; values for the same element add up. They are copied, a tensor's lazily.
    size : sequence of int, optional
        The shape; the smallest that holds the indices if not given.
    dtype : DType, optional
        The element type; that of the values if not given.
    device : str or Device, optional
        Device of indices and values; their current one if not given.

    Returns
    -------
    Tensor
        Of layout `sparse_coo`.

    Raises
    ------
    IndexError
        If an index lies outside `size`.
    ValueError
        If the shapes do not fit each other.
    TypeError
        If the indices are not integers.

    Examples
    --------
    >>> x = tensix.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    >>> x
    tensor(indices=[[0, 1],
                    [2, 0]],
           values=[3., 4.],
           shape=(2, 3), nnz=2, layout=tensix.sparse_coo)
    >>> x.to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if not isinstance(indices, Tensor):
        array = np.asarray(indices)
        indices = tensor(array if array.size else array.astype(np.int64))  # of nothing, NumPy makes floats
    if not isinstance(values, Tensor) or dtype is not None:
        values = tensor(values, dtype=dtype)
    if device is not None:
        where = Device(device)
        indices, values = indices.to_device(where), values.to_device(where)
    return native_functions.SPARSE_COO_TENSOR(indices, values, size)
