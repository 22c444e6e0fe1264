"""The methods of tensors that fold elements into fewer."""

import cython
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.dtype import dtype_from_any
from cython.cimports.tensix.tensors.operator_methods import OperatorMethods
from cython.cimports.tensix.tensors.tensor_base import TensorBase

from tensix.dispatch import native_functions

__all__ = []

SUM = cython.declare(OperatorTable, native_functions.SUM)
PROD = cython.declare(OperatorTable, native_functions.PROD)
MAX = cython.declare(OperatorTable, native_functions.MAX)
MIN = cython.declare(OperatorTable, native_functions.MIN)
ANY = cython.declare(OperatorTable, native_functions.ANY)
ALL = cython.declare(OperatorTable, native_functions.ALL)
MEAN = cython.declare(OperatorTable, native_functions.MEAN)
VAR = cython.declare(OperatorTable, native_functions.VAR)
STD = cython.declare(OperatorTable, native_functions.STD)
ARGMAX = cython.declare(OperatorTable, native_functions.ARGMAX)
ARGMIN = cython.declare(OperatorTable, native_functions.ARGMIN)


@cython.no_gc  # as its base
@cython.cclass
class ReductionMethods(OperatorMethods):
    """Give a tensor its reductions; each takes what the function of its name takes, and `axis` by position too."""

    def sum(self, axis=None, dtype=None, keepdims=False):
        """Return the sum of the elements along axes, or of all; parameters as for `tensix.sum`."""
        return fold_as(SUM, self, axis, dtype, keepdims)

    def prod(self, axis=None, dtype=None, keepdims=False):
        """Return the product of the elements along axes, or of all; parameters as for `tensix.prod`."""
        return fold_as(PROD, self, axis, dtype, keepdims)

    def max(self, axis=None, keepdims=False):
        """Return the largest elements along axes, or the largest of all; see `tensix.max`."""
        return fold(MAX, self, axis, keepdims)

    def min(self, axis=None, keepdims=False):
        """Return the smallest elements along axes, or the smallest of all; see `tensix.min`."""
        return fold(MIN, self, axis, keepdims)

    def any(self, axis=None, keepdims=False):
        """Return whether any element along axes, or any at all, is not zero."""
        return fold(ANY, self, axis, keepdims)

    def all(self, axis=None, keepdims=False):
        """Return whether all elements along axes, or all there are, are not zero."""
        return fold(ALL, self, axis, keepdims)

    def mean(self, axis=None, keepdims=False):
        """Return the mean of the elements along axes, or of all; see `tensix.mean`."""
        return fold(MEAN, self, axis, keepdims)

    def var(self, axis=None, correction=0.0, keepdims=False):
        """Return the variance of the elements along axes, or of all; parameters as for `tensix.var`."""
        options = {"axis": axis, "correction": correction, "keepdims": keepdims}
        return VAR.call((self,), options, self.impl.key_set)

    def std(self, axis=None, correction=0.0, keepdims=False):
        """Return the standard deviation of the elements along axes, or of all; parameters as for `tensix.std`."""
        options = {"axis": axis, "correction": correction, "keepdims": keepdims}
        return STD.call((self,), options, self.impl.key_set)

    def argmax(self, axis=None, keepdims=False):
        """Return where along an axis the largest element is, or where in the flattened tensor."""
        return fold(ARGMAX, self, axis, keepdims)

    def argmin(self, axis=None, keepdims=False):
        """Return where along an axis the smallest element is, or where in the flattened tensor."""
        return fold(ARGMIN, self, axis, keepdims)


@cython.cfunc
def fold(table: OperatorTable, tensor: TensorBase, axis, keepdims):
    """Call a reduction, in the shortest way if nothing is asked for."""
    if axis is None and keepdims is False:
        return table.call1(tensor)
    return table.call((tensor,), {"axis": axis, "keepdims": keepdims}, tensor.impl.key_set)


@cython.cfunc
def fold_as(table: OperatorTable, tensor: TensorBase, axis, dtype, keepdims):
    """Call a reduction whose result may have a given type."""
    if dtype is None:
        return fold(table, tensor, axis, keepdims)
    options = {"axis": axis, "dtype": dtype_from_any(dtype), "keepdims": keepdims}
    return table.call((tensor,), options, tensor.impl.key_set)
