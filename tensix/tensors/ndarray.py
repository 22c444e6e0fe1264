"""Zero-copy views between tensors and NumPy arrays.

What lies over NumPy's arrays in either direction: printing, and every operation that NumPy does for us.
"""

import cython
import numpy as np
from cython.cimports import numpy as cnp
from cython.cimports.cpython.ref import Py_INCREF, PyObject
from cython.cimports.libc.stdint import int64_t
from cython.cimports.tensix.core.data_ptr import data_ptr_init
from cython.cimports.tensix.core.device import CPU, META, Device_get
from cython.cimports.tensix.core.handle import own_newborn, retain
from cython.cimports.tensix.core.storage import Storage_from_owned
from cython.cimports.tensix.core.storage_impl import StorageImpl, StorageImpl_new
from cython.cimports.tensix.dispatch.dispatch_key import dense_keys_of_device
from cython.cimports.tensix.tensors.dtype import BFLOAT16, dtype_from_any, dtype_of_code, itemsize_of, numpy_dtype_of
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl_adopt,
    TensorImpl_const_data,
    TensorImpl_mutable_data,
    TensorImpl_new,
    TensorImpl_refresh,
    TensorImpl_sizes,
    TensorImpl_strides,
)

__all__ = []

cnp.import_array()


def ndarray_of_impl(impl, writable):
    """Return an array over the tensor's memory that keeps the storage alive."""
    return ndarray_of_type(impl, numpy_dtype_of(dtype_of_code(impl.dtype_code)), writable)


def ndarray_of_type(impl, descr, writable):
    """Return an array that reads the tensor's memory as elements of a NumPy type of the same size."""
    if impl.device_type not in (CPU, META):
        raise TypeError(
            f"NumPy cannot read the memory of {Device_get(impl.device_type, impl.device_index)}. Copy the tensor to "
            "the CPU with cpu()."
        )
    itemsize: int64_t = itemsize_of(impl.dtype_code)
    shape: cnp.npy_intp[64]
    strides: cnp.npy_intp[64]
    sizes = TensorImpl_sizes(impl)
    steps = TensorImpl_strides(impl)
    for i in range(impl.ndim):
        shape[i] = sizes[i]
        strides[i] = steps[i] * itemsize
    data = TensorImpl_mutable_data(impl) if writable else cython.cast(cython.p_void, TensorImpl_const_data(impl))
    if data == cython.NULL:
        return np.empty(tuple([sizes[i] for i in range(impl.ndim)]), descr)  # no elements, nothing to share
    array = new_array(descr, impl.ndim, shape, strides, data, cnp.NPY_ARRAY_WRITEABLE if writable else 0)
    retain(impl.storage)
    cnp.set_array_base(array, Storage_from_owned(impl.storage))
    return array


def printable_of_impl(impl):
    """Return an array to print the elements of.

    Of bfloat16 that will be cut in print, only the edges are widened, and an item between, for NumPy to cut.
    """
    if impl.dtype_code != BFLOAT16:
        return ndarray_of_impl(impl, False)
    bits = ndarray_of_type(impl, np.dtype(np.uint16), False)
    options = np.get_printoptions()
    edge = options["edgeitems"]
    if bits.size > options["threshold"] and bits.ndim:
        taken = [[*range(edge + 1), *range(n - edge, n)] if n > 2 * edge else range(n) for n in bits.shape]
        bits = bits[np.ix_(*taken)]
    return widened(bits)


@cython.cfunc
def widened(bits):
    """Return the float32 values whose upper halves are these bits."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def readable_of_impl(impl):
    """Return an array to read the elements of: a view, save that bfloat16 is copied to float32.

    See Note [bfloat16 and NumPy].
    """
    if impl.dtype_code != BFLOAT16:
        return ndarray_of_impl(impl, False)
    return widened(ndarray_of_type(impl, np.dtype(np.uint16), False))


def impl_of_ndarray(array, is_shared):
    """Return a body without owners over an array's memory, which keeps the array alive.

    `is_shared` says that others hold the array and may write it. A read-only array makes a read-only storage.

    Raises
    ------
    TypeError
        If tensix has no such element type.
    ValueError
        If the bytes are not in the machine's order, not aligned, or a stride is no multiple of the item size.
    """
    source: cnp.ndarray = array
    if not source.dtype.isnative:
        raise ValueError(f"the array's bytes are not in the machine's order: {source.dtype}. Convert it with astype().")
    dtype = dtype_from_any(source.dtype)
    if not cnp.PyArray_ISALIGNED(source):
        raise ValueError("the array's elements are not aligned for their type. Copy it first.")
    impl = TensorImpl_new(dtype.code, dense_keys_of_device(0), source.ndim)
    storage: StorageImpl = StorageImpl_new()
    first: int64_t = 0
    extent: int64_t = 1
    for i in range(source.ndim):
        if source.strides[i] % dtype.itemsize:
            raise ValueError(f"a stride of {source.strides[i]} bytes does not divide by {dtype.itemsize}: copy first.")
        extent *= source.shape[i] != 0
    last: int64_t = 0
    for i in range(source.ndim):
        span: int64_t = source.strides[i] * (source.shape[i] - 1) if extent else 0
        first += span if span < 0 else 0
        last += span if span > 0 else 0
    lowest = cython.cast(cython.p_char, source.data) + first
    data_ptr_init(cython.address(storage.block), lowest, cython.NULL, cython.NULL)
    storage.block.keep_alive = cython.cast(cython.pointer(PyObject), array)
    Py_INCREF(array)
    storage.size_bytes = last - first + dtype.itemsize if extent else 0
    storage.is_exported = is_shared
    storage.is_readonly = storage.guarded = not cnp.PyArray_ISWRITEABLE(source)
    own_newborn(storage)
    TensorImpl_adopt(impl, storage)
    sizes = TensorImpl_sizes(impl)
    strides = TensorImpl_strides(impl)
    for i in range(source.ndim):
        sizes[i] = source.shape[i]
        strides[i] = source.strides[i] // dtype.itemsize
    impl.storage_offset = -first // dtype.itemsize
    TensorImpl_refresh(impl)
    return impl
