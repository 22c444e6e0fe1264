"""Reductions that NumPy makes over zero-copy views: positions, counts, and running sums and products.

No inner loop of NumPy's ufuncs does them; its functions release the GIL by themselves.
"""
from libc.stdint cimport int64_t, uint64_t
from numpy cimport NPY_ARRAY_WRITEABLE, PyArray_ENABLEFLAGS, import_array, ndarray, npy_intp
from tensix.core.device cimport META
from tensix.dispatch.kernel cimport ArgumentsKernel_of
from tensix.kernels.copy cimport converted
from tensix.kernels.empty cimport empty_impl
from tensix.kernels.numpy_memory cimport call_numpy, take_over
from tensix.kernels.reduction cimport axes_from_any, check_defined, reduced_impl
from tensix.tensors.dtype cimport BFLOAT16, dtype_from_any, dtype_of_code
from tensix.exchange.ndarray cimport ndarray_of_impl, readable_of_impl
from tensix.exchange.quiet_calls cimport call_quietly
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport TensorImpl, TensorImpl_mutable_data, TensorImpl_sizes, int64_of, wrap_dim

import numpy as np

from tensix.dispatch import native_functions
from tensix.tensors.dtype import dtype_named

import_array()

cdef extern from "numpy/arrayobject.h":
    npy_intp PyArray_CountNonzero(ndarray array) except -1

cdef enum:
    INT64 = 4


cdef object position(TensorBase a, tuple args, str method):
    """Return where along an axis, or in the elements one after the other, a method of arrays finds something."""
    cdef TensorImpl x = a.impl
    cdef TensorImpl made
    cdef uint64_t axes
    _, axis, keepdims = args
    check_defined(x)
    axis = None if axis is None else wrap_dim(int64_of(axis), x.ndim)
    axes = axes_from_any(axis, x.ndim)
    if x.numel == 0:
        refuse_empty(x, axes)
    made = reduced_impl(x, INT64, axes, keepdims)
    result = Tensor_wrap(made)
    if x.device_type == META:
        return result
    elements = readable_of_impl(x)
    PyArray_ENABLEFLAGS(elements, NPY_ARRAY_WRITEABLE)  # nothing is written, but NumPy copies what it may not write
    options = {"keepdims": True} if keepdims else None
    call_numpy(getattr(elements, method), (axis, ndarray_of_impl(made, True)), options)
    return result


cdef int refuse_empty(TensorImpl x, uint64_t axes) except -1:
    for i in range(x.ndim):
        if (axes >> i) & 1 and TensorImpl_sizes(x)[i] == 0:
            raise ValueError("attempt to get argmax or argmin of an empty sequence: there is no element to point at.")
    return 0


cdef object argmax(TensorBase a, tuple args):
    return position(a, args, "argmax")


cdef object argmin(TensorBase a, tuple args):
    return position(a, args, "argmin")


cdef object count_nonzero(TensorBase a, tuple args):
    cdef TensorImpl x = a.impl
    cdef uint64_t axes
    _, axis, keepdims = args
    check_defined(x)
    axes = axes_from_any(axis, x.ndim)
    if x.device_type == META or are_all(axes, x.ndim):
        made = reduced_impl(x, INT64, axes, keepdims)
        result = Tensor_wrap(made)
        if x.device_type != META:
            (<int64_t*>TensorImpl_mutable_data(made))[0] = PyArray_CountNonzero(readable_of_impl(x))
        return result
    chosen = tuple([i for i in range(x.ndim) if (axes >> i) & 1])
    found = call_numpy(np.count_nonzero, (readable_of_impl(x), chosen), {"keepdims": bool(keepdims)})
    return Tensor_wrap(converted(take_over(found), INT64))


cdef bint are_all(uint64_t axes, int ndim) noexcept:
    """Return whether no axis is left."""
    for i in range(ndim):
        if not (axes >> i) & 1:
            return False
    return True


cdef dict WIDENED = {"bool": "int64", "int8": "int64", "int16": "int64", "int32": "int64", "uint8": "uint64",
                     "uint16": "uint64", "uint32": "uint64"}


cdef object accumulate(TensorBase a, tuple args, object function):
    """Return what folding the first, the first two, … elements along an axis gives."""
    cdef TensorImpl x = a.impl
    cdef int dim
    _, axis, dtype, include_initial = args
    check_defined(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis must be given for a tensor of {x.ndim} dimensions: only one stands for itself.")
        axis = 0
    dim = wrap_dim(int64_of(axis), x.ndim)
    own = dtype_of_code(x.dtype_code)
    result = dtype_named(WIDENED.get(own.name, own.name)) if dtype is None else dtype_from_any(dtype)
    if own.kind == "complex floating" != result.kind:
        raise TypeError(f"complex numbers can't be cast to the desired output type {result}.")
    shape = list(a.shape)
    shape[dim] += bool(include_initial)
    if x.device_type == META:
        return Tensor_wrap(meta_impl(x, shape, result.code))
    out = call_numpy(np.empty, (shape, np.float32 if result.code == BFLOAT16 else result.numpy))
    before = (slice(None),) * dim
    if include_initial:
        out[(*before, 0)] = function.identity
    folded = out[(*before, slice(1, None))] if include_initial else out
    call_quietly(function.accumulate, (readable_of_impl(x), dim, out.dtype, folded))
    return Tensor_wrap(converted(take_over(out), result.code))


cdef TensorImpl meta_impl(TensorImpl x, list shape, int code):
    cdef int64_t sizes[64]
    for i in range(x.ndim):
        sizes[i] = shape[i]
    return empty_impl(x.ndim, sizes, code, x.device_type, x.device_index)


cdef object cumulative_sum(TensorBase a, tuple args):
    return accumulate(a, args, np.add)


cdef object cumulative_prod(TensorBase a, tuple args):
    return accumulate(a, args, np.multiply)


for _table, _kernel in (
    (native_functions.ARGMAX, ArgumentsKernel_of(native_functions.ARGMAX.schema, argmax)),
    (native_functions.ARGMIN, ArgumentsKernel_of(native_functions.ARGMIN.schema, argmin)),
    (native_functions.COUNT_NONZERO, ArgumentsKernel_of(native_functions.COUNT_NONZERO.schema, count_nonzero)),
    (native_functions.CUMULATIVE_SUM, ArgumentsKernel_of(native_functions.CUMULATIVE_SUM.schema, cumulative_sum)),
    (native_functions.CUMULATIVE_PROD, ArgumentsKernel_of(native_functions.CUMULATIVE_PROD.schema, cumulative_prod)),
):
    _table.register("CPU", _kernel)
    _table.register("Meta", _kernel)
