"""Kernels: what an operator's table holds."""
from libc.stdint cimport int8_t, int64_t, uint8_t
from tensix.dispatch.argument_parser cimport ArgumentParser
from tensix.tensors.tensor_base cimport TensorBase

# The shapes of call that need no tuple of arguments.
ctypedef object (*unary_t)(TensorBase a)
ctypedef object (*binary_t)(TensorBase a, TensorBase b)
ctypedef object (*with_t)(TensorBase a, object argument)
ctypedef object (*arguments_t)(TensorBase a, tuple args)  # all of them: args[0] is for `a`


cdef class Kernel:
    cdef object call1(self, TensorBase a)
    cdef object call2(self, TensorBase a, TensorBase b)
    cdef object call_with(self, TensorBase a, object argument)
    cdef object call_named(self, TensorBase a, str name, object argument)
    cdef object call_empty(
        self, int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type, int8_t device_index)
    cdef object call(self, tuple args, dict kwargs)


cdef class PythonKernel(Kernel):
    cdef object function
    cdef object schema
    cdef bint must_return_tensor
    cdef object call(self, tuple args, dict kwargs)


cdef class FallbackKernel(Kernel):
    cdef object function
    cdef object table
    cdef object call(self, tuple args, dict kwargs)


cdef class CKernel(Kernel):
    cdef str name
    cdef unary_t unary
    cdef binary_t binary
    cdef with_t with_argument
    cdef object call1(self, TensorBase a)
    cdef object call2(self, TensorBase a, TensorBase b)
    cdef object call_with(self, TensorBase a, object argument)
    cdef object call(self, tuple args, dict kwargs)


cdef class ArgumentsKernel(Kernel):
    cdef object schema
    cdef ArgumentParser parser    # the schema's; None, as what follows it, until the first call
    cdef arguments_t function
    cdef int count
    cdef tuple defaults           # what call1 stands for; None if it does not suffice
    cdef str option               # the only argument beside the tensor, which may be named; None if there are more
    cdef object call1(self, TensorBase a)
    cdef object call_named(self, TensorBase a, str name, object argument)
    cdef object call(self, tuple args, dict kwargs)


cdef class FallthroughKernel(Kernel):
    pass


cdef CKernel CKernel_unary(str name, unary_t function)
cdef CKernel CKernel_binary(str name, binary_t function)
cdef CKernel CKernel_with(str name, with_t function)
cdef ArgumentsKernel ArgumentsKernel_of(object schema, arguments_t function)
cdef tuple empty_arguments(
    int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type, int8_t device_index)
