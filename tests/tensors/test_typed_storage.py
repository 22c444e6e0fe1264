"""Storages of Python objects: each is constructed once, found again, and let go once."""

import gc
import sys
import threading

import pytest

from tensix import CPUAllocator, OutOfMemoryError, Storage, Tensor, TypedStorage, cow, int64, register_type
from tensix.tensors.element_allocator import ElementAllocator
from tensix.testing import FailingAllocator


class Thing:
    """Count how many are alive, and fail at the n-th on demand."""

    alive = 0
    fail_at = None
    counted = False

    def __init__(self):
        if Thing.fail_at == Thing.alive:
            raise ZeroDivisionError("the constructor failed")
        Thing.alive += 1
        self.counted = True

    def __del__(self):
        Thing.alive -= self.counted


class NeedsArguments:
    def __init__(self, argument):
        self.argument = argument


class Single:
    """Does not allow assignment."""

    __copy__ = None


META = register_type(Thing)
register_type(NeedsArguments)
register_type(Single)


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Everything constructed is destroyed, and every byte freed."""
    gc.collect()
    Thing.alive, before = 0, CPUAllocator.bytes_in_use()
    yield
    Thing.fail_at = None
    gc.collect()
    assert (Thing.alive, CPUAllocator.bytes_in_use()) == (0, before)


def test_elements_are_constructed_and_destroyed():
    things = TypedStorage(Thing, 3)
    assert Thing.alive == len(things) == 3 and things.type_meta == META
    assert things[0] is things[-3] and len({id(thing) for thing in things}) == 3
    storage = things.storage()
    del things
    assert Thing.alive == 3 and storage.nbytes() == 24
    del storage
    assert Thing.alive == 0


def test_elements_are_references():
    things, thing = TypedStorage(Thing, 2), Thing()
    before = sys.getrefcount(thing)
    things[1] = things[-2] = thing
    after = sys.getrefcount(thing)
    assert (after, Thing.alive) == (before + 2, 1) and things[0] is things[1] is thing
    del things
    after = sys.getrefcount(thing)
    assert after == before


def test_no_elements():
    things = TypedStorage(Thing, 0)
    assert len(things) == len(things.clone()) == things.storage().nbytes() == 0 and list(things) == []
    with pytest.raises(IndexError):
        things[0]


@pytest.mark.parametrize("index, error", [(2, IndexError), (-3, IndexError), (2**63, (IndexError, OverflowError)),
                                          (0.0, TypeError), (None, TypeError), (slice(2), TypeError)])
def test_index_that_is_none(index, error):
    things = TypedStorage(Thing, 2)
    with pytest.raises(error):
        things[index]
    with pytest.raises(error):
        things[index] = Thing()


def test_only_objects_of_the_class_go_in():
    things = TypedStorage(Thing, 1)
    first = things[0]
    for value in (None, 5, object(), Thing):
        with pytest.raises(TypeError, match=r"must be a .*Thing, found"):
            things[0] = value
    things[0] = type("Derived", (Thing,), {})()
    assert things[0] is not first


@pytest.mark.parametrize("count, error", [(-1, ValueError), (2**61, OverflowError), (2**64, OverflowError),
                                          (2**58, OutOfMemoryError), (1.5, TypeError), (None, TypeError)])
def test_counts_that_cannot_be(count, error):
    with pytest.raises(error):
        TypedStorage(Thing, count)


@pytest.mark.parametrize("type, text", [("float32", "use empty"), (Tensor().dtype, "use empty"),
                                        (dict, "register_type"), (None, "element type")])
def test_types_without_elements(type, text):
    with pytest.raises(TypeError, match=text):
        TypedStorage(type, 1)


# ---- construction that fails


@pytest.mark.parametrize("make", [lambda: TypedStorage(Thing, 5), lambda: ElementAllocator(META).allocate(40)])
def test_failed_construction_destroys_what_was_constructed(make):
    Thing.fail_at = 3
    with pytest.raises(ZeroDivisionError):
        make()


def test_not_default_constructible():
    with pytest.raises(TypeError, match=r"Type .*NeedsArguments is not default-constructible: .*'argument'"):
        TypedStorage(NeedsArguments, 2)
    assert len(TypedStorage(NeedsArguments, 0)) == 0


def test_class_that_makes_something_else():
    class Liar:
        def __new__(cls):
            return 5

    register_type(Liar)
    with pytest.raises(TypeError, match="not default-constructible: calling it gave a int"):
        TypedStorage(Liar, 2)


# ---- copies


@pytest.mark.parametrize("copy", [
    lambda things: things.clone(),
    lambda things: TypedStorage.from_storage(things.storage().clone()),
    lambda things: TypedStorage.from_storage(things.storage().lazy_clone()),
], ids=["clone", "storage's clone", "storage's lazy_clone"])
def test_copies_go_element_by_element_at_once(copy):
    things = TypedStorage(Thing, 3)
    second = copy(things)
    assert list(second) == list(things) and Thing.alive == 3
    assert second.storage().data_ptr() != things.storage().data_ptr() and not second.storage().is_cow()
    second[0] = Thing()
    assert second[0] is not things[0] and list(second)[1:] == list(things)[1:] and Thing.alive == 4
    del things
    assert Thing.alive == 3


def test_bytes_are_never_shared_for_copying():
    storage = TypedStorage(Thing, 3).storage()
    assert not cow.has_simple_data_ptr(storage) and cow.lazy_clone_storage(storage) is None


def test_not_assignable():
    singles = TypedStorage(Single, 2)
    first = singles[0]
    for copy in (singles.clone, singles.storage().clone, lambda: singles.__setitem__(0, Single())):
        with pytest.raises(TypeError, match=r"Type .*Single does not allow assignment: its __copy__ is None"):
            copy()
    assert singles[0] is first


def test_resizing_keeps_the_first_elements():
    things = TypedStorage(Thing, 4)
    storage, kept = things.storage(), list(things)
    storage.resizable = True
    assert len(storage.resize_(16) and things) == 2 and list(things) == kept[:2]
    assert len(storage.resize_(40) and things) == 5 and list(things)[:2] == kept[:2]
    del kept
    assert Thing.alive == 5
    with pytest.raises(ValueError, match="not a whole number"):
        storage.resize_(13)
    assert len(things) == 5


def test_failed_copy_leaves_nothing():
    """The memory is asked for first, of an allocator that has none left."""
    allocator = FailingAllocator(fail_at=2)
    things = TypedStorage(Thing, 2, allocator)
    with pytest.raises(OutOfMemoryError):
        things.clone()
    assert Thing.alive == 2 and things.storage().allocator.upstream is allocator


def test_dropped_objects_may_look_at_the_storage():
    """A replaced one sees its successor; one that dies with its storage sees none of it."""
    class Nosy:
        def __del__(self):
            try:
                seen.append(things[0] is box[0])
            except TypeError:
                seen.append("no elements")

    register_type(Nosy)
    seen, box = [], [Nosy()]
    things = TypedStorage(Nosy, 2)
    things[0] = box[0]
    assert seen == [True]
    things.storage().impl.reset()
    assert seen == [True, "no elements"]
    del box[0]
    assert seen == [True, "no elements", "no elements"]


# ---- what else is done with the storage


def test_bytes_are_not_written_from_outside():
    things = TypedStorage(Thing, 2)
    storage = things.storage()
    for write in (storage.mutable_data_ptr, Tensor.from_storage(storage, 0, (2,), (1,), int64).zero_):
        with pytest.raises(RuntimeError, match="not writable"):
            write()
    assert Tensor.from_storage(storage, 0, (2,), (1,), int64).tolist() == [id(thing) for thing in things]


def test_read_only():
    things = TypedStorage(Thing, 2)
    things.storage().readonly = True
    with pytest.raises(RuntimeError, match="read-only"):
        things[0] = Thing()
    lazy = TypedStorage.from_storage(things.storage().lazy_clone())
    shared = TypedStorage.from_storage(lazy.storage().lazy_clone())
    assert lazy.storage().is_cow() and list(lazy) == list(shared) == list(things)
    lazy[0] = Thing()
    assert lazy[0] is not things[0] and lazy[1] is things[1] and list(shared) == list(things)


def test_storage_that_holds_no_elements():
    things = TypedStorage(Thing, 2)
    other = Storage(16)
    with pytest.raises(TypeError, match="does not hold elements"):
        TypedStorage.from_storage(other)
    with pytest.raises(TypeError):
        TypedStorage.from_storage(None)
    things.storage().set_data_ptr_noswap(other.set_data_ptr(Storage(16).set_data_ptr(Storage(0).set_data_ptr(
        CPUAllocator().allocate(0)))))
    assert Thing.alive == 0
    for use in (lambda: things[0], lambda: len(things), lambda: things.__setitem__(0, Thing())):
        with pytest.raises(TypeError, match="does not hold elements"):
            use()


def test_replaced_by_elements_of_another_type():
    things, singles = TypedStorage(Thing, 2), ElementAllocator(register_type(Single)).allocate(16)
    things.storage().set_data_ptr_noswap(singles)
    with pytest.raises(TypeError, match=r"holds .*Single now"):
        things[0]


def test_null_and_second_init():
    storage = Storage(8)
    storage.reset()
    with pytest.raises(RuntimeError, match="null"):
        TypedStorage.from_storage(storage)
    empty = TypedStorage.__new__(TypedStorage)
    for use in (lambda: empty[0], lambda: len(empty), empty.storage, empty.clone, lambda: empty.__setitem__(0, 1)):
        with pytest.raises(RuntimeError, match="null"):
            use()
    things = TypedStorage(Thing, 1)
    with pytest.raises(RuntimeError, match="filled once"):
        things.__init__(Thing, 2)


def test_freed_on_another_thread():
    box = [TypedStorage(Thing, 100)]
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    assert Thing.alive == 0
