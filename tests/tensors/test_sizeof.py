"""How much memory a tensor and a storage say that they take."""

import sys

import numpy as np
import pytest

import tensix
from tensix import Storage
from tensix.core import IntrusivePtr

SMALL = 1000  # more than the objects take


@pytest.mark.parametrize("make", [
    lambda: tensix.ones(1000, 1000), lambda: tensix.from_numpy(np.ones((1000, 1000), "f4")),
    lambda: tensix.ones(10**6)[1], lambda: tensix.ones(1000, 1000).T, lambda: tensix.ones(1000, 1000).storage(),
    lambda: tensix.ones(1000, 1000).lazy_clone(), lambda: tensix.ones(1000, 1000).to_sparse().values(),
])  # fmt: skip
def test_what_is_owned_counts(make):
    x = make()
    assert 0 <= sys.getsizeof(x) - 4_000_000 < SMALL


def test_a_view_counts_what_it_refers_to():
    x = tensix.ones(1000, 1000)
    for view, nbytes in ((x[0], 4000), (x[::2, ::2], 1_000_000), (x[:, :0], 0), (x.T, 4_000_000)):
        assert 0 <= sys.getsizeof(view) - nbytes < SMALL
    row = x[0]
    del x, view
    assert sys.getsizeof(row) > 4_000_000  # which nobody else keeps


def test_elements_that_are_the_same_count_once():
    one = tensix.ones(1)
    assert sys.getsizeof(one.expand(10**12)) < SMALL
    x = tensix.ones(1000, 1000)
    assert 0 <= sys.getsizeof(x[0].expand(9, 1000)) - 4000 < SMALL


@pytest.mark.parametrize("make", [
    tensix.Tensor, lambda: Storage.from_impl(IntrusivePtr()), lambda: tensix.empty(1000, 1000, device="meta"),
    lambda: tensix.empty(1000, 1000, device="meta").storage(), lambda: tensix.ones(()),
])  # fmt: skip
def test_without_memory_only_the_object_counts(make):
    assert 0 < sys.getsizeof(make()) < SMALL


def test_indices_and_values_of_a_sparse_tensor_count():
    x = tensix.eye(1000).to_sparse()
    assert 0 <= sys.getsizeof(x) - x.indices().nbytes - x.values().nbytes < 3 * SMALL
