"""What a type checker knows about functions in plain Python: the names that other packages have, and results."""

from typing import assert_type

import tensix
from tensix import FloatInfo, Tensor, UniqueAll

x = tensix.rand(3, 4)
square = tensix.rand(3, 3)

# by the names of PyTorch, of the standard, and by place
assert_type(tensix.median(x, dim=1, keepdim=True), Tensor)
assert_type(tensix.median(x, 1), Tensor)
assert_type(tensix.quantile(x, 0.5, dim=0), Tensor)
assert_type(tensix.quantile(x, [0.25, 0.75], axis=0, keepdims=True), Tensor)
assert_type(tensix.split(x, 2, dim=1), tuple[Tensor, ...])
assert_type(tensix.tensordot(square, square, dims=1), Tensor)
assert_type(tensix.vecdot(x, x, dim=-1), Tensor)
assert_type(tensix.linalg.vector_norm(x, dim=0, keepdim=True), Tensor)
assert_type(tensix.linalg.vector_norm(x, p=1), Tensor)
assert_type(tensix.linalg.matrix_norm(x, ord="nuc", keepdim=True), Tensor)
assert_type(tensix.linalg.cross(square, square, dim=0), Tensor)
assert_type(tensix.fft.fft(x, dim=0), Tensor)
assert_type(tensix.fft.fftn(x, dim=(0, 1)), Tensor)
assert_type(tensix.fft.fftshift(x, dim=1), Tensor)

# what they return has names
assert_type(tensix.linalg.svd(x), tensix.linalg.SVDResult)
assert_type(tensix.linalg.svd(x).S, Tensor)
assert_type(tensix.unique_all(x), UniqueAll)
assert_type(tensix.finfo(x), FloatInfo)
