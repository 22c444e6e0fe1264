"""The methods of tensors that return views: other geometry over the same storage."""

import cython
from cython.cimports.cpython.number import PyIndex_Check
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.tensor_base import TensorBase
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl_sizes, int64_of, wrap_dim

from tensix.dispatch import native_functions

__all__ = []

INDEX = cython.declare(OperatorTable, native_functions.INDEX)
VIEW = cython.declare(OperatorTable, native_functions.VIEW)
RESHAPE = cython.declare(OperatorTable, native_functions.RESHAPE)
PERMUTE = cython.declare(OperatorTable, native_functions.PERMUTE)
TRANSPOSE = cython.declare(OperatorTable, native_functions.TRANSPOSE)
REVERSE_DIMS = cython.declare(OperatorTable, native_functions.REVERSE_DIMS)
EXPAND = cython.declare(OperatorTable, native_functions.EXPAND)
SQUEEZE = cython.declare(OperatorTable, native_functions.SQUEEZE)
UNSQUEEZE = cython.declare(OperatorTable, native_functions.UNSQUEEZE)


@cython.no_gc  # as its base
@cython.cclass
class ViewMethods(TensorBase):
    """Give a tensor the methods that return views; a view keeps the storage alive."""

    @property
    def T(self):
        """The view with its dimensions in reverse order."""
        return REVERSE_DIMS.call1(self)

    def view(self, *shape):
        """Return a view of another shape with the same elements in the same order; never copies.

        Raises
        ------
        ValueError
            If the strides do not allow it, or the number of elements differs.
        """
        return VIEW.call_with(self, sizes_of(shape))

    def reshape(self, *shape):
        """Return the same elements in another shape: a view where strides allow it, else a copy."""
        return RESHAPE.call_with(self, sizes_of(shape))

    def permute(self, *dims):
        """Return the view with its dimensions in the given order."""
        return PERMUTE.call_with(self, sizes_of(dims))

    def transpose(self, dim0, dim1):
        """Return the view with two dimensions exchanged."""
        return TRANSPOSE.call_with(self, (dim0, dim1))

    def expand(self, *shape):
        """Return the view with dimensions of size 1 repeated, and new ones in front; -1 keeps a size."""
        return EXPAND.call_with(self, sizes_of(shape))

    def squeeze(self, dim):
        """Return the view without dimensions of size 1; `dim` is one or a tuple."""
        return SQUEEZE.call_with(self, dim if isinstance(dim, tuple) else (dim,))

    def unsqueeze(self, dim):
        """Return the view with a dimension of size 1 before `dim`."""
        return UNSQUEEZE.call_with(self, dim)

    def select(self, dim, index):
        """Return the view at one index of a dimension, which goes away."""
        where = wrap_dim(int64_of(dim), self.impl.ndim)
        return INDEX.call_with(self, (slice(None),) * where + (index,))

    def narrow(self, dim, start, length):
        """Return the view on a stretch of one dimension.

        Parameters
        ----------
        dim : int
            The dimension.
        start, length : int
            The first index, and how many; a negative start counts from the end.

        Raises
        ------
        IndexError
            If they are not all there.
        """
        where = wrap_dim(int64_of(dim), self.impl.ndim)
        extent = TensorImpl_sizes(self.impl)[where]
        begin = start + extent if start < 0 else start
        if length < 0 or begin < 0 or begin + length > extent:
            raise IndexError(f"start ({start}) + length ({length}) exceeds dimension size ({extent}).")
        return INDEX.call_with(self, (slice(None),) * where + (slice(begin, begin + length),))


@cython.cfunc
def sizes_of(shape: tuple) -> tuple:
    """Return sizes given as ``f(3, 4)`` or ``f((3, 4))``."""
    if len(shape) == 1 and not PyIndex_Check(shape[0]):
        return tuple(shape[0])
    return shape
