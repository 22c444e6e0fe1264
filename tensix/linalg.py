"""The array API standard's linear algebra, by NumPy.

Matrices are the last two dimensions; what stands before them counts matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from tensix._support.loaded_later import loaded_later
from tensix._tensor import Tensor
from tensix.dispatch import native_functions
from tensix.dispatch.annotations import Operand
from tensix.dispatch.tensor_function import function, operator
from tensix.functions.linear_algebra import matmul, matrix_transpose, outer, tensordot, vecdot
from tensix.tensors.names_elsewhere import advice

if TYPE_CHECKING:
    from tensix.tensors.dtype import _DTypeLike

__all__ = [
    "EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky", "cross", "det", "diagonal", "eig",
    "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip

__getattr__, __dir__ = loaded_later(__name__, {}, advice)


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


@operator(native_functions.CHOLESKY, method=False)
def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """Return the triangular matrix whose product with its conjugate transpose is `x`, which must be positive definite.

    Raises
    ------
    ValueError
        If it is not: a ``numpy.linalg.LinAlgError``.

    Examples
    --------
    >>> tensix.linalg.cholesky(tensix.tensor([[4.0, 2.0], [2.0, 2.0]]))
    tensor([[2., 0.],
            [1., 1.]])
    """


@operator(native_functions.CROSS, method=False)
def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the cross products of vectors of three elements along a dimension.

    Parameters
    ----------
    x1, x2 : Tensor
        The tensors; their other dimensions are broadcast.
    axis : int, optional
        The dimension.

    Examples
    --------
    >>> tensix.linalg.cross(tensix.tensor([1, 0, 0]), tensix.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """


@operator(native_functions.DET, method=False)
def det(x: Tensor, /) -> Tensor:
    """Return the determinants of square matrices.

    Examples
    --------
    >>> tensix.linalg.det(tensix.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor(6.)
    """


