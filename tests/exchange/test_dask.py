"""Tensors as chunks of Dask arrays."""

import dask.array
import distributed
import numpy as np
import pytest
from dask.array.dispatch import concatenate_lookup

import tensix


@pytest.fixture(scope="module", autouse=True)
def joined():
    """Have blocks of tensors put together to tensors."""
    concatenate_lookup.register(tensix.Tensor, tensix.concat)


@pytest.fixture
def pair():
    array = np.arange(24.0).reshape(4, 6)
    return array, dask.array.from_array(tensix.from_numpy(array), chunks=(2, 3))


@pytest.mark.parametrize("function", [
    lambda a: a, lambda a: a + a, lambda a: a * 2 - 1, lambda a: a[1:3, ::2], lambda a: -a,
    lambda a: a.rechunk((4, 2)) if isinstance(a, dask.array.Array) else a, lambda a: a > 5,
])  # fmt: skip
def test_same_as_numpy(pair, function):
    array, chunked = pair
    found = function(chunked).compute(scheduler="threads")
    assert isinstance(found, tensix.Tensor) and found.tolist() == function(array).tolist()


def test_functions_over_chunks(pair):
    array, chunked = pair
    found = chunked.map_blocks(tensix.exp, meta=chunked._meta).compute(scheduler="threads")
    assert isinstance(found, tensix.Tensor)
    np.testing.assert_allclose(np.asarray(found), np.exp(array))


def test_reductions(pair):
    array, chunked = pair
    total = dask.array.reduction(chunked, tensix.sum, tensix.sum, axis=0, dtype=tensix.float64, meta=chunked._meta)
    found = total.compute(scheduler="threads")
    assert isinstance(found, tensix.Tensor) and found.tolist() == array.sum(0).tolist()


def test_chunks_made_where_they_are_used():
    """Nobody ever holds the whole."""
    chunks = [dask.array.from_delayed(dask.delayed(tensix.full)((1000,), float(i)), (1000,), meta=tensix.empty(0))
              for i in range(10)]  # fmt: skip
    whole = dask.array.concatenate(chunks)
    total = dask.array.reduction(whole, tensix.sum, tensix.sum, dtype=tensix.float32, meta=whole._meta)
    assert total.compute().item() == 45000


def test_between_processes():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:  # fmt: skip
        x = tensix.arange(10)
        there = client.scatter(x)
        found = client.submit(lambda x: x.T + 1, there).result()
        assert isinstance(found, tensix.Tensor) and found.tolist() == list(range(1, 11))
        frozen = tensix.asarray(b"ab")
        assert client.submit(lambda x: (x.readonly, x.tolist()), frozen).result() == (True, [97, 98])
