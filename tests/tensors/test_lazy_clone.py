"""Copy-on-write of tensors: who shares, who copies, and that nobody sees another's writes."""

import copy

import pytest

import tensix
from tensix import CPUAllocator


@pytest.fixture
def x():
    """Return a tensor of the elements 0 to 5."""
    return tensix.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


CONTENT = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_same_facts_and_bytes(x):
    clone = x.lazy_clone()
    assert (clone.shape, clone.stride(), clone.dtype, clone.tolist()) == (x.shape, x.stride(), x.dtype, CONTENT)
    assert clone.data_ptr() == x.data_ptr() and clone.is_cow() and x.is_cow()
    assert not clone.is_alias_of(x) and clone.allocator is x.allocator


@pytest.mark.parametrize("make", [lambda x: x.T, lambda x: x[1], lambda x: x[::-1, 1:], lambda x: x[:, None],
                                  lambda x: x[0:0], lambda x: x[1, 2], lambda x: x.reshape(1, 1, 1, 1, 1, 2, 3)])
def test_geometry_of_a_view_is_kept(x, make):
    view = make(x)
    clone = view.lazy_clone()
    assert (clone.shape, clone.stride(), clone.storage_offset()) == (view.shape, view.stride(), view.storage_offset())
    assert (clone.is_contiguous(), clone.tolist()) == (view.is_contiguous(), view.tolist())
    clone.fill_(-1)
    assert (x.tolist() == CONTENT and clone.tolist() != view.tolist()) or view.numel() == 0


WRITES = {
    "fill_": lambda x: x.fill_(9),
    "zero_": lambda x: x.zero_(),
    "copy_": lambda x: x.copy_(tensix.full((), 9.0)),
    "item": lambda x: x.__setitem__((0, 0), 9),
    "slice": lambda x: x.__setitem__(slice(None), tensix.zeros(3)),
    "converted": lambda x: x.copy_(tensix.full((), 9)),
    "view": lambda x: x.T[2].fill_(9),
    "address": lambda x: x.mutable_data_ptr(),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("first", [0, 1])
def test_first_writer_copies_and_the_last_takes_the_block_back(x, write, first):
    both = [x, x.lazy_clone()]
    writer, other = both[first], both[1 - first]
    address = x.data_ptr()
    write(writer)
    assert writer.data_ptr() != address == other.data_ptr()
    assert not writer.is_cow() and other.tolist() == CONTENT
    expected = writer.tolist()
    write(other)
    assert other.data_ptr() == address and not other.is_cow() and other.tolist() == expected == writer.tolist()


def test_reading_never_copies(x):
    clone = x.lazy_clone()
    before = CPUAllocator.bytes_in_use()
    for tensor in (x, clone, clone.T):
        tensor.tolist(), repr(tensor), tensor.data_ptr(), tensor[0].shape, tensor.is_contiguous()
        _ = (tensor + tensor, -tensor, tensor.clone(), tensor.T.reshape(6), tensix.ones(2, 1).copy_(tensor[:1, :1]))
    del _, tensor
    assert CPUAllocator.bytes_in_use() == before and x.is_cow() and clone.data_ptr() == x.data_ptr()


def test_survivor_does_not_copy():
    x = tensix.ones(6)
    clone, address = x.lazy_clone(), x.data_ptr()
    del x
    before = CPUAllocator.bytes_in_use()
    clone.fill_(1)
    assert clone.data_ptr() == address and CPUAllocator.bytes_in_use() == before


def test_views_share_the_state_of_their_storage(x):
    view, clone = x[1], x.lazy_clone()
    clone_view = clone[1]
    assert view.is_cow() and clone_view.is_cow()
    view.fill_(7)
    assert x.tolist() == [CONTENT[0], [7.0] * 3] and not x.is_cow() and x.is_alias_of(view)
    assert clone.tolist() == CONTENT and clone_view.tolist() == CONTENT[1]
    clone.fill_(8)
    assert clone_view.tolist() == [8.0] * 3 and view.tolist() == [7.0] * 3
    assert view.data_ptr() == x[1].data_ptr() and clone_view.data_ptr() == clone[1].data_ptr()


def test_clone_of_a_view_is_not_written_through_the_base(x):
    clone = x[:, 1].lazy_clone()
    x.fill_(9)
    assert clone.tolist() == [1.0, 4.0]


@pytest.mark.parametrize("writers", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_many_sharers(x, writers):
    sharers = [x, x.lazy_clone(), x.lazy_clone()]
    sharers.append(sharers[2].lazy_clone())
    assert len({tensor.data_ptr() for tensor in sharers}) == 1
    for number in writers:
        sharers[number].fill_(number)
    assert [tensor[1, 1].item() for tensor in sharers] == [0.0, 1.0, 2.0, 3.0]
    assert len({tensor.data_ptr() for tensor in sharers}) == 4


def test_copy_between_sharers(x):
    clone = x.lazy_clone()
    clone.T[0].copy_(x.T[2])
    assert clone.tolist() == [[2.0, 1.0, 2.0], [5.0, 4.0, 5.0]] and x.tolist() == CONTENT
    x.copy_(x.lazy_clone()[:, :1])
    assert x.tolist() == [[0.0] * 3, [3.0] * 3]


def test_costs_no_memory_whatever_the_size():
    big = tensix.empty(1 << 20)
    before = CPUAllocator.bytes_in_use()
    clones = [big.lazy_clone() for _ in range(100)]
    assert CPUAllocator.bytes_in_use() == before and len({clone.data_ptr() for clone in clones}) == 1


def test_nothing_to_share():
    clone = tensix.empty(0, 3).lazy_clone()
    assert clone.shape == (0, 3) and clone.fill_(1).tolist() == []


@pytest.mark.parametrize("copied", [
    lambda x: x.lazy_clone(), lambda x: x.view(1000, 1000).lazy_clone(), copy.deepcopy, lambda x: x.clone(),
])  # fmt: skip
def test_tensor_that_looks_beyond_its_storage_is_not_copied(copied):
    x = tensix.ones(1_000_000)
    x.storage().resize_(4)
    with pytest.raises(RuntimeError, match="the storage has 4 bytes"):
        copied(x)


def test_lazy_clone_of_a_storage_that_was_shrunk_knows():
    x = tensix.ones(1000)
    x.storage().resize_(40)
    clone = x.storage().lazy_clone()
    view = tensix.Tensor.from_storage(clone, 0, (10,), (1,), "float32")
    assert view.tolist() == [1.0] * 10
    view.set_(x.view(1000)[:10])
    other = copy.deepcopy(view)
    assert other.tolist() == [1.0] * 10 and other.storage().nbytes() == 40


def test_storage_that_grows_and_shrinks_between_two_of_a_deep_copy():
    """Both tensors share the copy of the storage that the first of them made."""
    x = tensix.ones(4)

    class Growing:
        def __deepcopy__(self, memo):
            x.storage().resize_(4000)
            y.set_(tensix.Tensor.from_storage(x.storage(), 0, (1000,), (1,), "float32"))
            return self

    y = x.view(4)
    with pytest.raises(RuntimeError, match="the storage has 16 bytes"):
        copy.deepcopy([x, Growing(), y])
