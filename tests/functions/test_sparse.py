"""Sparse tensors against NumPy."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix
from tensix import sparse_coo_tensor
from tensix.dispatch import DispatchKeySet, dispatcher


@pytest.fixture
def x():
    """Return a sparse matrix in which two entries meet."""
    return sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [3.0, 4.0, 5.0], (2, 3))


DENSE = [[0.0, 0.0, 3.0], [9.0, 0.0, 0.0]]


def entries_of(draw, ndim=None):
    """Draw a shape, indices inside it and values, small whole numbers that sum without rounding."""
    shape = draw(st.lists(st.integers(1, 4), min_size=ndim or 1, max_size=ndim or 4).map(tuple))
    count = draw(st.integers(0, 8))
    indices = [draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count)) for size in shape]
    values = draw(st.lists(st.integers(-5, 5), min_size=count, max_size=count))
    dense = np.zeros(shape, np.float32)
    np.add.at(dense, tuple(np.array(row, int) for row in indices), values)
    return sparse_coo_tensor(indices, tensix.tensor(np.array(values, np.float32)), shape), dense


SPARSE = st.composite(entries_of)


def test_what_it_is(x):
    assert (x.shape, x.dtype, x.layout, x.is_sparse, x.nnz) == ((2, 3), tensix.float32, tensix.sparse_coo, True, 3)
    assert (x.ndim, x.size, len(x), str(x.device), x.readonly, x.is_cow()) == (2, 6, 2, "cpu", False, False)
    assert x.indices().tolist() == [[0, 1, 1], [2, 0, 0]] and x.values().tolist() == [3.0, 4.0, 5.0]
    assert x.indices().dtype is tensix.int64 and not x.is_coalesced() and x.to_dense().tolist() == DENSE


def test_layout_of_a_strided_tensor():
    y = tensix.ones(2)
    assert y.layout is tensix.strided and not y.is_sparse and y.to_dense() is y


@given(SPARSE())
@settings(max_examples=50, deadline=None)
def test_forms_agree(drawn):
    x, dense = drawn
    merged = x.coalesce()
    for form in (x, merged, x.clone(), x.to_dense().to_sparse(), merged.coalesce()):
        assert form.to_dense().tolist() == dense.tolist() and form.shape == dense.shape
    numbers = np.ravel_multi_index(tuple(merged.indices().tolist()), dense.shape).tolist() if merged.nnz else []
    assert merged.is_coalesced() and numbers == sorted(set(numbers))
    assert (x + x).to_dense().tolist() == (2 * x).to_dense().tolist() == (dense * 2).tolist()
    assert (-x).to_dense().tolist() == (-dense).tolist() and (x + -x).to_dense().tolist() == (dense * 0).tolist()
    other = tensix.ones(dense.shape)
    assert (x + other).tolist() == (other + x).tolist() == (dense + 1).tolist() and not (x + other).is_sparse


@given(SPARSE(ndim=2), st.integers(0, 3), st.booleans())
@settings(max_examples=50, deadline=None)
def test_matmul(drawn, count, is_strange):
    x, dense = drawn
    right = np.arange(dense.shape[1] * count, dtype=np.float32).reshape(dense.shape[1], count)
    left = np.arange(dense.shape[0] * count, dtype=np.float32).reshape(count, dense.shape[0])
    if is_strange:  # strides of other signs and order
        left, right = left[::-1], np.asfortranarray(right)
    assert (x @ tensix.from_numpy(right)).tolist() == (dense @ right).tolist()
    assert (tensix.from_numpy(left) @ x).tolist() == (left @ dense).tolist()
    vector = np.arange(dense.shape[1], dtype=np.float32)
    assert (x @ tensix.from_numpy(vector)).tolist() == (dense @ vector).tolist()


def test_types_promote(x):
    whole = sparse_coo_tensor([[0], [0]], [1], (2, 3))
    assert whole.dtype is tensix.int64 and (whole + x).dtype is (whole * 0.5).dtype is tensix.float32
    assert (whole @ tensix.ones(3)).dtype is tensix.float32 and (whole * 2).dtype is tensix.int64
    assert (whole + tensix.ones(2, 3, dtype=tensix.float64)).dtype is tensix.float64
    assert sparse_coo_tensor([[0]], [1], dtype=tensix.complex64).to_dense().dtype is tensix.complex64
    assert sparse_coo_tensor([[0, 0]], [True, True]).to_dense().tolist() == [True]


def test_size_is_the_smallest_if_not_given():
    assert sparse_coo_tensor([[1, 4], [0, 2]], [1.0, 1.0]).shape == (5, 3)
    assert sparse_coo_tensor([[], []], []).shape == (0, 0)
    assert sparse_coo_tensor([[], []], [], (2, 0)).to_dense().shape == (2, 0)
    assert sparse_coo_tensor(np.zeros((1, 0)), [], [3]).to_dense().tolist() == [0.0] * 3


def test_arguments_are_copied():
    indices, values = tensix.tensor([[0, 1]]), tensix.tensor([1.0, 2.0])
    x = sparse_coo_tensor(indices, values)
    indices.fill_(7)
    values.fill_(7)
    assert x.to_dense().tolist() == [1.0, 2.0]


def test_indices_are_read_only_and_values_are_not(x):
    with pytest.raises(RuntimeError, match="read-only"):
        x.indices().fill_(9)
    x.values().fill_(1)
    assert x.to_dense().tolist() == [[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]
    y = x.clone()
    y.values().fill_(5)
    assert x.values().tolist() == [1.0, 1.0, 1.0] and y.indices().is_alias_of(x.indices())


def test_large_shapes_need_no_memory():
    x = sparse_coo_tensor([[10**9 - 1, 0, 0], [7, 5, 5]], [1.0, 2.0, 3.0], (10**9, 10**9))
    assert x.coalesce().indices().tolist() == [[0, 10**9 - 1], [5, 7]] and x.size == 10**18
    with pytest.raises(MemoryError):
        x.to_dense()


@pytest.mark.parametrize("indices, values, size, error, text", [
    ([[0, 2]], [1.0, 1.0], (2,), IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
    ([[0], [-1]], [1.0], (2, 2), IndexError, "index -1 is out of bounds for dimension 1"),
    ([[-1]], [1.0], None, (IndexError, ValueError), "-1|negative"),
    ([0, 1], [1.0, 1.0], (2,), ValueError, "matrix"), ([[[0]]], [1.0], (2,), ValueError, "matrix"),
    (5, [1.0], (2,), ValueError, "matrix"), ([[0.0]], [1.0], (2,), TypeError, "integers"),
    ([[True]], [1.0], (2,), TypeError, "integers"), ([[0, 1]], [1.0], (2,), ValueError, "values of shape"),
    ([[0]], [[1.0]], (2,), ValueError, "values of shape"), ([[0]], 1.0, (2,), ValueError, "values of shape"),
    ([[0], [0]], [1.0], (2,), ValueError, "2 rows"), ([[0]], [1.0], (2, 2), ValueError, "1 rows"),
    ([[0]], [1.0], (-1,), ValueError, "negative"), ([[0], [0]], [1.0], (2**62, 4), ValueError, "overflow"),
    ([[0]], [1.0], (0,), IndexError, "out of bounds"), ([[0]], [1.0], (2**70,), OverflowError, "."),
    ([[0]], [1.0], (1.5,), TypeError, "."), ([[0]], [1.0], "2", TypeError, "size"),
    ([[2**63 - 1]], [1.0], None, OverflowError, "."), (np.zeros((65, 1), int), [1.0], None, ValueError, "matrix"),
    (np.zeros((0, 1), int), [1.0], None, ValueError, "matrix"), ([[0]], ["a"], (2,), TypeError, "."),
    ([[0], [0, 1]], [1.0], None, ValueError, "."), (None, [1.0], None, (TypeError, ValueError), "."),
    (tensix.Tensor(), [1.0], None, (TypeError, ValueError, RuntimeError), "."),
    ([[0]], tensix.Tensor(), None, (TypeError, ValueError, RuntimeError), "."),
])
def test_bad_entries(indices, values, size, error, text):
    with pytest.raises(error, match=text):
        sparse_coo_tensor(indices, values, size)


def test_other_devices_are_refused():
    with pytest.raises(NotImplementedError, match="Meta"):
        sparse_coo_tensor([[0]], [1.0], device="meta")
    with pytest.raises(NotImplementedError, match="SparseCPU"):
        sparse_coo_tensor([[0]], [1.0], device="cpu").to_device("meta")


@pytest.mark.parametrize("ask", [
    lambda x: x.stride(), lambda x: x.stride(0), lambda x: x.storage_offset(), lambda x: x.is_contiguous(),
    lambda x: x.storage(), lambda x: x.data_ptr(), lambda x: x.mutable_data_ptr(), lambda x: x.tolist(), np.asarray,
    lambda x: np.array(x), lambda x: sparse_coo_tensor([[0]], [1.0]).item(), lambda x: x[0], lambda x: x[0, 1],
    lambda x: x[:1], lambda x: list(x), lambda x: x.t(), lambda x: x.view(6), lambda x: x.reshape(6),
    lambda x: x.expand(2, 2, 3), lambda x: x.unsqueeze(0), lambda x: x.select(0, 0), lambda x: x.narrow(0, 0, 1),
    lambda x: x.permute(1, 0), lambda x: x.lazy_clone(), lambda x: x.fill_(1), lambda x: x.zero_(),
    lambda x: x.copy_(x), lambda x: x.copy_(tensix.ones(2, 3)), lambda x: tensix.ones(2, 3).copy_(x),
    lambda x: x.__setitem__(0, 1), lambda x: tensix.ones(2, 3).__setitem__(0, x), lambda x: x / 2, lambda x: x - x,
    lambda x: x * x, lambda x: x * tensix.ones(2, 3), lambda x: x @ x, lambda x: tensix.ops.tensix.uniform_(x),
    lambda x: tensix.ones(4, 2, 2) @ x, lambda x: x + tensix.empty(2, 3, device="meta"), bool,
    lambda x: sparse_coo_tensor(x, [1.0]), lambda x: sparse_coo_tensor([[0]], x),
])
def test_what_needs_memory_or_strides_is_refused(x, ask):
    with pytest.raises((RuntimeError, NotImplementedError, ValueError)):
        ask(x)
    assert x.to_dense().tolist() == DENSE


def test_missing_operators_name_the_key(x):
    with pytest.raises(NotImplementedError, match="'SparseCPU' backend"):
        x.view(6)
    with pytest.raises(NotImplementedError, match=r"'CPU' backend.*\[SparseCPU\]"):
        tensix.ones(2).indices()


@pytest.mark.parametrize("name", ["coalesce", "indices", "neg", "clone", "_nnz", "is_coalesced"])
def test_redispatch_brings_nothing_to_a_kernel_of_the_other_layout(x, name):
    table = dispatcher.get_op_table(name)
    with pytest.raises(TypeError, match="sparse_coo tensor is needed"):
        table.redispatch(DispatchKeySet("SparseCPU"), tensix.ones(2, 3))
    for other in ("add.Tensor", "mul.Tensor", "matmul"):
        with pytest.raises((TypeError, RuntimeError, ValueError)):
            dispatcher.get_op_table(other).redispatch(DispatchKeySet("CPU"), x, x)
        with pytest.raises((TypeError, RuntimeError)):
            dispatcher.get_op_table(other).redispatch(DispatchKeySet("SparseCPU"), tensix.ones(2, 3), tensix.ones(3, 2))
    for view in ("numpy_T", "contiguous_copy", "lazy_clone"):
        try:
            odd = dispatcher.get_op_table(view).redispatch(DispatchKeySet("CPU"), x)
        except RuntimeError:
            continue
        with pytest.raises((TypeError, RuntimeError)):  # a view without entries: it can be asked nothing
            odd.coalesce()


def test_shapes_must_fit(x):
    for wrong in (lambda: x + sparse_coo_tensor([[0]], [1.0]), lambda: x + tensix.ones(4), lambda: x @ tensix.ones(2)):
        with pytest.raises(ValueError):
            wrong()


def test_dense_without_dimensions_has_no_sparse_form():
    with pytest.raises(ValueError, match="dimension"):
        tensix.tensor(1.0).to_sparse()


def test_entries_live_as_long_as_the_tensor_and_no_longer():
    gc.collect()
    before = tensix.CPUAllocator.bytes_in_use()
    x = sparse_coo_tensor([[0] * 1000], tensix.zeros(1000))
    assert tensix.CPUAllocator.bytes_in_use() >= before + 4000
    values = x.values()
    del x
    assert values.tolist() == [0.0] * 1000
    del values
    assert tensix.CPUAllocator.bytes_in_use() == before


def test_sum_takes_a_factor(x):
    made = tensix.ops.tensix.add(x, x, alpha=2)
    assert made.is_sparse and made.to_dense().tolist() == (np.array(DENSE) * 3).tolist()
    assert tensix.ops.tensix.add(tensix.ones(2, 3), x, alpha=-1).tolist() == (1 - np.array(DENSE)).tolist()
    with pytest.raises(TypeError, match="cannot take alpha=1j"):
        tensix.ops.tensix.add(x, x, alpha=1j)
