"""Copying elements: clone, lazy clone, copy_ and fill_.

All of them are a walk of the iterator with a loop that copies or converts.
"""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy
from numpy cimport PyArray_DATA, import_array, ndarray, npy_intp
from tensix.core.device cimport CPU, META, Device_from_any
from tensix.core.handle cimport own_new
from tensix.core.storage cimport StorageImpl_lazy_clone
from tensix.core.storage_impl cimport StorageImpl
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.loops.conversion cimport (
    conversion_init, conversion_loop, conversion_t, convert_block, copy_loop, copy_strided, copy_tile,
)
from tensix.loops.empty cimport empty_impl, empty_like_impl
from tensix.loops.iterator cimport (
    GRAIN_ELEMENTS, advance, inner_loop_t, iterator_add, iterator_add_element, iterator_run, iterator_start, iterator_t,
    new_result, rows_loop_t,
)
from tensix.loops.overlap cimport check_writable_once, is_same_view, may_overlap
from tensix.tensors.dtype cimport (
    BFLOAT16, BOOL, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, dtype_from_any, dtype_of_code, itemsize_of,
)
from tensix.dispatch.operands cimport is_plain_number, write_number
from tensix.exchange.numpy_calls cimport call_ignoring_errors
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    INLINE_DIMS, TensorImpl, TensorImpl_adopt, TensorImpl_bump_version, TensorImpl_check_bounds, TensorImpl_const_data,
    TensorImpl_shallow_copy, TensorImpl_mutable_data, TensorImpl_same_sizes, TensorImpl_sizes, TensorImpl_strides,
)

import numpy as np

from tensix.dispatch import native_functions

import_array()

cdef enum:
    FEW_ELEMENTS = 2048  # of 8 bytes they fit into the nearest cache, twice

cdef OperatorTable EMPTY = native_functions.EMPTY
cdef OperatorTable COPY_ = native_functions.COPY_


cdef int copy_elements(TensorImpl target, TensorImpl source) except -1:
    """Write the elements of `source`, broadcast and converted, to `target`, which must not overlap it."""
    cdef void* data = TensorImpl_mutable_data(target)
    if (
        target.dtype_code == source.dtype_code and target.contiguous and source.contiguous
        and 0 < target.numel < GRAIN_ELEMENTS and TensorImpl_same_sizes(source, target)
    ):
        memcpy(data, TensorImpl_const_data(source), target.numel * itemsize_of(target.dtype_code))
        return 0
    return walk(target, data, source)


cdef int walk(TensorImpl target, void* data, TensorImpl source) except -1:
    """Copy or convert run by run; `data` is the target's mutable address."""
    cdef iterator_t iterator
    cdef conversion_t conversion
    cdef int itemsize = itemsize_of(target.dtype_code)
    cdef inner_loop_t loop = copy_loop(itemsize)
    cdef void* loop_data = &itemsize
    cdef rows_loop_t tile_loop = copy_tile  # conversions have none, and several compute longer than memory takes
    if target.dtype_code != source.dtype_code:
        check_cast(source.dtype_code, target.dtype_code)
        conversion_init(&conversion, source.dtype_code, target.dtype_code)
        loop, loop_data, tile_loop = conversion_loop, &conversion, NULL
    iterator_start(&iterator, target.ndim, TensorImpl_sizes(target))
    iterator_add(&iterator, source, <void*>TensorImpl_const_data(source))
    iterator_add(&iterator, target, data)
    iterator.tile_loop, iterator.waits_for_memory = tile_loop, tile_loop != NULL
    iterator_run(&iterator, loop, loop_data)
    return 0


cdef TensorImpl converted(TensorImpl source, uint8_t code):
    """Return the tensor in another element type; itself if it has that."""
    return source if source.dtype_code == code else copied(source, code)


cdef TensorImpl in_order(TensorImpl x):
    """Return the elements in row-major order: the tensor itself, or of what has another order, a copy."""
    return x if x.contiguous else copied(x, x.dtype_code)


cdef TensorImpl copied(TensorImpl source, uint8_t code):
    """Return a row-major copy in an element type."""
    cdef TensorImpl target = empty_impl(
        source.ndim, TensorImpl_sizes(source), code, source.device_type, source.device_index)
    if source.device_type != META:
        copy_elements(target, source)
    return target


cdef int common_code(list bodies) except -1:
    """Return the element type that all bodies promote to."""
    cdef TensorImpl body = bodies[0]
    cdef int code = body.dtype_code
    for body in bodies:
        code = promote_codes(code, body.dtype_code)
    return code


