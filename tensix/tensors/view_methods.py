"""The methods of tensors that return views: other geometry over the same storage."""

import cython
from cython.cimports.cpython.number import PyIndex_Check
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.dtype import DType
from cython.cimports.tensix.tensors.tensor_base import TensorBase

from tensix.dispatch import native_functions
from tensix.tensors.memory_format import contiguous_format

__all__ = []

VIEW = cython.declare(OperatorTable, native_functions.VIEW)
VIEW_DTYPE = cython.declare(OperatorTable, native_functions.VIEW_DTYPE)
RESHAPE = cython.declare(OperatorTable, native_functions.RESHAPE)
CONTIGUOUS = cython.declare(OperatorTable, native_functions.CONTIGUOUS)
FLATTEN = cython.declare(OperatorTable, native_functions.FLATTEN)
UNFLATTEN = cython.declare(OperatorTable, native_functions.UNFLATTEN)
EXPAND = cython.declare(OperatorTable, native_functions.EXPAND)
SQUEEZE = cython.declare(OperatorTable, native_functions.SQUEEZE)
UNSQUEEZE = cython.declare(OperatorTable, native_functions.UNSQUEEZE)
PERMUTE = cython.declare(OperatorTable, native_functions.PERMUTE)
TRANSPOSE = cython.declare(OperatorTable, native_functions.TRANSPOSE)
MOVEDIM = cython.declare(OperatorTable, native_functions.MOVEDIM)
T = cython.declare(OperatorTable, native_functions.T)
MATRIX_TRANSPOSE = cython.declare(OperatorTable, native_functions.MATRIX_TRANSPOSE)
REVERSE_DIMS = cython.declare(OperatorTable, native_functions.REVERSE_DIMS)
SELECT = cython.declare(OperatorTable, native_functions.SELECT)
NARROW = cython.declare(OperatorTable, native_functions.NARROW)
DIAGONAL = cython.declare(OperatorTable, native_functions.DIAGONAL)
UNFOLD = cython.declare(OperatorTable, native_functions.UNFOLD)
AS_STRIDED = cython.declare(OperatorTable, native_functions.AS_STRIDED)
UNBIND = cython.declare(OperatorTable, native_functions.UNBIND)
SPLIT = cython.declare(OperatorTable, native_functions.SPLIT)
SPLIT_WITH_SIZES = cython.declare(OperatorTable, native_functions.SPLIT_WITH_SIZES)
CHUNK = cython.declare(OperatorTable, native_functions.CHUNK)


