"""copy.copy() looks at the same elements, copy.deepcopy() keeps what was one together."""

import copy

import pytest

import tensix
from tensix import Storage, Tensor
from tensix.tensors.sparse_tensor_impl import SparseTensorImpl
from tensix.testing import assert_no_leaks


class Named(Tensor):
    pass


def test_a_shallow_copy_is_another_tensor_on_the_same_elements():
    x = tensix.rand(3, 4).T
    y = copy.copy(x)
    assert y.impl is not x.impl and y.is_alias_of(x) and y.stride() == x.stride() == (1, 4)
    y.zero_()
    assert x.sum().item() == 0.0
    assert not copy.copy(Tensor()).defined()


def test_a_deep_copy_has_its_own_elements():
    x = tensix.rand(3, 4).T[1:, ::-1]
    y = copy.deepcopy(x)
    assert y.tolist() == x.tolist() and not y.is_alias_of(x) and not y.is_cow()
    assert (y.stride(), y.storage_offset(), y.dtype) == (x.stride(), x.storage_offset(), x.dtype)
    assert y.storage().nbytes() == x.storage().nbytes() == 48  # as with views: the whole storage
    assert not copy.deepcopy(Tensor()).defined()


def test_views_that_are_copied_together_stay_together():
    x = tensix.rand(3, 4)
    kept = {"base": x, "row": x[1], "storage": x.storage(), "other": tensix.ones(2)}
    twin = copy.deepcopy(kept)
    assert twin["row"].is_alias_of(twin["base"]) and twin["storage"] == twin["base"].storage()
    assert not twin["other"].is_alias_of(twin["base"])
    twin["row"].zero_()
    assert twin["base"][1].tolist() == [0.0] * 4 != x[1].tolist()
    assert twin["storage"].use_count() == 3


def test_one_tensor_stays_one():
    x = tensix.ones(3)
    other_handle = Tensor.from_impl(tensix.IntrusivePtr.reclaim_copy(x.impl))
    first, second, third = copy.deepcopy([x, x, other_handle])
    assert first is second is not third and first.impl is third.impl and first.use_count() == 2


def test_read_only_stays_read_only():
    x = tensix.ones(3)
    x.storage().readonly = True
    assert copy.deepcopy(x).readonly and not x.clone().readonly
    assert copy.deepcopy(x.storage()).readonly


def test_what_shares_copy_on_write_is_parted():
    x = tensix.ones(3)
    y = x.lazy_clone()
    first, second = copy.deepcopy([x, y])
    first.zero_()
    assert second.tolist() == x.tolist() == y.tolist() == [1.0] * 3


def test_subclasses_and_attributes_are_kept():
    x = Named()
    x.name, x.me = ["a"], x
    assert type(copy.copy(x)) is Named and copy.copy(x).name is x.name
    y = copy.deepcopy(x)
    assert type(y) is Named and y.name == ["a"] and y.name is not x.name and y.me is y
    del x.me, y.me  # the collector does not look into tensors


def test_what_records_gradients_is_copied_too():
    x = tensix.ones(3)
    x.impl.autograd_meta = {"grad": x}
    y = copy.deepcopy(x)
    assert y.impl.autograd_meta["grad"] is y
    x.impl.autograd_meta = y.impl.autograd_meta = None


@pytest.mark.parametrize("deep", [False, True])
def test_other_layouts_and_devices(deep):
    copied = copy.deepcopy if deep else copy.copy
    sparse = tensix.sparse_coo_tensor(tensix.tensor([[0, 2]]), tensix.tensor([1.0, 2.0]), (4,))
    twin = copied(sparse)
    assert twin.layout is tensix.sparse_coo and twin.to_dense().tolist() == [1.0, 0.0, 2.0, 0.0]
    assert twin.values().is_alias_of(sparse.values()) is not deep
    meta = copied(tensix.empty(2, 3, device="meta"))
    assert (meta.shape, meta.device.type) == ((2, 3), "meta")
    assert copied(tensix.empty(0)).shape == (0,)


def test_null_storages():
    null = Storage()
    null.reset()
    assert not copy.deepcopy(null) and not copy.copy(null)


def test_a_copy_that_fails_leaves_nothing():
    @assert_no_leaks()
    def work():
        x = tensix.ones(3)
        x.impl.autograd_meta = NotCopied()
        with pytest.raises(LookupError):
            copy.deepcopy(x)
        x.impl.autograd_meta = None

    work()


class NotCopied:
    def __deepcopy__(self, memo):
        raise LookupError("not this")


def test_a_memo_with_a_null_storage_is_no_copy():
    x, null = tensix.ones(2), Storage.__new__(Storage)
    assert x.__deepcopy__({id(x.storage().impl): null}).tolist() == [1, 1]


@pytest.mark.parametrize("function", [copy.copy, copy.deepcopy])
def test_a_sparse_body_without_parts_is_not_copied(function):
    x = Tensor.from_impl(tensix.make_intrusive(SparseTensorImpl))
    with pytest.raises(RuntimeError, match="needs indices and values, found None"):
        function(x)
