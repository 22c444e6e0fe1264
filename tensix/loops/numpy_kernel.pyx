"""Kernels that are functions of NumPy: what has no ufunc runs over zero-copy views, and its result is adopted.

The views are read-only. A result that lies in the memory of an argument is copied, so that no result of these kernels
is ever a view. See Note [Memory of NumPy's results].
"""
from cpython.number cimport PyIndex_Check, PyNumber_Index
from numpy cimport NPY_ARRAY_OWNDATA, PyArray_CHKFLAGS, PyArray_Check, import_array
from tensix.dispatch.kernel cimport Kernel, arguments_t
from tensix.dispatch.operator_table cimport OperatorTable, check_returned
from tensix.loops.copy cimport common_code, converted
from tensix.loops.numpy_results cimport array_of_bits, call_numpy, take_over
from tensix.tensors.dtype cimport (
    BFLOAT16, FLOAT16, FLOAT32, DType, default_float_code, dtype_of_code, refuse_undefined,
)
from tensix.exchange.ndarray cimport ndarray_of_impl
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap, UNDEFINED
from tensix.tensors.tensor_impl cimport TensorImpl

import numpy as np

__all__ = ["NumpyKernel"]

import_array()


cdef class NumpyKernel(Kernel):
    """Run a function of NumPy over views of the tensors among the arguments, also of those in lists.

    Parameters
    ----------
    function : callable
        Called with all arguments that the operator declares, and arrays in place of tensors. It returns an array, a
        number of NumPy, or a tuple of those; no array that it is given may outlive the call.
    promotes : bool, optional
        Whether all tensors are converted to their common element type first.
    floats : bool, optional
        Whether tensors of integers and bools are converted to the default floating type first.
    moves : bool, optional
        Whether elements are moved and never interpreted: then types that NumPy lacks are served too, as bits.
    widens : bool, optional
        Whether float16 and bfloat16 are converted to float32 first, and float32 that comes of them is converted back:
        not all of NumPy's functions know the one, and ml_dtypes' order of the other has no place for not-a-numbers.
    """

    cdef object source
    cdef bint promotes
    cdef bint floats
    cdef bint moves
    cdef bint widens

    def __init__(self, function, *, promotes=False, floats=False, moves=False, widens=False):
        self.source, self.promotes, self.floats, self.moves, self.widens = function, promotes, floats, moves, widens
        self.function, self.serves_any = run_over_views, True

    def __repr__(self):
        return f"{self.source.__module__}.{self.source.__qualname__} over views"


cdef object run_over_views(Kernel kernel, object table, arguments_t args):
    cdef NumpyKernel self = kernel
    cdef list tensors = []
    cdef list arrays = []
    cdef int code = -1
    by_position, by_name = (<OperatorTable>table).parser.unbind(args, True)
    # All arguments are plain before the first address is taken. See Note [Order of an advanced index].
    by_position = [plain(value, tensors) for value in by_position]
    by_name = {name: plain(value, tensors) for name, value in by_name.items()}
    if self.promotes or self.moves or self.widens:
        code = common_code(tensors if self.promotes else tensors[:1])
    given = [NumpyKernel_view(self, value, code, arrays) for value in by_position]
    named = {name: NumpyKernel_view(self, value, code, arrays) for name, value in by_name.items()}
    made = NumpyKernel_adopt(self, call_numpy(self.source, tuple(given), named, True), code, arrays)
    if (<OperatorTable>table).makes_memory or not isinstance(made, TensorBase):
        check_returned(self, table, args, made)
    return made


cdef object plain(object value, list tensors):
    """Return an argument in a form whose code has run: ints for what has ``__index__``; collect the tensors' bodies."""
    if isinstance(value, TensorBase):
        if (<TensorBase>value).impl is UNDEFINED:
            refuse_undefined()
        tensors.append((<TensorBase>value).impl)
        return value
    if value is None or isinstance(value, (str, bool, float, complex, DType)):
        return value
    if isinstance(value, (tuple, list)):
        return tuple([plain(item, tensors) for item in tuple(value)])
    if PyIndex_Check(value):
        return PyNumber_Index(value)
    raise TypeError(f"an operator takes tensors, numbers, names, and lists of those, found {type(value).__name__}.")


cdef object NumpyKernel_view(NumpyKernel self, object value, int code, list arrays):
    """Return a read-only view of a tensor's memory, of each tensor in a tuple, of all else the thing itself."""
    cdef TensorImpl impl
    if isinstance(value, TensorBase):
        impl = (<TensorBase>value).impl
        if self.promotes:
            impl = converted(impl, code)
        if self.floats and dtype_of_code(impl.dtype_code).kind not in "fc":
            impl = converted(impl, default_float_code())
        if self.widens and is_narrow(impl.dtype_code):
            impl = converted(impl, FLOAT32)
        array = array_of_bits(impl, False) if self.moves else ndarray_of_impl(impl, False)
        arrays.append(array)
        return array
    if isinstance(value, tuple):
        return tuple([NumpyKernel_view(self, item, code, arrays) for item in <tuple>value])
    return (<DType>value).numpy_dtype if isinstance(value, DType) else value


cdef bint is_narrow(int code) noexcept:
    return code == FLOAT16 or code == BFLOAT16


cdef bint is_shared(object array, list arrays) except -1:
    """Return whether an array that is a view, perhaps of what NumPy made, may lie in the memory of an argument."""
    if not array.flags.writeable:
        return True
    for other in arrays:
        if np.may_share_memory(array, other):
            return True
    return False


cdef object NumpyKernel_adopt(NumpyKernel self, object found, int code, list arrays):
    """Return a result as a tensor that has the memory made for it, of a tuple each."""
    cdef TensorImpl impl
    if isinstance(found, (tuple, list)):
        return tuple([NumpyKernel_adopt(self, item, code, arrays) for item in found])
    if PyArray_Check(found) and not PyArray_CHKFLAGS(found, NPY_ARRAY_OWNDATA) and is_shared(found, arrays):
        found = call_numpy(found.copy, ())
    impl = take_over(found)
    if self.moves:
        impl.dtype_code = code
    if self.widens and is_narrow(code) and impl.dtype_code == FLOAT32:
        impl = converted(impl, code)
    return Tensor_wrap(impl)