@function
def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Return the view on the diagonals of matrices; `offset` says how far above the main ones.

    Examples
    --------
    >>> tensix.linalg.diagonal(tensix.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return native_functions.DIAGONAL(x, offset, -2, -1)


@operator(native_functions.EIG, method=False, result_class=EigResult)
def eig(x: Tensor, /) -> EigResult:
    """Return eigenvalues and eigenvectors of square matrices: a named tuple, complex in any case.

    Examples
    --------
    >>> tensix.linalg.eig(tensix.tensor([[2.0, 0.0], [0.0, 3.0]])).eigenvalues
    tensor([2.+0.j, 3.+0.j], dtype=tensix.complex64)
    """


@operator(native_functions.EIGH, method=False, result_class=EighResult)
def eigh(x: Tensor, /) -> EighResult:
    """Return real eigenvalues, in ascending order, and eigenvectors of symmetric or Hermitian matrices: a named tuple.

    Examples
    --------
    >>> tensix.linalg.eigh(tensix.tensor([[3.0, 0.0], [0.0, 2.0]])).eigenvalues
    tensor([2., 3.])
    """


@operator(native_functions.EIGVALS, method=False)
def eigvals(x: Tensor, /) -> Tensor:
    """Return the eigenvalues of square matrices, complex in any case.

    Examples
    --------
    >>> tensix.linalg.eigvals(tensix.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor([2.+0.j, 3.+0.j], dtype=tensix.complex64)
    """


@operator(native_functions.EIGVALSH, method=False)
def eigvalsh(x: Tensor, /) -> Tensor:
    """Return the real eigenvalues of symmetric or Hermitian matrices in ascending order.

    Examples
    --------
    >>> tensix.linalg.eigvalsh(tensix.tensor([[3.0, 0.0], [0.0, 2.0]]))
    tensor([2., 3.])
    """


@operator(native_functions.INV, method=False)
def inv(x: Tensor, /) -> Tensor:
    """Return the inverses of square matrices.

    Raises
    ------
    ValueError
        If a matrix is singular or not square: a ``numpy.linalg.LinAlgError``.

    Examples
    --------
    >>> tensix.linalg.inv(tensix.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.50, 0.00],
            [0.00, 0.25]])
    """


@operator(native_functions.MATRIX_NORM, method=False)
def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro") -> Tensor:
    """Return norms of matrices.

    Parameters
    ----------
    x : Tensor
        The matrices.
    keepdims : bool, optional
        Whether the last two dimensions stay, with size 1.
    ord : int, float or str, optional
        Which norm: ``"fro"`` (also None), ``"nuc"``, or 1, 2, infinity and their negatives.

    Raises
    ------
    ValueError
        If there is no such norm.

    Examples
    --------
    >>> tensix.linalg.matrix_norm(tensix.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor(5.)
    """


@operator(native_functions.MATRIX_POWER, method=False)
def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Return square matrices multiplied with themselves; a negative power inverts them.

    Examples
    --------
    >>> tensix.linalg.matrix_power(tensix.tensor([[1, 1], [0, 1]]), 3)
    tensor([[1, 3],
            [0, 1]])
    """


@operator(native_functions.MATRIX_RANK, method=False)
def matrix_rank(x: Tensor, /, *, rtol: Operand | None = None) -> Tensor:
    """Return the ranks of matrices: how many singular values are above `rtol` times the largest.

    Examples
    --------
    >>> tensix.linalg.matrix_rank(tensix.ones(2, 2))
    tensor(1)
    """


@operator(native_functions.PINV, method=False)
def pinv(x: Tensor, /, *, rtol: Operand | None = None) -> Tensor:
    """Return the pseudo-inverses of matrices; singular values up to `rtol` times the largest count as zero.

    Examples
    --------
    >>> tensix.linalg.pinv(tensix.tensor([[2.0], [0.0]]))
    tensor([[0.5, 0.0]])
    """


@function
def qr(x: Tensor, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return matrices as products of orthonormal and upper triangular ones: a named tuple of `Q` and `R`.

    Examples
    --------
    >>> tensix.linalg.qr(tensix.ones(3, 2)).R.shape
    (2, 2)
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr() has the modes 'reduced' and 'complete', found {mode!r}.")
    return QRResult(*native_functions.QR(x, mode))


@operator(native_functions.SLOGDET, method=False, result_class=SlogdetResult)
def slogdet(x: Tensor, /) -> SlogdetResult:
    """Return the sign and the logarithm of the absolute value of determinants: a named tuple.

    Examples
    --------
    >>> tensix.linalg.slogdet(tensix.tensor([[-1.0]]))
    SlogdetResult(sign=tensor(-1.), logabsdet=tensor(0.))
    """


@operator(native_functions.SOLVE, method=False)
def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return what `x1`, square matrices, must be multiplied with to give `x2`; of one dimension that is one vector.

    Raises
    ------
    ValueError
        If a matrix is singular or not square: a ``numpy.linalg.LinAlgError``.

    Examples
    --------
    >>> tensix.linalg.solve(tensix.tensor([[2.0, 0.0], [0.0, 4.0]]), tensix.tensor([2.0, 2.0]))
    tensor([1.0, 0.5])
    """


@operator(native_functions.SVD, method=False, result_class=SVDResult)
def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVDResult:
    """Return the singular value decomposition: a named tuple of `U`, `S` in descending order, and `Vh`.

    Examples
    --------
    >>> tensix.linalg.svd(tensix.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])
    """


@operator(native_functions.SVDVALS, method=False)
def svdvals(x: Tensor, /) -> Tensor:
    """Return the singular values of matrices in descending order.

    Examples
    --------
    >>> tensix.linalg.svdvals(tensix.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor([4., 3.])
    """


@operator(native_functions.TRACE, method=False)
def trace(x: Tensor, /, *, offset: int = 0, dtype: _DTypeLike | None = None) -> Tensor:
    """Return the sums along the diagonals of matrices.

    Parameters
    ----------
    x : Tensor
        The matrices.
    offset : int, optional
        How far above the main diagonal.
    dtype : DType, optional
        The element type; if not given, integers are summed in 64 bits, all else in its own type.

    Examples
    --------
    >>> tensix.linalg.trace(tensix.tensor([[1, 2], [3, 4]]))
    tensor(5)
    """


@function
def vector_norm(
    x: Tensor, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: float = 2
) -> Tensor:
    """Return norms of vectors.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or sequence of int, optional
        The dimensions whose elements make up a vector; all if not given.
    keepdims : bool, optional
        Whether they stay, with size 1.
    ord : int or float, optional
        Which norm: any number, infinity and its negative included.

    Examples
    --------
    >>> tensix.linalg.vector_norm(tensix.tensor([3.0, 4.0]))
    tensor(5.)
    """
    return native_functions.VECTOR_NORM(x, axis=axis, keepdims=keepdims, ord=ord)
