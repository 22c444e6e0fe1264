# Made of linalg.py by tests/typing/stubs.py.
from collections.abc import Sequence
from typing import Literal, NamedTuple

from tensix._tensor import Tensor
from tensix.dispatch.annotations import Operand
from tensix.functions.linear_algebra import matmul, matrix_transpose, outer, tensordot, vecdot
from tensix.tensors.dtype import _DTypeLike

__all__ = [
    "EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky", "cross", "det", "diagonal", "eig",
    "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip

class EigResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class EighResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class QRResult(NamedTuple):
    Q: Tensor
    R: Tensor

class SlogdetResult(NamedTuple):
    sign: Tensor
    logabsdet: Tensor

class SVDResult(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor

def cholesky(x: Tensor, /, upper: bool = False) -> Tensor: ...
def cross(x1: Tensor, x2: Tensor, /, axis: int = -1, *, dim: int = -1) -> Tensor: ...
def det(x: Tensor, /) -> Tensor: ...
def diagonal(x: Tensor, /, offset: int = 0) -> Tensor: ...
def eig(x: Tensor, /) -> EigResult: ...
def eigh(x: Tensor, /) -> EighResult: ...
def eigvals(x: Tensor, /) -> Tensor: ...
def eigvalsh(x: Tensor, /) -> Tensor: ...
def inv(x: Tensor, /) -> Tensor: ...
def matrix_norm(
    x: Tensor,
    /,
    keepdims: bool = False,
    ord: float | Literal["fro", "nuc"] | None = "fro",
    *,
    keepdim: bool = False,
    p: float | Literal["fro", "nuc"] | None = "fro",
) -> Tensor: ...
def matrix_power(x: Tensor, n: int, /) -> Tensor: ...
def matrix_rank(x: Tensor, /, rtol: Operand | None = None) -> Tensor: ...
def pinv(x: Tensor, /, rtol: Operand | None = None) -> Tensor: ...
def qr(x: Tensor, /, mode: Literal["reduced", "complete"] = "reduced") -> QRResult: ...
def slogdet(x: Tensor, /) -> SlogdetResult: ...
def solve(x1: Tensor, x2: Tensor, /) -> Tensor: ...
def svd(x: Tensor, /, full_matrices: bool = True) -> SVDResult: ...
def svdvals(x: Tensor, /) -> Tensor: ...
def trace(x: Tensor, /, offset: int = 0, dtype: _DTypeLike | None = None) -> Tensor: ...
def vector_norm(
    x: Tensor,
    /,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: float = 2,
    *,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    p: float = 2,
) -> Tensor: ...
