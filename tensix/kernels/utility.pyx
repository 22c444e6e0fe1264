"""Differences of neighbours; whether all or any elements are true is a reduction of ``statistical.pyx``."""
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.dtype cimport BOOL
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl, int64_of, wrap_dim

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels import elementwise
from tensix.loops.numpy_kernel import NumpyKernel

cdef OperatorTable INDEX = native_functions.INDEX
cdef OperatorTable SUB = elementwise.subtract.table
cdef OperatorTable NOT_EQUAL = elementwise.not_equal.table
cdef slice BEHIND_THE_FIRST = slice(1, None)
cdef slice BEFORE_THE_LAST = slice(None, -1)


cdef object diff(Kernel self, object table, arguments_t args):
    """Subtract neighbours once; what more is asked for NumPy does."""
    cdef TensorBase x = <TensorBase>args[0]
    cdef TensorImpl impl = x.impl
    cdef tuple before
    is_plain = <object>args[1] == 1 and <object>args[3] is None and <object>args[4] is None
    if not is_plain or impl.ndim == 0:
        return DIFF_BY_NUMPY.function(DIFF_BY_NUMPY, table, args)
    before = (slice(None),) * wrap_dim(int64_of(<object>args[2]), impl.ndim)
    later = INDEX.call_with(x, (*before, BEHIND_THE_FIRST))
    earlier = INDEX.call_with(x, (*before, BEFORE_THE_LAST))
    return (NOT_EQUAL if impl.dtype_code == BOOL else SUB).call2(later, earlier)


def diff_kernel(self, n, axis, prepend, append):
    """Leave out what is not given: to NumPy None would be a value."""
    given = {name: value for name, value in (("prepend", prepend), ("append", append)) if value is not None}
    if n > 1:
        once = np.diff(self, 1, axis, **given)
        if n > once.shape[axis]:  # each round takes one away: NumPy would go on when nothing is left
            return once.take([], axis)
        return np.diff(once, n - 1, axis)
    return np.diff(self, n, axis, **given)


cdef Kernel DIFF_BY_NUMPY = NumpyKernel(diff_kernel, promotes=True)

native_functions.DIFF.register("CPU", Kernel_of("diff", diff))
