"""The parts of complex numbers: views, since they lie in memory one after the other."""
from tensix.dispatch.kernel cimport CKernel_unary
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.dtype cimport dtype_of_code
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap, UNDEFINED
from tensix.tensors.tensor_impl cimport (
    TensorImpl,
    TensorImpl_copy_dims,
    TensorImpl_refresh,
    TensorImpl_sizes,
    TensorImpl_strides,
    TensorImpl_view,
)

from tensix.dispatch import native_functions
from tensix.tensors.dtype import dtype_named

cdef OperatorTable EMPTY = native_functions.EMPTY
cdef OperatorTable FILL_ = native_functions.FILL_


cdef object part_of(TensorBase a, int part):
    """Return a view of the real (0) or imaginary (1) parts of complex elements."""
    cdef TensorImpl base = a.impl
    cdef TensorImpl view = TensorImpl_view(base, base.ndim)
    cdef int i
    for i in range(base.ndim):
        TensorImpl_sizes(view)[i] = TensorImpl_sizes(base)[i]
        TensorImpl_strides(view)[i] = 2 * TensorImpl_strides(base)[i]
    view.dtype_code = dtype_named("float32" if dtype_of_code(base.dtype_code).itemsize == 8 else "float64").code
    view.storage_offset = 2 * base.storage_offset + part
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


cdef object real(TensorBase a):
    """View the real parts; of other numbers, the tensor itself."""
    cdef TensorImpl view
    check_number(a, "real")
    if dtype_of_code(a.impl.dtype_code).kind == "complex floating":
        return part_of(a, 0)
    view = TensorImpl_view(a.impl, a.impl.ndim)
    TensorImpl_copy_dims(a.impl, view, 0, 0, a.impl.ndim)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


cdef object imag(TensorBase a):
    """View the imaginary parts; of other numbers, make zeros."""
    cdef TensorImpl x = a.impl
    check_number(a, "imag")
    if dtype_of_code(x.dtype_code).kind == "complex floating":
        return part_of(a, 1)
    made = EMPTY.call_empty(x.ndim, TensorImpl_sizes(x), x.dtype_code, x.device_type, x.device_index)
    return FILL_.call_with(made, 0)


cdef int check_number(TensorBase a, str name) except -1:
    if a.impl is UNDEFINED or dtype_of_code(a.impl.dtype_code).kind == "bool":
        raise TypeError(f"{name}() is not defined for {dtype_of_code(a.impl.dtype_code).name}.")
    return 0


native_functions.REAL.register("CompositeExplicitAutograd", CKernel_unary("real", real))
native_functions.IMAG.register("CompositeExplicitAutograd", CKernel_unary("imag", imag))
