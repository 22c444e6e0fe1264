"""Round trips with JAX, on the CPU: the same address, and memory that lives as long as an array looks at it."""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tensix
from tensix.core import CPUAllocator

jax.config.update("jax_enable_x64", True)
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
         "float32", "float64", "complex64", "complex128"]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype):
    x = tensix.ones(5, dtype=dtype)
    theirs = jnp.from_dlpack(x)
    assert theirs.unsafe_buffer_pointer() == x.data_ptr() and str(theirs.dtype) == dtype
    ours = tensix.from_dlpack(jnp.zeros(5, dtype))
    assert ours.dtype is x.dtype and ours.tolist() == tensix.zeros(5, dtype=dtype).tolist()


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3), (1, 2, 1)], ids=str)
def test_shapes(shape):
    array = jnp.ones(shape)
    for ours in (tensix.from_dlpack(array), tensix.asarray(array)):
        assert ours.shape == shape and ours.tolist() == array.tolist()
        assert ours.numel() == 0 or ours.data_ptr() == array.unsafe_buffer_pointer()
    theirs = jnp.from_dlpack(tensix.ones(shape))
    assert theirs.shape == shape and theirs.tolist() == tensix.ones(shape).tolist()


def test_what_jax_computes_from_a_tensor():
    x = tensix.rand(30, 40)
    product = jax.jit(lambda a: (a @ a.T).sum())(jnp.from_dlpack(x))
    assert float(tensix.from_dlpack(product)) == pytest.approx(float((np.asarray(x) @ np.asarray(x).T).sum()), rel=1e-4)


def test_our_memory_lives_as_long_as_their_array():
    gc.collect()
    before = CPUAllocator.bytes_in_use()
    theirs = jnp.from_dlpack(tensix.ones(1000))
    assert CPUAllocator.bytes_in_use() == before + 4000 and float(theirs.sum()) == 1000
    del theirs
    gc.collect()
    assert CPUAllocator.bytes_in_use() == before


def test_their_memory_lives_as_long_as_our_view():
    view = tensix.from_dlpack(jnp.arange(1000.0))[10:]
    gc.collect()
    assert view[0].item() == 10 and float(view.sum()) == sum(range(10, 1000))
