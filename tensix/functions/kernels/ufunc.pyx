"""Kernels made of NumPy's own inner loops.

A ufunc carries a C loop per combination of types, with NumPy's vectorised code in it, callable without the GIL. At
import they are entered into a table per operator, a row per element type: the second stage of dispatch is one look
into it.
"""
from libc.stdint cimport int64_t, uint8_t
from numpy cimport ufunc
from tensix.dispatch.kernel cimport Kernel
from tensix.functions.kernels.conversion cimport (
    conversion_init,
    converting_loop,
    converting_loop_init,
    converting_loop_t,
)
from tensix.functions.kernels.empty cimport empty_impl
from tensix.functions.kernels.iterator cimport (
    GRAIN_ELEMENTS,
    broadcast_sizes,
    inner_loop_t,
    iterator_add,
    iterator_run,
    iterator_start,
    iterator_t,
    new_result,
)
from numpy cimport npy_intp
from tensix.tensors.dtype cimport BFLOAT16, FLOAT32, default_float_code, dtype_from_any, dtype_of_code
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor cimport Tensor_wrap
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport (
    TensorImpl,
    TensorImpl_const_data,
    TensorImpl_mutable_data,
    TensorImpl_same_sizes,
    TensorImpl_sizes,
)

import numpy as np

from tensix.dispatch import native_functions

cdef class UfuncKernel(Kernel):
    """Run a ufunc's loop for the type of the arguments."""

    def __init__(self, function, divides=False):
        self.name, self.inputs, self.divides = function.__name__, function.nin, divides
        UfuncKernel_take_loops(self, function)

    cdef object call1(self, TensorBase a):
        if self.inputs != 1:
            return self.call((a,), None)
        cdef typed_loop_t* loop = &self.loops[UfuncKernel_code(self, a.impl.dtype_code)]
        return Tensor_wrap(run_unary(loop, a.impl, UfuncKernel_result(loop, a.impl.dtype_code)))

    cdef object call2(self, TensorBase a, TensorBase b):
        if self.inputs != 2:
            return self.call((a, b), None)
        cdef typed_loop_t* loop = &self.loops[a.impl.dtype_code]
        common = a.impl.dtype_code
        if common != b.impl.dtype_code or loop.function == NULL:
            common = promote_codes(common, b.impl.dtype_code)
            loop = &self.loops[UfuncKernel_code(self, common)]
        return Tensor_wrap(run_binary(loop, a.impl, b.impl, UfuncKernel_result(loop, common)))

    cdef object call(self, tuple args, dict kwargs):
        if kwargs or len(args) != self.inputs or not all([isinstance(value, TensorBase) for value in args]):
            raise TypeError(f"{self.name}() takes {self.inputs} tensors and nothing else.")
        return self.call1(args[0]) if self.inputs == 1 else self.call2(args[0], args[1])

    def __repr__(self):
        return f"numpy.{self.name} loops"


cdef int UfuncKernel_take_loops(UfuncKernel self, ufunc function) except -1:
    """Enter every loop whose inputs are of one type that tensix has."""
    cdef int i
    for i, letters in enumerate((<object>function).types):
        types = [np.dtype(letter) for letter in letters.replace("->", "")]
        if any(kind != types[0] for kind in types[:function.nin]):
            continue
        try:
            code = dtype_from_any(types[0]).code
            result_code = dtype_from_any(types[function.nin]).code
        except TypeError:
            continue  # times, objects, long double: no types of ours
        if self.loops[code].function == NULL:
            self.loops[code].function = <inner_loop_t>function.functions[i]
            self.loops[code].data = <void*>function.data[i] if function.data != NULL else NULL
            self.loops[code].code, self.loops[code].result_code = code, result_code
    return 0


cdef int UfuncKernel_code(UfuncKernel self, uint8_t code) except -1:
    """Return the element type whose loop serves a type: dispatch's second stage."""
    if self.loops[code].function != NULL:
        return code
    if code == BFLOAT16:  # See Note [bfloat16 and NumPy]
        return UfuncKernel_code(self, FLOAT32)
    kind = dtype_of_code(code).kind
    if self.divides and (kind == "bool" or "integer" in kind):
        return default_float_code()
    raise TypeError(f"{self.name}() is not defined for {dtype_of_code(code).name}.")


