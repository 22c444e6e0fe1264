"""Explanations say what is so: counts, states, contexts, and who frees what."""

import ctypes
import json
import mmap

import numpy as np
import pytest

import tensix
from tensix import (
    Allocator,
    CPUAllocator,
    DataPtr,
    IntrusivePtr,
    IntrusiveTarget,
    Storage,
    Tensor,
    WeakIntrusivePtr,
    explain,
    make_intrusive,
)
from tensix.core import cow
from tensix.memory import CachingAllocator, StatisticsAdaptor
from tensix.testing import DeleteTracker, FakeAllocator, assert_no_leaks


def links(x):
    """Return all links of an explanation, in order."""

    def walk(link):
        yield link
        for owned in link["owns"]:
            yield from walk(owned)

    return [*walk(explain(x).to_dict())]


def names(x):
    return [link["what"] for link in links(x)]


def facts(x, what):
    """Return the facts of the first link of a name."""
    return next(link["facts"] for link in links(x) if link["what"] == what)


def test_the_chain_of_a_tensor():
    x = tensix.empty(3, 4)
    assert names(x) == [
        "Tensor", "TensorImpl", "StorageImpl", "DataPtr", "block of a CachingAllocator", "DataPtr",
        "block of a CPUAllocator, not counted", "CachingAllocator", "CPUAllocator",
    ]  # fmt: skip
    body = facts(x[1:, ::2], "TensorImpl")
    assert (body["sizes"], body["strides"], body["offset"], body["dtype"]) == ([2, 2], [4, 2], 4, "float32")
    assert body["keys"] == ["CPU"] and body["device"] == "cpu" and body["address"] > 0
    assert facts(x, "DataPtr")["data"] == x.data_ptr() and facts(x, "DataPtr")["deleter"] == "take_back"
    assert facts(x, "block of a CachingAllocator") == {"size": 48, "capacity": 64}
    assert facts(Storage(48, CPUAllocator()), "block of a CPUAllocator") == {"size": 48, "mapped": 0}


def test_counts_are_those_of_the_program():
    x = tensix.ones(3)
    view, storage, weak = x[1:], x.storage(), x.weak()
    assert facts(x, "TensorImpl")["owners"] == {
        "strong": 1, "weak": 1, "strong_handles": 0, "weak_handles": 1, "is_expired": False,
    }  # fmt: skip
    assert facts(x, "StorageImpl")["owners"]["strong"] == 3 == storage.use_count()
    del view, weak
    assert facts(x, "StorageImpl")["owners"]["strong"] == 2
    with assert_no_leaks():
        explain(x).svg()


def test_states_of_a_storage():
    x = tensix.ones(3)
    state = facts(x, "StorageImpl")
    assert (state["size"], state["written"], state["resizable"], state["read-only"]) == (12, 1, True, False)
    assert state["next write"] == "in place" and "exported" not in state
    held = np.asarray(x)
    assert facts(x, "StorageImpl")["exported"] and held[0] == 1.0
    x.storage().readonly = True
    assert facts(x, "StorageImpl")["next write"] == "refused"
    assert "escaped" not in facts(x, "StorageImpl")
    assert x.__array_interface__["data"] and facts(x, "StorageImpl")["escaped"]


def test_copy_on_write_sharers():
    x = tensix.ones(3)
    clones = [x.lazy_clone(), x.lazy_clone()]
    assert facts(x, "copy-on-write context") == {"shared by": 3}
    assert facts(x, "StorageImpl")["next write"] == facts(clones[0], "StorageImpl")["next write"] == "copies"
    clones.clear()
    assert facts(x, "StorageImpl")["next write"] == "takes back"
    x.fill_(2)
    assert facts(x, "StorageImpl")["next write"] == "in place" and "copy-on-write context" not in names(x)
    assert facts(x.storage().share(), "shared context") == {"shared by": 2}


def test_read_only_bytes_are_never_taken_back():
    x = tensix.ones(3)
    x.storage().readonly = True
    clone = x.lazy_clone()
    del x
    assert facts(clone, "copy-on-write context of read-only bytes") == {"shared by": 1}
    assert facts(clone, "StorageImpl")["next write"] == "copies"


def test_blocks_of_the_cache():
    storage = Storage(5 << 20, CachingAllocator(CPUAllocator()))
    assert names(storage)[3:6] == ["block of a CachingAllocator", "DataPtr", "block of a CPUAllocator, not counted"]
    assert facts(storage, "block of a CachingAllocator")["size"] == 5 << 20
    assert "serves" not in facts(storage, "CachingAllocator") and "serves" in facts(tensix.empty(1), "CachingAllocator")


def test_memory_of_numpy_and_of_files(tmp_path):
    array = np.arange(12.0).reshape(3, 4)[:, 1:]
    x = tensix.from_numpy(array)
    assert names(x)[-2:] == ["NumPy array", "NumPy array"] and facts(x, "NumPy array")["shape"] == [3, 3]
    path = tmp_path / "x"
    path.write_bytes(bytes(64))
    with path.open("rb") as file:
        mapped = np.frombuffer(mmap.mmap(file.fileno(), 64, access=mmap.ACCESS_READ), np.float32)
    assert names(tensix.from_numpy(mapped))[-1] == "file mapping"
    np.save(path.with_suffix(".npy"), array)
    loaded = tensix.from_numpy(np.load(path.with_suffix(".npy"), mmap_mode="r"))
    assert facts(loaded, "NumPy array")["file"] == str(path.with_suffix(".npy"))
    assert "file mapping" in names(loaded) and facts(loaded, "StorageImpl")["read-only"]
    assert names(tensix.from_numpy(np.frombuffer(b"12345678", np.int8)))[-2:] == ["NumPy array", "bytes"]


