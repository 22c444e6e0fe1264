"""Round trips with PyTorch: the same address, the memory let go once, and what one of the two refuses."""

import gc

import numpy as np
import pytest
import torch

import tensix
from tensix.core import CPUAllocator

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
         "float32", "float64", "complex64", "complex128"]  # fmt: skip
SHAPES = [(), (0,), (3,), (2, 3), (2, 0, 3), (1, 2, 1), (1,) * 12]


@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype):
    x = tensix.zeros(2, dtype=dtype)
    theirs = torch.from_dlpack(x)
    assert theirs.data_ptr() == x.data_ptr() and str(theirs.dtype) == f"torch.{dtype}"
    ours = tensix.from_dlpack(torch.zeros(2, dtype=theirs.dtype))
    assert ours.dtype is x.dtype and ours.tolist() == x.tolist()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape):
    ours = tensix.from_dlpack(torch.ones(shape))
    assert ours.shape == shape and ours.tolist() == torch.ones(shape).tolist()
    theirs = torch.from_dlpack(tensix.ones(shape))
    assert tuple(theirs.shape) == shape and theirs.tolist() == tensix.ones(shape).tolist()


def test_there_and_back():
    x = tensix.arange(6).reshape(2, 3).T[1:]
    y = tensix.from_dlpack(torch.from_dlpack(x))
    assert (y.data_ptr(), y.shape, y.stride()) == (x.data_ptr(), x.shape, x.stride())
    y[0, 0] = 7
    assert x[0, 0].item() == 7
    t = torch.arange(6).reshape(2, 3).T
    back = torch.from_dlpack(tensix.from_dlpack(t))
    assert (back.data_ptr(), back.stride()) == (t.data_ptr(), t.stride())


def test_our_memory_is_let_go_once():
    gc.collect()  # what other tests have left
    before = CPUAllocator.bytes_in_use()
    theirs = torch.from_dlpack(tensix.ones(1000))
    view = theirs[10:]
    del theirs
    gc.collect()
    assert CPUAllocator.bytes_in_use() == before + 4000 and view.sum().item() == 990
    del view
    assert CPUAllocator.bytes_in_use() == before


def test_their_memory_is_let_go_once():
    freed = []
    x = tensix.ones(10)
    source = tensix.from_blob(x.data_ptr(), (10,), dtype="float32", deleter=freed.append)
    chain = tensix.from_dlpack(torch.from_dlpack(tensix.from_dlpack(torch.from_dlpack(source))))
    del source
    gc.collect()
    assert freed == [] and chain.tolist() == [1] * 10
    del chain
    gc.collect()
    assert freed == [x.data_ptr()]


@pytest.mark.parametrize("make", [
    lambda: torch.ones(2, requires_grad=True), lambda: torch.tensor([1j]).conj(), lambda: torch.ones(2).to_sparse(),
    lambda: torch.empty(2, device="meta"), lambda: torch.ones(2, dtype=torch.float8_e5m2),
], ids=["gradients", "conjugated", "sparse", "meta", "float8"])  # fmt: skip
def test_what_cannot_come_in(make):
    for function in (tensix.from_dlpack, tensix.asarray):
        with pytest.raises(BufferError):
            function(make())


def test_old_capsules():
    x = tensix.ones(3)
    theirs = torch.utils.dlpack.from_dlpack(x.__dlpack__())
    assert theirs.data_ptr() == x.data_ptr()
    with pytest.raises(BufferError):
        torch.utils.dlpack.from_dlpack(tensix.asarray(b"a").__dlpack__())


def test_buffers():
    x = tensix.ones(4)
    assert torch.frombuffer(x, dtype=torch.float32).data_ptr() == x.data_ptr()
    assert torch.asarray(np.asarray(x)).data_ptr() == x.data_ptr()
