"""The buffer protocol (PEP 3118): memory of Python objects, and ours for them.

A format is a character for C's type, as `struct` knows them, after an optional ``Z`` for complex and an optional
character for order and sizes. bfloat16 has none: such a tensor gives its bytes to a reader that asks for no format.
"""
from cpython.buffer cimport (
    Py_buffer, PyBUF_ANY_CONTIGUOUS, PyBUF_C_CONTIGUOUS, PyBUF_F_CONTIGUOUS, PyBUF_FORMAT, PyBUF_FULL_RO, PyBUF_ND,
    PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from tensix.core.data_ptr cimport data_ptr_operations_t, data_ptr_own
from tensix.core.device cimport CPU, Device_get
from tensix.core.export cimport begin_export, end_export
from tensix.core.python_reference cimport may_run_python
from tensix.core.storage_impl cimport StorageImpl
from tensix.tensors.dispatch_key cimport dense_keys_of_device
from tensix.tensors.dtype cimport dtype_of_code, itemsize_of
from tensix.exchange.foreign_memory cimport impl_over_memory
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_sizes, TensorImpl_strides,
)

import sys

import numpy as np

from tensix.tensors.dtype import dtype_from_any

cdef list FORMATS = [None] * 47  # our code -> the format, NUL-terminated
cdef dict NATIVE = {}            # character -> our code, in the machine's sizes
cdef dict STANDARD = {}          # the same in the sizes that `struct` lays down for "<", ">" and "="
cdef str NATIVE_ORDER = "<" if sys.byteorder == "little" else ">"


cdef int fill_formats() except -1:
    for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                 "float32", "float64", "complex64", "complex128"):
        dtype = dtype_from_any(name)
        character = np.dtype(name).char
        FORMATS[dtype.code] = {"F": "Zf", "D": "Zd"}.get(character, character).encode()
    for character in "?bBhHiIlLqQefd":
        NATIVE[character] = dtype_from_any(np.dtype(character)).code
    for character, name in {
        "c": "uint8", "n": np.dtype(np.intp).name, "N": np.dtype(np.uintp).name,
        "F": "complex64", "Zf": "complex64", "D": "complex128", "Zd": "complex128",
    }.items():
        NATIVE[character] = dtype_from_any(name).code
    STANDARD.update(NATIVE)
    for character, name in {"l": "int32", "L": "uint32", "q": "int64", "Q": "uint64"}.items():
        STANDARD[character] = dtype_from_any(name).code
    return 0

fill_formats()


cdef bytes buffer_format(uint8_t dtype_code):
    """Return the format of an element type, None if it has none."""
    return FORMATS[dtype_code]


# ---- out


cdef struct exported_t:  # what the reader's view points to
    void* storage
    # sizes and strides in bytes follow


cdef int fill_buffer(TensorImpl impl, Py_buffer* view, int flags) except -1:
    """Fill in everything but `obj`; the tensor's storage is exported until `release_buffer`."""
    cdef bint has_strides = flags & PyBUF_STRIDES == PyBUF_STRIDES
    cdef void* data
    check_flags(impl, flags)
    try:
        if (<StorageImpl>impl.storage).guarded and not (<StorageImpl>impl.storage).is_readonly:
            TensorImpl_mutable_data(impl)  # may run Python code, as nothing does from here on
            check_flags(impl, flags)
        data = <void*>TensorImpl_const_data(impl)
    except RuntimeError as error:
        raise BufferError(str(error)) from None
    cdef StorageImpl storage = <StorageImpl>impl.storage
    cdef Py_ssize_t itemsize = itemsize_of(impl.dtype_code)
    cdef int ndim = impl.ndim
    cdef bytes format = FORMATS[impl.dtype_code]
    cdef Py_ssize_t* dims = exported_dims(impl, itemsize)
    view.internal = <exported_t*>dims - 1
    begin_export(storage)
    view.buf = data if data != NULL else &NOTHING
    view.len = impl.numel * itemsize
    view.itemsize = itemsize
    view.readonly = storage.is_readonly
    view.ndim = ndim if flags & PyBUF_ND else 1  # a consumer that asks for no sizes sees bytes, one after the other
    view.format = <char*>format if flags & PyBUF_FORMAT else NULL  # alive as long as FORMATS, and so this module
    view.shape = dims if flags & PyBUF_ND and ndim else NULL
    view.strides = dims + ndim if has_strides and ndim else NULL
    view.suboffsets = NULL
    return 0


cdef Py_ssize_t* exported_dims(TensorImpl impl, Py_ssize_t itemsize) except NULL:
    """Return sizes and strides in bytes, behind an `exported_t`."""
    cdef int ndim = impl.ndim
    cdef exported_t* exported = <exported_t*>malloc(sizeof(exported_t) + 2 * ndim * sizeof(Py_ssize_t))
    if exported == NULL:
        raise MemoryError("no memory for a buffer's sizes and strides.")
    exported.storage = <void*>impl.storage
    cdef Py_ssize_t* dims = <Py_ssize_t*>(exported + 1)
    for i in range(ndim):
        dims[i] = TensorImpl_sizes(impl)[i]
        dims[ndim + i] = TensorImpl_strides(impl)[i] * itemsize
    return dims


cdef char NOTHING  # where a buffer without elements starts: some readers take NULL for an error


