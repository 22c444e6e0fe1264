"""The methods of sparse tensors, and the ways from one layout to the other."""

import cython
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.reduction_methods import ReductionMethods

from tensix.dispatch import native_functions
from tensix.tensors.layout import sparse_coo

__all__ = []

INDICES = cython.declare(OperatorTable, native_functions.INDICES)
VALUES = cython.declare(OperatorTable, native_functions.VALUES)
NNZ = cython.declare(OperatorTable, native_functions.NNZ)
IS_COALESCED = cython.declare(OperatorTable, native_functions.IS_COALESCED)
COALESCE = cython.declare(OperatorTable, native_functions.COALESCE)
TO_DENSE = cython.declare(OperatorTable, native_functions.TO_DENSE)
TO_SPARSE = cython.declare(OperatorTable, native_functions.TO_SPARSE)


@cython.no_gc  # as its base
@cython.cclass
class SparseMethods(ReductionMethods):
    """Give a tensor what sparse ones have; a strided one answers with `NotImplementedError`."""

    @property
    def is_sparse(self):
        """Whether the layout is `sparse_coo`."""
        return self.layout is sparse_coo

    @property
    def nnz(self):
        """The number of entries of a sparse tensor; those for one element count each."""
        return NNZ.call1(self)

    def indices(self):
        """Return the indices of a sparse tensor, int64 of shape (ndim, nnz): a read-only view."""
        return INDICES.call1(self)

    def values(self):
        """Return the values of a sparse tensor, of shape (nnz,): a view."""
        return VALUES.call1(self)

    def is_coalesced(self):
        """Return whether a sparse tensor is known to have sorted indices, and no two for one element."""
        return IS_COALESCED.call1(self)

    def coalesce(self):
        """Return a sparse tensor with indices sorted and values for one element summed; itself if it is that."""
        return COALESCE.call1(self)

    def to_dense(self):
        """Return the elements in a strided tensor; a strided one returns itself."""
        return TO_DENSE.call1(self)

    def to_sparse(self):
        """Return the elements that are not zero in a sparse tensor; a sparse one returns itself."""
        return TO_SPARSE.call1(self)
