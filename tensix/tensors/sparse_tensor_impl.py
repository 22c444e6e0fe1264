"""The counted body of a sparse tensor: a shape, and two strided tensors that say what is not zero.

See Note [Sparse tensors have no storage].
"""

import cython
from cython.cimports.tensix.tensors.dispatch_key import bits_of_key
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl, TensorImpl_reserve, TensorImpl_sizes, TensorImpl_strides, contiguous_strides, int64_of,
)

SPARSE_CPU = cython.declare(cython.ulonglong, bits_of_key("SparseCPU"))


@cython.no_gc  # as its base
@cython.cclass
class SparseTensorImpl(TensorImpl):
    """Body of a sparse tensor; keeps the tensors of its indices and values alive."""

    def destroy(self, holds_gil):
        with cython.gil:
            self.meta = self.indices = self.values = None

    def release_resources(self):
        """Give up indices and values; weak handles may still read sizes and dtype."""
        self.indices = self.values = None
        TensorImpl.release_resources(self)


def SparseTensorImpl_new(shape, indices, values, is_coalesced):
    """Return a body without owners; the caller has checked that the indices lie inside the shape.

    Its strides are those of a row-major tensor of the shape: they number its elements.
    """
    if indices is None or values is None:  # those of an expired body, or of one that was made by hand
        raise RuntimeError("a sparse tensor needs indices and values, found None.")
    columns = TensorImpl_sizes(indices.impl)[1]
    if values.impl.ndim != 1 or values.impl.numel != columns or isinstance(values.impl, SparseTensorImpl):
        raise ValueError(
            f"a sparse tensor of {columns} entries needs a strided vector of as many values, found "
            f"{values.impl.numel} elements in {values.impl.ndim} dimensions."
        )
    self: SparseTensorImpl = SparseTensorImpl.__new__(SparseTensorImpl)
    TensorImpl_reserve(self, len(shape))
    sizes = TensorImpl_sizes(self)
    for i, size in enumerate(shape):
        sizes[i] = int64_of(size)
    self.numel = contiguous_strides(self.ndim, sizes, TensorImpl_strides(self))
    self.key_set = SPARSE_CPU
    self.dtype_code = values.impl.dtype_code
    self.device_type, self.device_index = values.impl.device_type, values.impl.device_index
    self.indices, self.values, self.is_coalesced = indices, values, is_coalesced
    return self
