"""New tensors that take their shape, type and device from others, or their strides from the caller."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensix._tensor import Tensor
from tensix.core import Device
from tensix.dispatch import native_functions
from tensix.functions.creation import empty, full
from tensix.kernels.strided_kernel import StridedKernel
from tensix.tensors.dtype import dtype_from_any

__all__ = ["empty_like", "empty_strided", "full_like", "ones_like", "scalar_tensor", "zeros_like"]


def empty_like(x: Tensor, /, *, dtype: Any = None, device: str | Device | None = None) -> Tensor:
    """Return a tensor of another's shape whose elements are whatever the memory held.

    Parameters
    ----------
    x : Tensor
        Gives the shape.
    dtype : DType, optional
        The element type; that of `x` if not given.
    device : str or Device, optional
        Where the elements are; where `x` is if not given.

    Examples
    --------
    >>> import tensix
    >>> tensix.empty_like(tensix.ones(2, 3)).shape
    (2, 3)
    """
    return native_functions.EMPTY_LIKE(x, **options_of(dtype, device))


def zeros_like(x: Tensor, /, *, dtype: Any = None, device: str | Device | None = None) -> Tensor:
    """Return a tensor of zeros of another's shape; parameters as for `empty_like`.

    Examples
    --------
    >>> import tensix
    >>> tensix.zeros_like(tensix.tensor([1, 2]))
    tensor([0, 0])
    """
    return native_functions.FULL_LIKE(x, 0, **options_of(dtype, device))


def ones_like(x: Tensor, /, *, dtype: Any = None, device: str | Device | None = None) -> Tensor:
    """Return a tensor of ones of another's shape; parameters as for `empty_like`.

    Examples
    --------
    >>> import tensix
    >>> tensix.ones_like(tensix.tensor([1.5, 2.5]))
    tensor([1., 1.])
    """
    return native_functions.FULL_LIKE(x, 1, **options_of(dtype, device))


def full_like(
    x: Tensor, /, fill_value: complex | Tensor, *, dtype: Any = None, device: str | Device | None = None
) -> Tensor:
    """Return a tensor of one value of another's shape.

    Parameters
    ----------
    x : Tensor
        Gives the shape.
    fill_value : bool, int, float, complex or Tensor
        The value of every element, or a tensor that is broadcast.
    dtype : DType, optional
        The element type; that of `x` if not given.
    device : str or Device, optional
        Where the elements are; where `x` is if not given.

    Examples
    --------
    >>> import tensix
    >>> tensix.full_like(tensix.ones(2), 7)
    tensor([7., 7.])
    """
    if isinstance(fill_value, Tensor):
        return empty_like(x, dtype=dtype, device=device).copy_(fill_value)
    return native_functions.FULL_LIKE(x, plain_number(fill_value), **options_of(dtype, device))


def empty_strided(
    size: Sequence[int], stride: Sequence[int], *, dtype: Any = None, device: str | Device | None = None
) -> Tensor:
    """Return a tensor with given steps between its elements, which are whatever the memory held.

    Parameters
    ----------
    size, stride : sequence of int
        Sizes, and steps in elements; a step may be negative.
    dtype : DType, optional
        The element type; float32 if not given.
    device : str or Device, optional
        Where the elements are; the CPU if not given.

    Raises
    ------
    ValueError
        If there are not as many steps as sizes, or a size is negative.

    Examples
    --------
    >>> import tensix
    >>> tensix.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    return native_functions.EMPTY_STRIDED(size, stride, **options_of(dtype, device))


def scalar_tensor(s: complex, *, dtype: Any = None, device: str | Device | None = None) -> Tensor:
    """Return a tensor without dimensions that holds a number.

    Parameters
    ----------
    s : bool, int, float or complex
        The number.
    dtype : DType, optional
        The element type; that of the number if not given.
    device : str or Device, optional
        Where the element is; the CPU if not given.

    Examples
    --------
    >>> import tensix
    >>> tensix.scalar_tensor(2.5)
    tensor(2.5)
    """
    return full((), plain_number(s), dtype=dtype, device=device)


def options_of(dtype: Any, device: Any) -> dict[str, Any]:
    """Return the options that were given, in the forms that operators take."""
    options = {} if dtype is None else {"dtype": dtype_from_any(dtype)}
    return options if device is None else options | {"device": Device(device)}


def plain_number(value: Any) -> Any:
    """Return a number of NumPy as Python's, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


# ---- kernels: each is made of other operators, so it serves every device


def empty_like_kernel(self, dtype=None, device=None):
    """Return an empty tensor of this shape."""
    return empty(self.shape, dtype=dtype or self.dtype, device=device or self.device)


def full_like_kernel(self, fill_value, dtype=None, device=None):
    """Return a filled tensor of this shape."""
    return full(self.shape, fill_value, dtype=dtype or self.dtype, device=device or self.device)


def empty_strided_kernel(size, stride, dtype=None, device=None):
    """Return a tensor over just so many elements as the strides reach."""
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise ValueError(f"empty_strided() needs a stride for each size, found {size} and {stride}.")
    if any(extent < 0 for extent in size):
        raise ValueError(f"empty_strided() needs sizes of 0 or more, found {size}.")
    spans = [(extent - 1) * step for extent, step in zip(size, stride, strict=True)] if all(size) else []
    before = -sum(span for span in spans if span < 0)
    after = sum(span for span in spans if span > 0)
    count = before + after + 1 if all(size) else 0
    return empty(count, dtype=dtype, device=device).as_strided(size, stride, before)


for _table, _kernel in (
    (native_functions.EMPTY_LIKE, empty_like_kernel),
    (native_functions.FULL_LIKE, full_like_kernel),
    (native_functions.EMPTY_STRIDED, empty_strided_kernel),
):
    _table.register("CompositeExplicitAutograd", StridedKernel(_kernel, _table.schema))