cdef int check_flags(TensorImpl impl, int flags) except -1:
    """Refuse what the tensor is not."""
    cdef bint needs_rows = (
        flags & PyBUF_C_CONTIGUOUS == PyBUF_C_CONTIGUOUS or flags & PyBUF_STRIDES != PyBUF_STRIDES)
    cdef bint is_any = flags & PyBUF_ANY_CONTIGUOUS == PyBUF_ANY_CONTIGUOUS
    cdef bint is_columns = flags & PyBUF_F_CONTIGUOUS == PyBUF_F_CONTIGUOUS
    if impl.storage is None:
        raise BufferError("a tensor without a storage, undefined or sparse, has no buffer.")
    if impl.device_type != CPU:
        raise BufferError(
            f"a tensor on {Device_get(impl.device_type, impl.device_index)} has no buffer: copy it to the CPU with "
            "cpu()."
        )
    if flags & PyBUF_WRITABLE and (<StorageImpl>impl.storage).is_readonly:
        raise BufferError("the tensor is read-only: ask for a read-only buffer, or make a writable copy with clone().")
    if flags & PyBUF_FORMAT and FORMATS[impl.dtype_code] is None:
        raise BufferError(
            f"buffers have no format for {dtype_of_code(impl.dtype_code).name}: take the bits with view('uint16')."
        )
    if impl.contiguous:
        needs_rows = is_any = False
    if needs_rows or ((is_columns or is_any) and not is_column_major(impl)):
        raise BufferError("the tensor is not contiguous in the order asked for: make it so with contiguous().")
    return 0


cdef bint is_column_major(TensorImpl impl) noexcept:
    cdef int64_t expected = 1
    for i in range(impl.ndim):
        if TensorImpl_sizes(impl)[i] != 1 and TensorImpl_strides(impl)[i] != expected:
            return impl.numel == 0
        expected *= TensorImpl_sizes(impl)[i]
    return True


cdef void release_buffer(Py_buffer* view) noexcept:
    cdef exported_t* exported = <exported_t*>view.internal
    if exported != NULL:
        end_export(<StorageImpl>exported.storage)
        free(exported)
    view.internal = NULL


# ---- in


cdef TensorImpl impl_of_buffer(object exporter):
    """Return a body without owners over an object's buffer, which is released with the storage.

    Raises
    ------
    TypeError
        If the object has no buffer.
    BufferError
        If its elements cannot be those of a tensor.
    """
    cdef Py_buffer* view = <Py_buffer*>malloc(sizeof(Py_buffer))
    if view == NULL:
        raise MemoryError("no memory for a buffer's description.")
    try:
        PyObject_GetBuffer(exporter, view, PyBUF_FULL_RO)
    except BaseException:
        free(view)
        raise
    try:
        impl = impl_over_buffer(view)
    except BaseException:
        give_back(view)
        raise
    cdef StorageImpl storage = <StorageImpl>impl.storage
    storage.is_foreign = type(exporter) is not bytes  # which are never written
    storage.is_readonly = storage.guarded = view.readonly
    data_ptr_own(&storage.block, view, &buffer_operations)
    return impl


cdef TensorImpl impl_over_buffer(Py_buffer* view):
    cdef int64_t[64] sizes
    cdef int64_t[64] strides
    cdef uint8_t code = code_of_format(view)
    if view.suboffsets != NULL:
        for i in range(view.ndim):
            if view.suboffsets[i] >= 0:
                raise BufferError("the buffer consists of pieces behind pointers: copy it first.")
    if view.ndim > 64:
        raise BufferError(f"a tensor has at most 64 dimensions, found {view.ndim}.")
    for i in range(view.ndim):
        sizes[i] = view.shape[i] if view.shape != NULL else view.len // view.itemsize
        if view.strides != NULL:
            strides[i] = view.strides[i] // view.itemsize
            if view.strides[i] % view.itemsize:
                raise BufferError(
                    f"a stride of {view.strides[i]} bytes is not a multiple of the item size, {view.itemsize}. "
                    "Copy the elements to contiguous memory first."
                )
    try:
        return impl_over_memory(
            code, dense_keys_of_device(CPU), view.ndim, sizes, strides if view.strides != NULL else NULL, view.buf)
    except ValueError as error:
        raise BufferError(f"the buffer cannot be taken in: {error}") from None


cdef uint8_t code_of_format(Py_buffer* view) except? 255:
    """Return our code for a buffer's format; without one, elements are bytes."""
    cdef str format = view.format.decode() if view.format != NULL else "B"
    order = format[0] if format and format[0] in "@=<>!^" else "@"
    character = format[1:] if format and format[0] in "@=<>!^" else format
    found = (NATIVE if order in "@^" else STANDARD).get(character)
    if found is None or itemsize_of(found) != view.itemsize:
        raise BufferError(f"tensix has no element type for the buffer format {format!r} of {view.itemsize} bytes.")
    if view.itemsize > 1 and order in "<>!" and {"!": ">"}.get(order, order) != NATIVE_ORDER:
        raise BufferError(f"the buffer's bytes are not in the machine's order: {format!r}. Copy it first.")
    return found


cdef void give_back(void* view) noexcept nogil:
    """Release the buffer under a storage, as its deleter. See Note [GIL and finalisation]."""
    if may_run_python():
        with gil:
            PyBuffer_Release(<Py_buffer*>view)
        free(view)


cdef dict view_facts(void* view):
    return {"nbytes": (<Py_buffer*>view).len, "of": type((<Py_buffer*>view).obj).__name__}


cdef data_ptr_operations_t buffer_operations = data_ptr_operations_t(
    give_back, NULL, b"give_back", b"buffer", view_facts)
