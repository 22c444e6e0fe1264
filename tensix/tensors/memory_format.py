"""Memory formats: in which order the elements of a tensor lie in memory.

A format speaks of strides, never of sizes. Images keep the sizes (N, C, H, W) in every format; in channels-last the
channels of a pixel are neighbours, so that the strides fall in the order N, H, W, C. Volumes have one dimension more.
"""

import enum

import cython
from cython.cimports.libc.stdint import int64_t
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl_sizes, TensorImpl_strides, contiguous_strides

__all__ = ["MemoryFormat", "contiguous_format", "preserve_format", "channels_last", "channels_last_3d"]


@cython.binding(True)
class MemoryFormat(enum.Enum):
    """Name an order of elements in memory; the values are PyTorch's.

    Examples
    --------
    >>> tensix.empty(2, 3, 4, 5, memory_format=tensix.channels_last).stride()
    (60, 1, 15, 3)
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    contiguous_format = 0  # row-major: the last dimension changes fastest
    preserve_format = 1  # as the source has it
    channels_last = 2  # dimension 1 changes fastest, then the last and so on: four dimensions
    channels_last_3d = 3  # the same of five dimensions

    def __repr__(self):
        return f"tensix.{self.name}"


contiguous_format = MemoryFormat.contiguous_format
preserve_format = MemoryFormat.preserve_format
channels_last = MemoryFormat.channels_last
channels_last_3d = MemoryFormat.channels_last_3d
BY_NAME = cython.declare(dict, dict(MemoryFormat.__members__))


def memory_format_from_any(memory_format):
    """Return the format that a MemoryFormat or a name means."""
    if type(memory_format) is MemoryFormat:
        return memory_format
    found = BY_NAME.get(memory_format) if isinstance(memory_format, str) else None
    if found is None:
        raise TypeError(f"{memory_format!r} is not a memory format of tensix; there are {', '.join(BY_NAME)}.")
    return found


def strides_of_format(memory_format, ndim, sizes, strides):
    """Fill in the strides that a format means and return the number of elements.

    The order of channels-last is that of `channels_last_dim`; a size of 0 counts as 1, as in row-major order.
    """
    if memory_format is preserve_format:
        raise ValueError("preserve_format says nothing without a tensor to preserve: it is for clone().")
    numel = contiguous_strides(ndim, sizes, strides)  # which refuses what is too large, in any order
    if memory_format is not contiguous_format:
        rank = 4 if memory_format is channels_last else 5
        if ndim != rank:
            raise ValueError(f"required rank {rank} tensor to use {memory_format.name} format, found rank {ndim}.")
        step: int64_t = 1
        for i in range(ndim):
            dim = channels_last_dim(i, ndim)
            strides[dim] = step
            step *= sizes[dim] if sizes[dim] > 1 else 1
    return numel


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def channels_last_dim(i: cython.int, ndim: cython.int) -> cython.int:
    """Return the dimension that changes i-th fastest: 1, then from the last down to 2, then 0."""
    if i == 0:
        return 1
    return 0 if i == ndim - 1 else ndim - i


def TensorImpl_is_contiguous_in(self, memory_format):
    """Whether the elements lie in the order of a format without gaps.

    As in row-major order, sizes of 1 have no stride that matters, and without elements all is contiguous.
    """
    if memory_format is contiguous_format:
        return self.contiguous
    if memory_format is preserve_format:
        raise ValueError("preserve_format is not an order of elements: nothing can be contiguous in it.")
    if self.ndim != (4 if memory_format is channels_last else 5):
        return False
    expected: int64_t = 1
    for i in range(self.ndim):
        dim = channels_last_dim(i, self.ndim)
        size = TensorImpl_sizes(self)[dim]
        if size != 1:
            if TensorImpl_strides(self)[dim] != expected and self.numel != 0:
                return False
            expected *= size
    return True


def TensorImpl_is_channels_last(self):
    """Whether the strides fall in the order of channels-last, gaps allowed; for four or five dimensions.

    What fits both formats, such as one channel of one pixel, is taken for row-major.
    """
    if self.ndim not in (4, 5) or self.numel == 0:
        return False
    sizes = TensorImpl_sizes(self)
    strides = TensorImpl_strides(self)
    if strides[1] == 0:
        return False
    least: int64_t = 0
    for i in range(self.ndim):
        dim = channels_last_dim(i, self.ndim)
        if strides[dim] < least or (dim == 0 and least == strides[1]):
            return False
        least = strides[dim] * sizes[dim]
    return True
