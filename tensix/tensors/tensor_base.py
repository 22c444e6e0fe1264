"""The handle on a tensor, without operators: what the dispatcher needs to know of tensors.

PyTorch splits ``at::Tensor`` in the same way: operators are methods of the full class, and the dispatcher, which
they call, must not need that class.
"""

import cython
from cython.cimports.tensix.core.handle import drop
from cython.cimports.tensix.core.intrusive_ptr import IntrusiveTarget_start_unique
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl_new, TensorImpl_sizes, TensorImpl_strides

__all__ = []

UNDEFINED = TensorImpl_new(46, 0, 1)  # the null of tensors: one dimension of size 0, no dtype, no keys
TensorImpl_sizes(UNDEFINED)[0] = 0
TensorImpl_strides(UNDEFINED)[0] = 1


@cython.freelist(64)
@cython.no_gc  # a body takes no part in collection either
@cython.cclass
class TensorBase:
    """Own a tensor's body with one strong count."""

    def __cinit__(self):
        self.impl = UNDEFINED

    def __dealloc__(self):
        if self.impl is not UNDEFINED:
            drop(self.impl)


def TensorBase_own_new(self, impl):
    """Become the first owner of a new body."""
    IntrusiveTarget_start_unique(impl)
    self.impl = impl
    return 0
