"""Operators, their kernels per dispatch key, and the call that chooses one."""
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint8_t, uint64_t
from tensix.core.free_threading cimport TX_COUNT
from tensix.dispatch.argument_parser cimport ArgumentParser
from tensix.tensors.dispatch_key cimport BACKEND_BITS, slot_of, tx_highest_bit
from tensix.dispatch.kernel cimport Kernel, argument_t, arguments_t
from tensix.tensors.dtype cimport refuse_undefined
from tensix.tensors.tensor_base cimport UNDEFINED, TensorBase


ctypedef PyObject* kernel_p  # borrowed

cdef enum:
    STACK_ARGUMENTS = 6  # of an operator that is called without a tuple, at most; pure mode wants the number itself
    UNREAD = 1 << 30


cdef extern from "Python.h":
    PyObject* NONE "Py_None"
    arguments_t PySequence_Fast_ITEMS(object)  # of a tuple: its own, borrowed


cdef class PythonKernel(Kernel):
    cdef object function_object
    cdef bint is_fallback


cdef class OperatorTable:
    cdef readonly object schema
    cdef ArgumentParser parser    # the schema's; this and what follows is read when the operator is first called
    cdef int count                # of the arguments; UNREAD before
    cdef argument_t defaults[6]   # STACK_ARGUMENTS: of the first of them
    cdef bint returns_tensor      # one, and not an argument that is written
    cdef bint makes_memory        # See Note [What comes back from Python]
    cdef object __weakref__
    cdef dict registered          # slot or alias -> list of (kernel, who registered it), newest first
    cdef kernel_p slots[110]      # of those that it owns; never NULL
    cdef uint64_t masks[16]       # per backend: the functionalities that do not fall through
    cdef tuple owned              # the kernels and fallbacks that slots point to
    cdef object call1(self, TensorBase a)
    cdef object call2(self, TensorBase a, TensorBase b)
    cdef object call_with(self, TensorBase a, object argument)
    cdef object call_array(self, arguments_t args)
    cdef object call_empty(
        self, int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type, int8_t device_index)
    cdef object call(self, tuple args, dict kwargs)


cdef struct resolution_t:
    PyObject* table
    kernel_p slots[110]
    uint64_t masks[16]
    PyObject* owned

cdef extern from "tensix/core/free_threading.h":
    void swap_owned "TX_SWAP_OWNED" (OperatorTable table, PyObject** others) nogil

cdef void exchange_slots(void* what) noexcept nogil
cdef void change_listeners(void* listeners) noexcept


cdef inline int OperatorTable_slot(OperatorTable self, uint64_t keys) noexcept nogil:
    """Return the slot that a set of keys selects, after what falls through is masked out."""
    cdef uint64_t backends = keys & ((<uint64_t>1 << BACKEND_BITS) - 1)
    if backends != 0:
        keys &= self.masks[tx_highest_bit(backends)]
    return slot_of(keys)


# The function of a kernel without Cython's look for errors behind the call: a use is ended before. NULL is an error.
ctypedef PyObject* (*any_function_t)(PyObject* kernel, PyObject* table, PyObject** args) noexcept


cdef extern from "tensix/core/callers.h":
    void tx_begin_call()
    void tx_end_call()


cdef inline PyObject* call_function(kernel_p kernel, OperatorTable table, arguments_t args) noexcept:
    cdef PyObject* found
    tx_begin_call()
    found = (<any_function_t><void*>(<Kernel>kernel).function)(kernel, <PyObject*>table, args)
    tx_end_call()
    return found


cdef inline bint is_undefined(PyObject* tensor) noexcept:
    return (<TensorBase>tensor).impl is UNDEFINED


cdef inline int begin_use_of(TensorBase tensor) except -1:
    """Count a use of an operand. See Note [Operands in use] in tensix/tensors/tensor_impl.py."""
    if tensor.impl is UNDEFINED:
        refuse_undefined()
    TX_COUNT(tensor.impl.uses, 1)
    return 0


cdef inline void end_use_of(TensorBase tensor) noexcept:
    TX_COUNT(tensor.impl.uses, -1)


cdef Py_ssize_t begin_uses(ArgumentParser parser, arguments_t args) except -1
cdef void end_uses(ArgumentParser parser, arguments_t args, int operands, Py_ssize_t count) noexcept
cdef object run_python(Kernel self, object table, arguments_t args)
cdef int check_returned(Kernel kernel, OperatorTable table, arguments_t args, object result) except -1
cdef ArgumentParser OperatorTable_parser(OperatorTable self)
