"""What a type checker knows about tensors; it learns nothing of shapes and element types."""

from typing import assert_type

import numpy as np

import tensix
from tensix import Generator, Layout, MemoryFormat, Storage, Tensor, TypeMeta
from tensix.core import Allocator, Device
from tensix.tensors.dtype import DType
from tensix.tensors.promotion import promote_types

# shapes are given as f(3, 4) or f((3, 4))
assert_type(tensix.empty(3, 4), Tensor)
assert_type(tensix.zeros((3, 4), dtype=tensix.int64, device="cpu"), Tensor)
assert_type(tensix.ones([3, 4], dtype="float64"), Tensor)
assert_type(tensix.full((2,), 1.5, dtype=float), Tensor)
assert_type(tensix.rand(3, generator=Generator(7)), Tensor)
assert_type(tensix.randn(3, dtype=np.dtype("f8")), Tensor)
assert_type(tensix.tensor([[1, 2], [3, 4]]), Tensor)
assert_type(tensix.from_numpy(np.zeros(3)), Tensor)
assert_type(tensix.manual_seed(0), Generator)

x = tensix.rand(3, 4)
assert_type(x.sum(0, dtype="float64"), Tensor)
assert_type(tensix.max(x, axis=(0, 1), keepdims=True), Tensor)
assert_type(tensix.sum(x, dim=0, keepdim=True), Tensor)
assert_type(tensix.mean(x, 1), Tensor)
assert_type(tensix.concat([x, x], dim=1), Tensor)
assert_type(tensix.std(x, dim=(0, 1), ddof=1), Tensor)
assert_type(tensix.cumulative_sum(x, axis=1, include_initial=True), Tensor)
assert_type(tensix.get_num_threads(), int)
assert_type(x.shape, tuple[int, ...])
assert_type(x.stride(), tuple[int, ...])
assert_type(x.stride(0), int)
assert_type(x.dtype, DType)
assert_type(x.device, Device)
assert_type(x.storage(), Storage)
assert_type(x.allocator, Allocator | None)
assert_type(Tensor.from_storage(x.storage(), 0, x.shape, x.stride(), x.dtype), Tensor)

# `tensix.bool` is an element type; what methods return is Python's
assert_type(tensix.bool, DType)
assert_type(x.is_cow(), bool)
assert_type(bool(x[0, 0]), bool)
assert_type(promote_types(tensix.int64, "float32"), DType)
assert_type(tensix.float32.numpy, np.dtype | None)

# data type functions, and types that are no numbers
assert_type(tensix.can_cast(x, "float64"), bool)
assert_type(tensix.isdtype(tensix.int8, ("integral", tensix.float32)), bool)
assert_type(tensix.result_type(x, tensix.int8, 1.5, 2j), DType)
assert_type(tensix.promote_types(tensix.int8, float), DType)
assert_type(tensix.finfo(x).eps, float)
assert_type(tensix.iinfo("int8").dtype, DType)


class Task:
    """Have elements."""


meta = tensix.register_type(Task)
assert_type(meta, tensix.TypeMeta)
assert_type(meta.id, tensix.TypeIdentifier)
assert_type(TypeMeta.make("float32").to_scalar_type(), DType)
tasks = tensix.TypedStorage(meta, 3)
assert_type(tasks.storage(), Storage)
assert_type(tasks.clone(), tensix.TypedStorage)
assert_type(tensix.TypedStorage.from_storage(tasks.storage()), tensix.TypedStorage)
tasks[0] = Task()
assert_type(len(tasks), int)

# views, indexing and arithmetic
assert_type(x[0], Tensor)
assert_type(x[1:3, ::2], Tensor)
assert_type(x[..., None, -1], Tensor)
assert_type(x.view(4, 3), Tensor)
assert_type(x.reshape((2, 6)).T, Tensor)
assert_type(x.unsqueeze(0).squeeze((0,)).permute(1, 0).transpose(0, 1), Tensor)
assert_type(x.view("int32").view_as(x).reshape_as(x).expand_as(x), Tensor)
assert_type(x.flatten().unflatten(0, (3, -1)).movedim(0, (1,)).mT.t(), Tensor)
assert_type(x.select(0, 1).narrow(0, 1, 2).unfold(0, 2, 1).diagonal(offset=1), Tensor)
assert_type(x.as_strided((2, 2), (1, 4), 3), Tensor)
assert_type(x.unbind() + x.split(2) + x.split([1, 2], dim=0) + x.chunk(2), tuple[Tensor, ...])
assert_type(x.lazy_clone().zero_().fill_(2).copy_(x), Tensor)
assert_type(x.lazy_clone().uniform_(-1, 1, generator=Generator(7)).normal_(std=2.0), Tensor)
assert_type(x + x, Tensor)
assert_type(1 - x * 2.0 / x, Tensor)
assert_type(x * np.float32(2) - np.int8(1), Tensor)
assert_type(x.clip(np.float64(0)).fill_(np.float32(3)), Tensor)
assert_type(tensix.where(x > np.float32(0), np.float32(2), x), Tensor)
x += np.float32(1)
assert_type(-x, Tensor)
assert_type(x[tensix.tensor([0, 1])], Tensor)
assert_type(x[[0, 2], None, np.array([1, 2])], Tensor)
assert_type(x[np.True_, tensix.tensor(0)], Tensor)
assert_type(x @ x.T, Tensor)

# memory formats are objects or their names
images = tensix.empty(2, 3, 4, 4, memory_format=tensix.channels_last)
assert_type(images.clone(memory_format="contiguous_format").contiguous(tensix.channels_last), Tensor)
assert_type(images.suggest_memory_format(), MemoryFormat)
assert_type(images.is_contiguous(memory_format=tensix.channels_last), bool)

x[0] = 1.0
x[1] = x[0]
x[[0, 1]] = [1, 2, 3, 4]
x[..., range(2)] = np.ones(2)

assert_type(float(x.mean().item()), float)
assert_type(float(x[0, 0]), float)
assert_type([1, 2][tensix.tensor(0)], int)
assert_type(complex(x[0, 0]), complex)
assert_type(len(x), int)
assert_type([row for row in x], list[Tensor])

# devices and layouts
assert_type(x.to_device("meta", stream=None), Tensor)
assert_type(x.cpu(), Tensor)
assert_type(x.layout, Layout)
assert_type(tensix.sparse_coo, Layout)
s = tensix.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, 2.0], (3, 3), dtype=tensix.float64)
assert_type(s, Tensor)
assert_type((s.indices(), s.values()), tuple[Tensor, Tensor])
assert_type((s.nnz, s.is_sparse, s.is_coalesced()), tuple[int, bool, bool])
assert_type(s.coalesce().to_dense().to_sparse() @ x, Tensor)
assert_type(f"{x[0, 0]:.3f}", str)
