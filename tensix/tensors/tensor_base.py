"""The handle on a tensor, without its methods: what kernels and the dispatcher need to know of tensors.

PyTorch splits ``at::Tensor`` in the same way: methods of the full class call operators, and the dispatcher, which they
call, must not need that class. So the class says here which it is, and results are wrapped in it here.
"""

import cython
from cython.cimports.cpython.object import PyObject
from cython.cimports.tensix.core.free_list import (
    free_list_accepts, free_list_install, free_list_keep, free_list_t, free_list_take,
)
from cython.cimports.tensix.core.handle import drop, own_new
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl_new, TensorImpl_sizes, TensorImpl_strides

UNDEFINED = TensorImpl_new(46, 0, 1)  # the null of tensors: one dimension of size 0, no dtype, no keys
TensorImpl_sizes(UNDEFINED)[0] = 0
TensorImpl_strides(UNDEFINED)[0] = 1
UNDEFINED.device_index = -1  # as that of tensors whose device was not told


@cython.no_gc  # a body takes no part in collection either
@cython.cclass
class TensorBase:
    """Own a tensor's body with one strong count.

    Attributes
    ----------
    impl : TensorImpl
        The bare body; of an undefined tensor, the one body that all of those share.
    """

    def __cinit__(self):
        self.impl = UNDEFINED

    def __dealloc__(self):
        drop_body(self)


TENSOR_CLASS = cython.declare(type, TensorBase)  # whose handles `Tensor_wrap` makes
FREE = cython.declare(free_list_t)


def Tensor_wrap(impl):
    """Return the first handle on a new body."""
    made: TensorBase = (
        cython.cast(TensorBase, free_list_take(cython.address(FREE)))
        if FREE.count
        else TENSOR_CLASS.__new__(TENSOR_CLASS)
    )
    own_new(impl)
    made.impl = impl
    return made


def set_tensor_class(tensor_class):
    """Say which class users hold; called once, by the module that has it."""
    global TENSOR_CLASS
    TENSOR_CLASS = tensor_class
    free_list_install(cython.address(FREE), tensor_class, deallocate)
    return 0


def found_no_tensor(value, place=""):
    """Return what an error says of a value where a tensor is needed: its class, and how to make a tensor of it.

    The header ``argument_errors.h`` says the same of arguments whose type is declared.
    """
    name = type(value).__name__
    if name == "Tensor":  # another library's
        name = f"{type(value).__module__}.{name}"
    return f"found {name}{place}." + ("" if value is None else " Wrap it in tensix.asarray().")


@cython.cfunc
@cython.exceptval(check=False)
def deallocate(dead: cython.pointer(PyObject)) -> cython.void:
    """Deallocate an instance, as the type's tp_dealloc. See Note [Free lists]."""
    if free_list_accepts(cython.address(FREE), dead):
        drop_body(cython.cast(TensorBase, dead))
        free_list_keep(cython.address(FREE), dead)
    else:
        FREE.chain(dead)


@cython.cfunc
@cython.exceptval(check=False)
def drop_body(tensor: TensorBase) -> cython.void:
    """Drop the body."""
    if tensor.impl is not UNDEFINED:
        drop(tensor.impl)
        tensor.impl = UNDEFINED