def test_foreign_deleters_are_looked_up():
    library = ctypes.CDLL(None)  # whose `free` some interpreters have at an address of their own
    assert "regfree in libc" in str(explain(DataPtr(0x1000, 0, library.regfree)))
    tracker = DeleteTracker()
    storage = Storage.from_data_ptr(8, DataPtr(0x1000, 0x2000, tracker))
    assert names(storage)[-2:] == ["context that tensix does not know", "tensix.DeleteTracker"]
    assert "a function at 0x" in str(explain(storage))
    assert "null: nothing is freed" in str(explain(DataPtr(0x1000)))


@pytest.mark.parametrize("make", [CPUAllocator, CachingAllocator, StatisticsAdaptor])
def test_a_context_given_as_a_number_is_not_looked_into(make):
    """It may be any number, whatever the deleter."""
    allocator = make()
    storage = Storage(8, allocator)
    clone = storage.lazy_clone()
    taken = allocator.allocate(8)
    deleter, context = taken.get_deleter(), taken.release_context()
    assert taken.compare_exchange_deleter(deleter, None) and taken.unsafe_reset_data_and_ctx(0x1000)
    assert taken.compare_exchange_deleter(None, deleter)
    for block in (taken, DataPtr(0x1000, 0x2000, deleter), DataPtr(0, 1, clone.data_ptr_object().get_deleter())):
        assert names(block) == ["DataPtr", "context that tensix does not know"]
        assert not cow.is_cow_data_ptr(block) and allocator.is_simple_data_ptr(block) == (block is taken)
        block.release_context()
    DataPtr(0, context, deleter).clear()


def test_closures_and_their_functions():
    def free_it(address):
        raise AssertionError

    storage = Storage.from_data_ptr(8, DataPtr.from_callable(0x1000, free_it))
    assert names(storage)[-2:] == ["Python callable", "function"]
    said = facts(storage, "function")
    assert "free_it" in said["name"] and "test_explain.py:" in said["defined"]
    assert facts(Storage(8, FakeAllocator()), "method")
    storage.impl.data_ptr_object()
    storage.set_data_ptr(DataPtr()).release_context()


def test_constructed_elements():
    elements = tensix.TypedStorage(tensix.register_type(list), 3)
    assert facts(elements.storage(), "constructed elements") == {"elements": 3, "type": "builtins.list"}


def test_sparse_tensors_have_two_chains():
    sparse = tensix.sparse_coo_tensor(tensix.tensor([[0, 2]]), tensix.ones(2), (4,))
    chain = explain(sparse).to_dict()["owns"][0]
    assert (chain["what"], chain["facts"]["nonzero"]) == ("SparseTensorImpl", 2)
    assert [owned["how"] for owned in chain["owns"]] == ["indices", "values"]


def test_what_has_no_memory():
    assert facts(Tensor(), "Tensor") == {"state": "null"}
    assert facts(IntrusivePtr(), "IntrusivePtr") == {"state": "null"}
    assert facts(WeakIntrusivePtr(), "WeakIntrusivePtr") == {"state": "null"}
    null = Storage()
    null.reset()
    assert facts(null, "Storage") == {"state": "null"}
    assert facts(Tensor().impl, "TensorImpl")["state"] == "undefined"
    meta = tensix.empty(3, device="meta")
    assert facts(meta, "StorageImpl")["next write"] == "no memory" and "null: no memory" in str(explain(meta))
    assert facts(tensix.empty(0), "DataPtr")["data"] == 0


def test_what_has_expired():
    body = tensix.ones(3).impl
    storage = Storage(8)
    impl, weak = storage.impl, storage.weak()
    storage.reset()
    for expired in (body, impl, weak):
        assert links(expired)[-1]["facts"]["state"] == "expired"
    assert "expired" in str(explain(impl)) and "expired" in explain(weak).svg()


class Node(IntrusiveTarget):
    pass


def test_pointers_and_targets_of_any_class():
    node = make_intrusive(Node)
    more = node.copy()
    assert names(node) == ["IntrusivePtr", "Node"] and facts(node, "Node")["owners"]["strong_handles"] == 2
    assert names(more.get()) == ["Node"] and "1 of 2 strong counts" in str(explain(node))
    assert "none yet" in str(explain(Node()))
    assert names(WeakIntrusivePtr(node)) == ["WeakIntrusivePtr", "Node"]
    storage = Storage(8)
    assert names(IntrusivePtr.reclaim_copy(storage.impl))[:2] == ["IntrusivePtr", "StorageImpl"]


class Mine(Allocator):
    upstream = CachingAllocator()


def test_allocators():
    assert names(Mine()) == ["Mine", "CachingAllocator", "CPUAllocator"]
    endless = Mine()
    endless.upstream = endless
    assert len(names(endless)) < 100


@pytest.mark.parametrize("wrong", [None, 5, "x", [1], np.ones(3)])
def test_nothing_else_is_explained(wrong):
    with pytest.raises(TypeError, match="explains tensors, storages, pointers"):
        explain(wrong)


def test_data_is_fit_for_json():
    sparse = tensix.sparse_coo_tensor(tensix.tensor([[0, 2]]), tensix.ones(2), (4,))
    for x in (tensix.ones(3).lazy_clone(), sparse, tensix.from_numpy(np.ones(3)), Tensor(), DataPtr()):
        assert json.loads(json.dumps(explain(x).to_dict())) == explain(x).to_dict()


def test_it_holds_nothing():
    storage, tracker = Storage(8), DeleteTracker()
    storage.set_data_ptr_noswap(DataPtr(0x1000, 0x1000, tracker))
    explanation = explain(storage)
    storage.reset()
    assert tracker.calls == [0x1000] and "StorageImpl" in str(explanation) == repr(explanation)
