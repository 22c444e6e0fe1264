"""The bytes of tensors, for the readers and writers of files."""
from libc.stdint cimport int64_t
from tensix.tensors.dtype cimport UINT8, itemsize_of
from tensix.exchange.ndarray cimport ndarray_of_impl
from tensix._tensor cimport Tensor
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_refresh, TensorImpl_sizes, TensorImpl_strides, TensorImpl_view,
)


def bytes_to_fill(Tensor x not None):
    """Return the memory of a new tensor in row-major order, to be written."""
    return bytes_of(x.impl, True)


def bytes_to_save(Tensor x not None, bint column_major=False):
    """Return the elements' memory in row-major or column-major order, copied if they lie otherwise; to be read.

    Raises
    ------
    ValueError
        If an overridden `permute` or `contiguous` returns something else.
    """
    cdef Tensor rows = x.permute(*reversed(range(x.impl.ndim))) if column_major else x.contiguous()
    cdef bint fits = rows is not None and rows.impl.contiguous and rows.impl.numel == x.impl.numel
    if not fits or rows.impl.dtype_code != x.impl.dtype_code:
        found = "None" if rows is None else f"shape {rows.shape}, {rows.dtype}, strides {rows.stride()}"
        raise ValueError(
            f"to save a tensor of shape {x.shape}, {x.dtype}, its elements are needed in row-major order; "
            f"{'permute' if column_major else 'contiguous'}() returned {found}."
        )
    return bytes_of(rows.impl, False)


cdef object bytes_of(TensorImpl impl, bint writable):
    """Return a view of bytes that uses the storage. See Note [Storages in use]."""
    cdef int64_t itemsize = itemsize_of(impl.dtype_code)
    cdef TensorImpl view = TensorImpl_view(impl, 1)
    TensorImpl_sizes(view)[0], TensorImpl_strides(view)[0] = impl.numel * itemsize, 1
    view.storage_offset *= itemsize
    view.dtype_code = UINT8
    TensorImpl_refresh(view)
    return memoryview(ndarray_of_impl(view, writable))
