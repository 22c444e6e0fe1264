"""Operators, their kernels per dispatch key, and the call that chooses one."""
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint8_t, uint64_t
from tensix.dispatch.argument_parser cimport ArgumentParser
from tensix.tensors.dispatch_key cimport BACKEND_BITS, slot_of, tx_highest_bit
from tensix.dispatch.kernel cimport Kernel, argument_t, arguments_t
from tensix.tensors.tensor_base cimport TensorBase


ctypedef PyObject* kernel_p  # borrowed

cdef enum:
    STACK_ARGUMENTS = 6  # of an operator that is called without a tuple, at most; pure mode wants the number itself
    UNREAD = 1 << 30


cdef extern from "tensix/core/stack.h":
    int tx_check_stack(const char* what) except -1


cdef extern from "Python.h":
    arguments_t PySequence_Fast_ITEMS(object)  # of a tuple: its own, borrowed


cdef class PythonKernel(Kernel):
    cdef object function_object


cdef class FallbackKernel(Kernel):
    cdef object function_object


cdef class MissingKernel(Kernel):
    pass


cdef class OperatorTable:
    cdef readonly object schema
    cdef ArgumentParser parser    # the schema's; this and what follows is read when the operator is first called
    cdef int count                # of the arguments; UNREAD before
    cdef argument_t defaults[6]   # STACK_ARGUMENTS: of the first of them
    cdef bint has_device
    cdef bint makes_memory        # See Note [What comes back from Python]
    cdef object __weakref__
    cdef dict registered          # slot or alias -> list of (kernel, who registered it), newest first
    cdef kernel_p slots[110]      # of those that it owns; never NULL
    cdef uint64_t masks[16]       # per backend: the functionalities that do not fall through
    cdef tuple owned              # the kernels and fallbacks that slots point to
    cdef object call1(self, TensorBase a)
    cdef object call2(self, TensorBase a, TensorBase b)
    cdef object call_with(self, TensorBase a, object argument)
    cdef object call_complete(self, tuple args, uint64_t keys)
    cdef object call_array(self, arguments_t args, uint64_t keys)
    cdef object call_empty(
        self, int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type, int8_t device_index)
    cdef object call(self, tuple args, dict kwargs, uint64_t keys)
    cdef object call_slot(self, int slot, tuple args, dict kwargs)


cdef inline int OperatorTable_slot(OperatorTable self, uint64_t keys) noexcept nogil:
    """Return the slot that a set of keys selects, after what falls through is masked out."""
    cdef uint64_t backends = keys & ((<uint64_t>1 << BACKEND_BITS) - 1)
    if backends != 0:
        keys &= self.masks[tx_highest_bit(backends)]
    return slot_of(keys)


cdef object run_python(Kernel self, object table, arguments_t args)
cdef int check_returned(Kernel kernel, OperatorTable table, arguments_t args, object result) except -1
cdef object call_with_fitting(OperatorTable self, tuple args, dict kwargs)
cdef ArgumentParser OperatorTable_parser(OperatorTable self)
cdef uint64_t keys_of(object values) except? 0
