"""Kernels made of NumPy's own inner loops.

A ufunc carries a C loop per combination of types, with NumPy's vectorised code in it, callable without the GIL. At
import they are entered into a table per operator, a row per element type: the second stage of dispatch is one look
into it.
"""
from libc.stdint cimport int64_t, uint8_t
from numpy cimport ufunc
from tensix.dispatch.kernel cimport Kernel
from tensix.functions.kernels.copy cimport copy_elements
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
        cdef TensorImpl x = converted(a.impl, UfuncKernel_code(self, a.impl.dtype_code))
        cdef TensorImpl out = run_unary(&self.loops[x.dtype_code], x)
        return Tensor_wrap(rounded(out) if a.impl.dtype_code == BFLOAT16 else out)

    cdef object call2(self, TensorBase a, TensorBase b):
        if self.inputs != 2:
            return self.call((a, b), None)
        cdef TensorImpl x = a.impl
        cdef TensorImpl y = b.impl
        if x.dtype_code != y.dtype_code or self.loops[x.dtype_code].function == NULL:
            common = promote_codes(x.dtype_code, y.dtype_code)
            code = UfuncKernel_code(self, common)
            x = converted(x, code)
            y = converted(y, code)
            if common == BFLOAT16:
                return Tensor_wrap(rounded(run_binary(&self.loops[code], x, y)))
        return Tensor_wrap(run_binary(&self.loops[x.dtype_code], x, y))

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
            self.loops[code].result_code = result_code
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


cdef TensorImpl rounded(TensorImpl result):
    """Return a result that was computed in float32 for bfloat16, in bfloat16; one of another type as it is."""
    return converted(result, BFLOAT16) if result.dtype_code == FLOAT32 else result


cdef TensorImpl run_unary(typed_loop_t* loop, TensorImpl x):
    cdef iterator_t iterator
    cdef TensorImpl out = new_result(x.ndim, TensorImpl_sizes(x), loop.result_code, x, x)
    iterator_start(&iterator, x.ndim, TensorImpl_sizes(x))
    iterator_add(&iterator, x, <void*>TensorImpl_const_data(x))
    iterator_add(&iterator, out, TensorImpl_mutable_data(out))
    iterator_run(&iterator, loop.function, loop.data)
    return out


cdef TensorImpl run_binary(typed_loop_t* loop, TensorImpl x, TensorImpl y):
    cdef int64_t sizes[64]
    cdef iterator_t iterator
    cdef int ndim
    cdef TensorImpl out
    if x.numel < GRAIN_ELEMENTS and x.contiguous and y.contiguous and TensorImpl_same_sizes(x, y):
        out = empty_impl(x.ndim, TensorImpl_sizes(x), loop.result_code, x.device_type, x.device_index)
        run_flat(loop, x, y, out)
        return out
    ndim = broadcast_sizes(x, y, sizes)
    out = new_result(ndim, sizes, loop.result_code, x, y)
    iterator_start(&iterator, ndim, sizes)
    iterator_add(&iterator, x, <void*>TensorImpl_const_data(x))
    iterator_add(&iterator, y, <void*>TensorImpl_const_data(y))
    iterator_add(&iterator, out, TensorImpl_mutable_data(out))
    iterator_run(&iterator, loop.function, loop.data)
    return out


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


cdef TensorImpl converted(TensorImpl source, uint8_t code):
    """Return the tensor in another element type; itself if it has that."""
    if source.dtype_code == code:
        return source
    cdef TensorImpl target = empty_impl(
        source.ndim, TensorImpl_sizes(source), code, source.device_type, source.device_index)
    copy_elements(target, source)
    return target


native_functions.ADD.register("CPU", UfuncKernel(np.add))
native_functions.SUB.register("CPU", UfuncKernel(np.subtract))
native_functions.MUL.register("CPU", UfuncKernel(np.multiply))
native_functions.DIV.register("CPU", UfuncKernel(np.divide, divides=True))
native_functions.NEG.register("CPU", UfuncKernel(np.negative))