cdef int check_cast(uint8_t source, uint8_t target) except -1:
    """Check that elements of a type can be written as another: all but complex numbers as what is not complex."""
    if dtype_of_code(source).kind == "c" != dtype_of_code(target).kind:
        raise TypeError(
            f"complex numbers can't be cast to the desired output type {dtype_of_code(target)}: their imaginary parts "
            "would be lost."
        )
    return 0


cdef object clone(Kernel self, object table, arguments_t args):
    return cloned((<TensorBase>args[0]).impl, <object>args[1])


cdef object cloned(TensorImpl source, object memory_format):
    """Copy at once; unless a memory format is asked for, dense strides are kept."""
    cdef TensorImpl target = empty_like_impl(source, memory_format)
    made = Tensor_wrap(target)
    if (
        target.contiguous and not source.contiguous and 1 < source.ndim <= INLINE_DIMS
        and 0 < source.numel <= FEW_ELEMENTS
    ):
        gather(target, source)
    else:
        copy_elements(target, source)
    return made


cdef int gather(TensorImpl target, TensorImpl source) except -1:
    """Write a few elements of any strides one after the other: for so few, sorting dimensions is not worth it."""
    cdef char* to = <char*>TensorImpl_mutable_data(target)
    cdef const char* items = <const char*>TensorImpl_const_data(source)
    cdef const char* row
    cdef int itemsize = itemsize_of(source.dtype_code)
    cdef int64_t* sizes = TensorImpl_sizes(source)
    cdef int64_t* strides = TensorImpl_strides(source)
    cdef int outer = source.ndim - 2
    cdef int64_t rows = sizes[outer]
    cdef int64_t columns = sizes[outer + 1]
    cdef int64_t steps[5]
    cdef int64_t position[5]
    cdef int i
    if strides[outer] == columns * strides[outer + 1]:
        rows, columns = 1, rows * columns
    for i in range(source.ndim):
        steps[i], position[i] = strides[i] * itemsize, 0
    for _ in range(source.numel // (rows * columns)):  # planes of the two innermost dimensions
        row = items
        for _ in range(rows):
            copy_strided(itemsize, row, steps[outer + 1], to, itemsize, columns)
            to += columns * itemsize
            row += steps[outer]
        items = advance(outer, sizes, steps, position, items)
    return 0


cdef object lazy_clone(Kernel self, object table, arguments_t args):
    """Return the same view of a storage that shares the bytes until the first write."""
    cdef TensorImpl source = (<TensorBase>args[0]).impl
    if source.storage is None:
        raise RuntimeError("the tensor has no storage that could be shared.")
    if (<StorageImpl>source.storage).was_shrunk:
        TensorImpl_check_bounds(source)
    cdef StorageImpl storage = StorageImpl_lazy_clone(<StorageImpl>source.storage)
    cdef TensorImpl target = TensorImpl_shallow_copy(source)
    own_new(storage)
    TensorImpl_adopt(target, storage)
    return Tensor_wrap(target)


cdef object to_copy(Kernel self, object table, arguments_t args):
    """Copy to a device, in row-major order: the one of the two that is not the CPU has the kernel that copies."""
    cdef TensorBase source = <TensorBase>args[0]
    cdef TensorImpl impl = source.impl
    where = Device_from_any(<object>args[1])
    made = EMPTY.call_empty(impl.ndim, TensorImpl_sizes(impl), impl.dtype_code, where.type_code, where.index)
    return COPY_.call2(made, source)


cdef object to_dtype(Kernel self, object table, arguments_t args):
    """Convert, and keep dense strides as a clone does; what has the type already is returned itself."""
    cdef TensorBase source = <TensorBase>args[0]
    cdef TensorImpl impl = source.impl
    cdef uint8_t code = dtype_from_any(<object>args[1]).code
    if impl.dtype_code == code:
        return source
    if impl.contiguous or impl.device_type != CPU:
        made = EMPTY.call_empty(impl.ndim, TensorImpl_sizes(impl), code, impl.device_type, impl.device_index)
    else:
        made = Tensor_wrap(new_result(impl.ndim, TensorImpl_sizes(impl), code, impl, impl))
    return COPY_.call2(made, source)


cdef object copy_(Kernel self, object table, arguments_t args):
    """Write another tensor's elements; a source whose memory overlaps the target's is copied first."""
    cdef TensorBase target = <TensorBase>args[0]
    cdef TensorBase source = <TensorBase>args[1]
    cdef TensorBase origin = source
    check_writable_once(target.impl)
    TensorImpl_mutable_data(target.impl)  # a copy-on-write target gets its own bytes before anything is compared
    cdef bint overlaps = may_overlap(source.impl, target.impl)
    # Onto itself nothing is copied, and no memory is needed: x[1:] += y ends so, when the sum is written already.
    if not (overlaps and is_same_view(source.impl, target.impl)):
        if overlaps:
            origin = cloned(source.impl, None)
        copy_elements(target.impl, origin.impl)
    TensorImpl_bump_version(target.impl)
    return target


cdef object fill_(Kernel self, object table, arguments_t args):
    """Write one value everywhere."""
    # Before any address is taken: converting may run the value's own code, which may do anything.
    cdef iterator_t iterator
    cdef conversion_t conversion
    cdef TensorBase target = <TensorBase>args[0]
    cdef object value = <object>args[1]
    cdef TensorImpl impl = target.impl
    cdef ndarray array
    cdef double[2] buffer  # for one element of the widest type
    cdef double[2] converted_buffer
    cdef void* element = buffer
    check_writable_once(impl)
    cdef uint8_t code = element_code(impl.dtype_code)
    if code == BOOL and type(value) in (int, float):
        value = value != 0
    if not (is_plain_number(value) and write_number(code, element, value)):
        array = fill_element(impl, value)
        element = PyArray_DATA(array)
    cdef void* data = TensorImpl_mutable_data(impl)
    if impl.dtype_code != code:
        conversion_init(&conversion, code, impl.dtype_code)
        convert_block(&conversion, <char*>element, 0, <char*>converted_buffer, 0, 1)
        element = converted_buffer
    cdef int itemsize = itemsize_of(impl.dtype_code)
    cdef inner_loop_t loop = copy_loop(itemsize)
    cdef npy_intp count = impl.numel
    cdef npy_intp[2] steps = [0, itemsize]
    cdef (char*)[2] ends = [<char*>element, <char*>data]
    if impl.contiguous and count < GRAIN_ELEMENTS:
        if count != 0:
            loop(ends, &count, steps, &itemsize)
    else:
        iterator_start(&iterator, impl.ndim, TensorImpl_sizes(impl))
        iterator_add_element(&iterator, element)
        iterator_add(&iterator, impl, data)
        iterator.tile_loop = copy_tile
        iterator_run(&iterator, loop, &itemsize)
    TensorImpl_bump_version(impl)
    return target


cdef inline uint8_t element_code(uint8_t code) noexcept:
    """Return the type to write a number in; of float16 and bfloat16 the one that their conversion starts from."""
    return FLOAT64 if code == FLOAT16 else FLOAT32 if code == BFLOAT16 else code


cdef bint is_complex_tensor(object value):
    """Return whether it is a tensor or an array of complex numbers: written as others they only make NumPy warn."""
    if isinstance(value, TensorBase):
        return dtype_of_code((<TensorBase>value).impl.dtype_code).kind == "c"
    return isinstance(value, np.ndarray) and value.dtype.kind == "c"


cdef object fill_element(TensorImpl target, object value):
    """Return the value to write as an array of the type to write it in, if it can be written to the target."""
    check_writable_once(target)
    if value is None or isinstance(value, (str, bytes)):
        raise TypeError(f"fill_() writes one number, found {type(value).__name__}.")
    if isinstance(value, complex) or isinstance(value, np.complexfloating) or is_complex_tensor(value):
        check_cast(COMPLEX64, target.dtype_code)
    element = call_ignoring_errors(np.array, (value, dtype_of_code(element_code(target.dtype_code)).numpy))
    if element.ndim != 0:
        raise ValueError(f"fill_() writes one number, found {type(value).__name__} of shape {element.shape}.")
    return element


# Operator, key and kernel; `tensix.kernels.creation` registers them.
KERNELS = (
    (native_functions.CLONE, "CPU", Kernel_of("clone", clone)),
    (native_functions.LAZY_CLONE, "CompositeExplicitAutograd", Kernel_of("lazy_clone", lazy_clone)),
    (native_functions.TO_COPY, "CompositeExplicitAutograd", Kernel_of("to_copy", to_copy)),
    (native_functions.ASTYPE, "CompositeExplicitAutograd", Kernel_of("to_dtype", to_dtype)),
    (native_functions.COPY_, "CPU", Kernel_of("copy_", copy_)),
    (native_functions.FILL_, "CPU", Kernel_of("fill_", fill_)),
)
