# cython: language_level=3
"""What the dispatcher adds to a kernel: the same call through an operator's table and straight to its kernel.

The only loops that use private parts of tensix: tables and kernels are not public.
"""
from cpython.object cimport PyObject
from tensix.dispatch.kernel cimport Kernel
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.tensor_base cimport TensorBase

from tensix.dispatch import dispatcher

cdef OperatorTable ADD = dispatcher.get_op_table("tensix::add.Tensor")


def through_the_table(TensorBase x not None, TensorBase y not None, Py_ssize_t times):
    """Add by the operator."""
    cdef Py_ssize_t _
    for _ in range(times):
        ADD.call2(x, y)


def straight_to_the_kernel(TensorBase x not None, TensorBase y not None, Py_ssize_t times):
    """Add by the kernel that the operator would choose for the CPU."""
    cdef Kernel kernel = ADD.kernel_for("CPU")
    cdef object alpha = 1
    cdef PyObject* args[3]
    cdef Py_ssize_t _
    args[0], args[1], args[2] = <PyObject*>x, <PyObject*>y, <PyObject*>alpha
    for _ in range(times):
        kernel.function(kernel, ADD, args)