@cython.no_gc  # as its base
@cython.cclass
class ViewMethods(TensorBase):
    """Give a tensor the methods that return views; a view keeps the storage alive."""

    # ---- other shapes

    def view(self, *shape):
        """Return a view of another shape with the same elements in the same order, or of another type; never copies.

        Parameters
        ----------
        *shape : int, or one sequence of int, or one DType
            The sizes, one of which may be -1. A type reads the same bytes anew; where its item size is another, the
            last dimension becomes longer or shorter.

        Raises
        ------
        ValueError
            If the strides do not allow it, or the number of elements differs, or bytes are left over.
        """
        if len(shape) == 1 and isinstance(shape[0], (DType, str)):
            return VIEW_DTYPE.call_with(self, shape[0])
        return VIEW.call_with(self, sizes_of(shape))

    def view_as(self, other: TensorBase):
        """Return a view of another tensor's shape; never copies."""
        return VIEW.call_with(self, other.shape)

    def reshape(self, *shape):
        """Return the same elements in another shape: a view where strides allow it, else a copy."""
        return RESHAPE.call_with(self, sizes_of(shape))

    def reshape_as(self, other: TensorBase):
        """Return the same elements in another tensor's shape: a view where strides allow it, else a copy."""
        return RESHAPE.call_with(self, other.shape)

    def contiguous(self, memory_format=None):
        """Return this very tensor if its elements lie in the order of a memory format without gaps, else a copy.

        The order is row-major unless told otherwise.

        Raises
        ------
        ValueError
            If a channels-last format is asked for and the tensor is not of its number of dimensions.
        """
        if memory_format is None or memory_format is contiguous_format:
            return CONTIGUOUS.call1(self)
        return CONTIGUOUS.call_named(self, "memory_format", memory_format)

    def flatten(self, start_dim=0, end_dim=-1):
        """Return the elements with a run of dimensions merged into one: a view where strides allow it, else a copy."""
        return FLATTEN.call((self, start_dim, end_dim), None, self.impl.key_set)

    def unflatten(self, dim, sizes):
        """Return the view with one dimension split into many; one of the sizes may be -1."""
        return UNFLATTEN.call((self, dim, sizes), None, self.impl.key_set)

    # ---- dimensions of size 1

    def expand(self, *shape):
        """Return the view with dimensions of size 1 repeated, and new ones in front; -1 keeps a size."""
        return EXPAND.call_with(self, sizes_of(shape))

    def expand_as(self, other: TensorBase):
        """Return the view with dimensions of size 1 repeated up to another tensor's shape."""
        return EXPAND.call_with(self, other.shape)

    def squeeze(self, dim):
        """Return the view without dimensions of size 1; `dim` is one or a tuple."""
        return SQUEEZE.call_with(self, dim if isinstance(dim, tuple) else (dim,))

    def unsqueeze(self, dim):
        """Return the view with a dimension of size 1 before `dim`."""
        return UNSQUEEZE.call_with(self, dim)

    # ---- order of dimensions

    @property
    def T(self):
        """The view with its dimensions in reverse order."""
        return REVERSE_DIMS.call1(self)

    @property
    def mT(self):
        """The view with its last two dimensions exchanged: matrices transposed."""
        return MATRIX_TRANSPOSE.call1(self)

    def t(self):
        """Return a matrix transposed; fewer than two dimensions stay as they are."""
        return T.call1(self)

    def permute(self, *dims):
        """Return the view with its dimensions in the given order."""
        return PERMUTE.call_with(self, sizes_of(dims))

    def transpose(self, dim0, dim1):
        """Return the view with two dimensions exchanged."""
        return TRANSPOSE.call((self, dim0, dim1), None, self.impl.key_set)

    def movedim(self, source, destination):
        """Return the view with dimensions, one or a tuple, moved to other places; the others keep their order."""
        return MOVEDIM.call((self, source, destination), None, self.impl.key_set)

    # ---- parts

    def select(self, dim, index):
        """Return the view at one index of a dimension, which goes away."""
        return SELECT.call((self, dim, index), None, self.impl.key_set)

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
        return NARROW.call((self, dim, start, length), None, self.impl.key_set)

    def diagonal(self, offset=0, dim1=0, dim2=1):
        """Return the view on a diagonal, which becomes the last dimension.

        Parameters
        ----------
        offset : int
            How far above the main diagonal; negative is below.
        dim1, dim2 : int
            The dimensions of rows and of columns.

        Examples
        --------
        >>> import tensix
        >>> tensix.tensor([[1, 2], [3, 4]]).diagonal()
        tensor([1, 4])
        """
        return DIAGONAL.call((self, offset, dim1, dim2), None, self.impl.key_set)

    def unfold(self, dimension, size, step):
        """Return the view on windows over a dimension; what is in a window becomes the last dimension.

        Parameters
        ----------
        dimension : int
            The dimension that the windows are laid over, afterwards that of the windows.
        size, step : int
            Elements in a window, and from the start of one to that of the next.

        Raises
        ------
        ValueError
            If the size is more than there is, or the step is not 1 or more.

        Examples
        --------
        >>> import tensix
        >>> tensix.tensor([1, 2, 3, 4]).unfold(0, 3, 1)
        tensor([[1, 2, 3],
                [2, 3, 4]])
        """
        return UNFOLD.call((self, dimension, size, step), None, self.impl.key_set)

    def as_strided(self, size, stride, storage_offset=None):
        """Return a view on any elements of the storage, this tensor's own or not.

        Parameters
        ----------
        size, stride : sequence of int
            Sizes, and steps in elements; a step may be negative.
        storage_offset : int, optional
            Of the first element, in elements; that of this tensor if not given.

        Raises
        ------
        RuntimeError
            If an element would lie outside the storage.

        Examples
        --------
        >>> import tensix
        >>> tensix.tensor([1, 2, 3, 4]).as_strided((2, 2), (-1, -2), 3)
        tensor([[4, 2],
                [3, 1]])
        """
        return AS_STRIDED.call((self, size, stride, storage_offset), None, self.impl.key_set)

    # ---- many parts

    def unbind(self, dim=0):
        """Return the views at each index of a dimension, a tuple."""
        return UNBIND.call((self, dim), None, self.impl.key_set)

    def split(self, split_size_or_sections, dim=0):
        """Return the views on consecutive parts of a dimension, a tuple.

        An int is the size of each part, of which the last may be smaller; a sequence gives the size of each.
        """
        table = SPLIT_WITH_SIZES if isinstance(split_size_or_sections, (tuple, list)) else SPLIT
        return table.call((self, split_size_or_sections, dim), None, self.impl.key_set)

    def chunk(self, chunks, dim=0):
        """Return the views on so many equal parts of a dimension, or on fewer; the last may be smaller."""
        return CHUNK.call((self, chunks, dim), None, self.impl.key_set)


@cython.cfunc
def sizes_of(shape: tuple) -> tuple:
    """Return sizes given as ``f(3, 4)`` or ``f((3, 4))``."""
    if len(shape) == 1 and not PyIndex_Check(shape[0]):
        return tuple(shape[0])
    return shape
