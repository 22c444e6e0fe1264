"""Kernels: what an operator's table holds."""
from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint8_t

cdef class Kernel

# See Note [How a kernel is called]
ctypedef PyObject* argument_t
ctypedef PyObject** arguments_t
ctypedef object (*kernel_function_t)(Kernel self, object table, PyObject** args)
ctypedef object (*empty_function_t)(
    Kernel self, int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type, int8_t device_index)
ctypedef object (*number_function_t)(Kernel self, object tensor, void* number, bint is_left)


cdef class Kernel:
    cdef kernel_function_t function
    cdef empty_function_t empty_function  # NULL for all but a few
    cdef number_function_t number_function  # the same
    cdef str name                         # what it prints as
    cdef int variant                      # which of its operators a function that serves several runs here
    cdef object schema                    # of the first operator that it was registered for
    cdef bint is_foreign                  # whether it is in Python, and calls operators for what it does with tensors
    cdef bint serves_any                  # whether it looks up what the arguments are, and so fits every operator


cdef Kernel Kernel_of(str name, kernel_function_t function, int variant=*)
