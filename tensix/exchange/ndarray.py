"""Zero-copy views between tensors and NumPy arrays.

What lies over NumPy's arrays in either direction: printing, and every operation that NumPy does for us.
"""

import cython
import numpy as np
from cython.cimports import numpy as cnp
from cython.cimports.cpython.ref import Py_INCREF, PyObject
from cython.cimports.libc.stdint import int64_t, uint64_t
from cython.cimports.tensix.core.device import CPU, META, Device_get
from cython.cimports.tensix.core.export import begin_export, end_export
from cython.cimports.tensix.core.storage_impl import StorageImpl, StorageImpl_begin_use, StorageImpl_end_use
from cython.cimports.tensix.exchange.foreign_memory import impl_over_memory
from cython.cimports.tensix.tensors.dispatch_key import dense_keys_of_device
from cython.cimports.tensix.tensors.dtype import BFLOAT16, dtype_from_any, dtype_of_code, itemsize_of, numpy_dtype_of
from cython.cimports.tensix.tensors.tensor_base import TensorBase
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_sizes, TensorImpl_strides,
)

cnp.import_array()

DEFAULT_KEYS = cython.declare(uint64_t, dense_keys_of_device(CPU))


def ndarray_of_impl(impl, writable):
    """Return an array over the tensor's memory that uses the storage; for operations of tensix."""
    return ndarray_of_type(impl, numpy_dtype_of(dtype_of_code(impl.dtype_code)), writable)


def ndarray_of_type(impl, descr, writable):
    """Return an array that reads the tensor's memory as elements of a NumPy type of the same size."""
    array = array_over(impl, descr, writable)
    if impl.numel:
        cnp.set_array_base(array, use_of(cython.cast(StorageImpl, impl.storage), writable))
    return array


@cython.cfunc
def use_of(storage: StorageImpl, is_export: cython.bint):
    """Return the base of an array over a storage's memory."""
    base: Use = Use.__new__(Use)
    if is_export:
        begin_export(storage)
    else:
        StorageImpl_begin_use(storage)
    base.storage, base.is_export = storage, is_export
    return base


@cython.no_gc
@cython.freelist(16)
@cython.cclass
class Use:
    """Base of an array over a tensor: of one that an operation reads, or of one that may be written.

    See Note [Storages in use] and Note [Exports].
    """

    storage: StorageImpl
    is_export: cython.bint

    def __dealloc__(self):
        if self.storage is None:
            return
        if self.is_export:
            end_export(self.storage)
        else:
            StorageImpl_end_use(self.storage)


def exported_ndarray_of_impl(impl):
    """Return an array over the tensor's memory for somebody outside. See Note [Exports]."""
    if impl.storage is not None and impl.device_type == CPU and not cython.cast(StorageImpl, impl.storage).is_readonly:
        TensorImpl_mutable_data(impl)  # may run Python code, after which type and shape may be others
    is_readonly = impl.storage is not None and cython.cast(StorageImpl, impl.storage).is_readonly
    array = array_over(impl, numpy_dtype_of(dtype_of_code(impl.dtype_code)), not is_readonly)
    if impl.numel:
        cnp.set_array_base(array, use_of(cython.cast(StorageImpl, impl.storage), True))
    return array


@cython.cfunc
def array_over(impl: TensorImpl, descr, writable: cython.bint):
    """Return an array over the tensor's memory that keeps nothing alive yet; without elements, one of its own."""
    if impl.device_type not in (CPU, META):
        raise TypeError(
            f"NumPy cannot read the memory of {Device_get(impl.device_type, impl.device_index)}. Copy the tensor to "
            "the CPU with cpu()."
        )
    data = TensorImpl_mutable_data(impl) if writable else cython.cast(cython.p_void, TensorImpl_const_data(impl))
    itemsize: int64_t = itemsize_of(impl.dtype_code)
    shape: cnp.npy_intp[64]
    strides: cnp.npy_intp[64]
    sizes = TensorImpl_sizes(impl)
    steps = TensorImpl_strides(impl)
    for i in range(impl.ndim):
        shape[i] = sizes[i]
        strides[i] = steps[i] * itemsize
    if impl.numel == 0:
        return np.empty(tuple([sizes[i] for i in range(impl.ndim)]), descr)  # no elements, nothing to share
    return new_array(descr, impl.ndim, shape, strides, data, cnp.NPY_ARRAY_WRITEABLE if writable else 0)


def printable(tensor):
    """Return an array to print the elements of a strided tensor of.

    Of bfloat16 that will be cut in print, only the edges are widened, and an item between, for NumPy to cut.
    """
    source = cython.cast(TensorBase, tensor.cpu(), typecheck=True)
    impl = source.impl
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
    wide = bits.astype(np.uint32)
    wide <<= 16  # in place: an operator makes a scalar of an array without dimensions
    return wide.view(np.float32)


def readable_of_impl(impl):
    """Return an array to read the elements of: a view; bfloat16 is copied to float32.

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
        If the bytes are not in the machine's order, not aligned, or a stride is not a multiple of the item size.
    """
    source: cnp.ndarray = array
    code = CODES[cnp.PyArray_TYPE(source)] if cnp.PyArray_TYPE(source) < TYPE_COUNT else NO_TYPE
    if not cnp.PyArray_ISNOTSWAPPED(source):
        raise ValueError(f"the array's bytes are not in the machine's order: {source.dtype}. Convert it with astype().")
    if code == NO_TYPE:
        code = dtype_from_any(source.dtype).code  # bfloat16, or an error
    itemsize: int64_t = itemsize_of(code)
    sizes: int64_t[64]
    strides: int64_t[64]
    is_row_major: cython.bint = cnp.PyArray_IS_C_CONTIGUOUS(source)  # strides are known, and divisions take their time
    for i in range(source.ndim):
        sizes[i] = source.shape[i]
        if not is_row_major:
            strides[i] = source.strides[i] // itemsize
            if source.strides[i] % itemsize:
                raise ValueError(
                    f"a stride of {source.strides[i]} bytes is not a multiple of the item size, {itemsize}. "
                    "Copy the array first."
                )
    impl = impl_over_memory(
        code, DEFAULT_KEYS, source.ndim, sizes, cython.NULL if is_row_major else strides, source.data
    )
    storage = cython.cast(StorageImpl, impl.storage)
    storage.block.keep_alive = cython.cast(cython.pointer(PyObject), array)
    Py_INCREF(array)
    storage.is_foreign = is_shared
    storage.is_readonly = storage.guarded = not cnp.PyArray_ISWRITEABLE(source)
    return impl


@cython.cfunc
@cython.exceptval(-1)
def fill_codes() -> cython.int:
    """Enter NumPy's numbers of types; C's long and long long are two of them, though of one size."""
    for number in range(TYPE_COUNT):
        CODES[number] = NO_TYPE
    for character in "?bBhHiIlLqQefdFD":
        dtype = np.dtype(character)
        CODES[cython.cast(cython.int, dtype.num)] = dtype_from_any(dtype).code
    return 0


fill_codes()
