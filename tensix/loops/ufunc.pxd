"""Kernels made of NumPy's own inner loops."""
from libc.stdint cimport uint8_t
from numpy cimport ufunc
from tensix.dispatch.kernel cimport Kernel
from tensix.loops.corrected_loops cimport original_loop_t
from tensix.loops.iterator cimport inner_loop_t
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl


cdef extern from "numpy/ufuncobject.h":
    ctypedef struct PyUFuncObject:
        const char* types  # NumPy's own declarations have it in some versions only


cdef inline const char* types_of_loop(ufunc function, int loop) noexcept:
    """Return NumPy's numbers of the types that a loop takes and gives, as many as there are arguments."""
    return (<PyUFuncObject*>function).types + loop * function.nargs


cdef struct typed_loop_t:
    inner_loop_t function  # NULL: NumPy has none for this type
    void* data
    uint8_t code           # of the inputs
    uint8_t result_code
    bint keeps_rows        # as in iterator_t: such as exp, which NumPy vectorises for numbers side by side
    bint waits_for_memory  # as in iterator_t


cdef class UfuncKernel(Kernel):
    cdef str operator_name
    cdef str source               # NumPy's name
    cdef int inputs
    cdef bint has_alpha           # whether the operator has the argument, which scales the second operand
    cdef bint promotes            # whether integers and bools are computed in the default floating type
    cdef typed_loop_t loops[47]
    cdef original_loop_t originals[47]
    cdef int check(self, TensorImpl x, TensorImpl y) except -1


cdef int UfuncKernel_result_code(UfuncKernel self, uint8_t code) except -1
cdef TensorImpl run_loop(typed_loop_t* loop, TensorImpl x, TensorImpl y, TensorImpl out, uint8_t result_code)
cdef TensorImpl run_beside_number(typed_loop_t* loop, TensorImpl x, void* number, bint is_left, TensorImpl out)
cdef TensorBase scaled(TensorBase left, TensorBase right, object alpha)