cdef TensorImpl run_unary(typed_loop_t* loop, TensorImpl x, uint8_t result_code):
    """Run over one tensor; it and the result are converted in blocks. See Note [Conversion in blocks]."""
    cdef iterator_t iterator
    cdef converting_loop_t wrapped
    cdef TensorImpl out = new_result(x.ndim, TensorImpl_sizes(x), result_code, x, x)
    iterator_start(&iterator, x.ndim, TensorImpl_sizes(x))
    iterator_add(&iterator, x, <void*>TensorImpl_const_data(x))
    iterator_add(&iterator, out, TensorImpl_mutable_data(out))
    if x.dtype_code == loop.code and result_code == loop.result_code:
        iterator_run(&iterator, loop.function, loop.data)
        return out
    converting_loop_init(&wrapped, loop.function, loop.data, 2)
    convert_operands(&wrapped, loop, x, x, out)
    iterator_run(&iterator, converting_loop, &wrapped)
    return out


cdef TensorImpl run_binary(typed_loop_t* loop, TensorImpl x, TensorImpl y, uint8_t result_code):
    """Run over two tensors; they and the result are converted in blocks. See Note [Conversion in blocks]."""
    cdef int64_t sizes[64]
    cdef iterator_t iterator
    cdef converting_loop_t wrapped
    cdef int ndim
    cdef TensorImpl out
    cdef bint fits = x.dtype_code == loop.code and y.dtype_code == loop.code and result_code == loop.result_code
    if (fits and x.numel < GRAIN_ELEMENTS and x.contiguous and y.contiguous and TensorImpl_same_sizes(x, y)):
        out = empty_impl(x.ndim, TensorImpl_sizes(x), loop.result_code, x.device_type, x.device_index)
        run_flat(loop, x, y, out)
        return out
    ndim = broadcast_sizes(x, y, sizes)
    out = new_result(ndim, sizes, result_code, x, y)
    iterator_start(&iterator, ndim, sizes)
    iterator_add(&iterator, x, <void*>TensorImpl_const_data(x))
    iterator_add(&iterator, y, <void*>TensorImpl_const_data(y))
    iterator_add(&iterator, out, TensorImpl_mutable_data(out))
    if fits:
        iterator_run(&iterator, loop.function, loop.data)
        return out
    converting_loop_init(&wrapped, loop.function, loop.data, 3)
    convert_operands(&wrapped, loop, x, y, out)
    iterator_run(&iterator, converting_loop, &wrapped)
    return out


cdef int convert_operands(
        converting_loop_t* self, typed_loop_t* loop, TensorImpl x, TensorImpl y, TensorImpl out) except -1:
    """Set up the conversions of the inputs to the loop's type, and from its result."""
    cdef int last = self.operands - 1
    if x.dtype_code != loop.code:
        conversion_init(&self.conversions[0], x.dtype_code, loop.code)
    if last == 2 and y.dtype_code != loop.code:
        conversion_init(&self.conversions[1], y.dtype_code, loop.code)
    if out.dtype_code != loop.result_code:
        conversion_init(&self.conversions[last], loop.result_code, out.dtype_code)
    return 0


cdef int run_flat(typed_loop_t* loop, TensorImpl x, TensorImpl y, TensorImpl out) except -1:
    """Run over three small tensors that lie in memory as one run each."""
    cdef npy_intp count = x.numel
    cdef npy_intp steps[3]
    cdef char* data[3]
    steps[0] = steps[1] = dtype_of_code(x.dtype_code).itemsize
    steps[2] = dtype_of_code(out.dtype_code).itemsize
    data[0] = <char*>TensorImpl_const_data(x)
    data[1] = <char*>TensorImpl_const_data(y)
    data[2] = <char*>TensorImpl_mutable_data(out)
    if count != 0:
        loop.function(data, &count, steps, loop.data)
    return 0


native_functions.ADD.register("CPU", UfuncKernel(np.add))
native_functions.SUB.register("CPU", UfuncKernel(np.subtract))
native_functions.MUL.register("CPU", UfuncKernel(np.multiply))
native_functions.DIV.register("CPU", UfuncKernel(np.divide, divides=True))
native_functions.NEG.register("CPU", UfuncKernel(np.negative))
