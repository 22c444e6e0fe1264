"""Elements, geometry, foreign memory and kernels, from compiled code."""

import subprocess
import sys
import threading

import pytest
from tensix_consumer import targets

import tensix

tensors = pytest.importorskip("tensix_consumer.tensors", reason="there is no compiler for C++")

UNDEFINED = ((0,), (1,), 46, 0)


@pytest.mark.parametrize(
    "x",
    [
        tensix.ones(3, 4),
        tensix.arange(12).reshape(3, 4).T,
        tensix.ones(2, 3, dtype=tensix.float64)[:, ::2],
        tensix.ones(1, 2, 1, 2, 1, 2, 1),
        tensix.tensor(3.0),
        tensix.tensor([1 + 2j]),
    ],
)
def test_geometry_is_that_of_python(x):
    assert tensors.describe(x) == (x.shape, x.stride(), x.dtype.code, x.data_ptr())
    assert tensors.mutable_address(x) == x.data_ptr()


@pytest.mark.parametrize("null", [None, tensix.Tensor()])
def test_none_is_an_undefined_tensor(null):
    assert tensors.describe(null) == UNDEFINED
    assert tensors.mutable_address(null) == 0


WITHOUT_MEMORY = {
    "meta": tensix.empty(2, device="meta"),
    "sparse": tensix.ones(2, 2).to_sparse(),
    "no elements": tensix.empty(0),
}


@pytest.mark.parametrize("kind", WITHOUT_MEMORY)
def test_without_memory_the_address_is_null(kind):
    x = WITHOUT_MEMORY[kind]
    sizes, _, dtype, data = tensors.describe(x)
    assert (sizes, dtype) == (x.shape, x.dtype.code)
    assert data == tensors.mutable_address(x) == (x.data_ptr() if x.numel() == 0 else 0)


def test_elements_in_any_order():
    x = tensix.arange(12, dtype=tensix.float64).reshape(3, 4)
    assert tensors.total(x) == tensors.total(x.T) == 66
    assert tensors.total(x[::2, 1::2]) == 1 + 3 + 9 + 11
    assert tensors.total(x[:0]) == 0
    with pytest.raises(TypeError, match="float64 matrices"):
        tensors.total(x[0])
    with pytest.raises(TypeError, match="Tensor"):
        tensors.total([[1.0]])


def test_a_tensor_beyond_its_shrunk_storage_has_no_address():
    x = tensix.ones(10)
    x.storage().resizable = True
    x.storage().resize_(4)
    assert tensors.describe(x)[3] == tensors.mutable_address(x) == 0
    assert tensors.describe(x[:1])[3] == x[:1].data_ptr()


def test_reading_shares_and_writing_materializes():
    x = tensix.ones(10)
    lazy = x.lazy_clone()
    assert tensors.describe(lazy)[3] == x.data_ptr()
    assert tensors.mutable_address(lazy) not in (0, x.data_ptr())
    assert not lazy.is_cow()


def test_read_only_memory_is_read_but_not_written():
    x = tensix.ones(10)
    x.storage().readonly = True
    assert tensors.describe(x)[3] == x.data_ptr()
    assert tensors.mutable_address(x) == 0
    with pytest.raises(RuntimeError, match="read-only"):
        x.mutable_data_ptr()
    assert tensors.addresses(x.storage()) == (x.data_ptr(), 0, 40)


def test_no_memory_for_a_copy_is_a_null_address():
    class Exhausted(tensix.Allocator):
        def allocate(self, nbytes):
            raise tensix.OutOfMemoryError(nbytes, 64, 0)

    x = tensix.ones(10)
    lazy = x.lazy_clone()
    lazy.storage().impl.allocator = Exhausted()
    assert tensors.mutable_address(lazy) == 0
    assert lazy.is_cow()
    assert tensors.describe(lazy)[3] == x.data_ptr()
    with pytest.raises(LookupError, match="on its way"):
        tensors.mutable_address_beside_an_exception(lazy)


def test_storages():
    storage = tensors.allocate_storage(100)
    assert tensors.addresses(storage) == (storage.data_ptr(), storage.data_ptr(), 100)
    lazy = storage.lazy_clone()
    const, mutable, _ = tensors.addresses(lazy)
    assert (const == storage.data_ptr(), mutable == storage.data_ptr()) == (True, False)
    storage.reset()
    assert tensors.addresses(storage) == tensors.addresses(None) == (0, 0, 0)
    with pytest.raises(tensix.OutOfMemoryError):
        tensors.allocate_storage(2**62)


def test_foreign_memory_is_freed_once():
    before, _ = tensors.deletions()
    x = tensors.counted_tensor(3, 4)
    address = x.data_ptr()
    assert x.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert not x.lazy_clone().is_cow()  # C may write it behind our back
    row = x[1]
    del x
    assert tensors.deletions()[0] == before
    assert row.tolist() == [4, 5, 6, 7]
    del row
    assert tensors.deletions() == (before + 1, address)


def test_foreign_memory_is_freed_in_a_thread_without_the_gil():
    before, _ = tensors.deletions()
    x = tensors.counted_tensor(2, 2)
    storage = x.storage()
    del x
    target = storage.unsafe_release_storage_impl()
    targets.drop_in_foreign_threads(target, 4)
    assert tensors.deletions()[0] == before + 1

    thread = threading.Thread(target=tensors.counted_tensor, args=(2, 2))
    thread.start()
    thread.join()
    assert tensors.deletions()[0] == before + 2


def test_geometry_of_foreign_memory():
    x = tensors.counted_tensor(3, 4)
    address, before = x.data_ptr(), tensors.deletions()[0]
    last = tensors.tensor_over(address + 88, (3, 4), (-4, -1), ctx=7)
    assert last.tolist() == tensix.flip(x).tolist()
    assert last.storage().nbytes() == 96
    del last
    assert tensors.deletions() == (before + 1, 7)
    assert tensors.tensor_over(address, (2, 2), (0, 0)).tolist() == [[0, 0], [0, 0]]
    assert tensors.tensor_over(address, ()).tolist() == 0
    assert tensors.tensor_over(0, (0, 5)).shape == (0, 5)
    borrowed = tensors.tensor_over(address, (12,), with_deleter=False)
    assert borrowed.sum() == 66
    count = tensors.deletions()[0]
    del borrowed
    assert tensors.deletions()[0] == count


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (dict(address=0, shape=(2,)), "2 elements, but their address is 0"),
        (dict(address=0x1004, shape=(2,)), "addresses that divide by 8"),
        (dict(address=0x1000, shape=(2,), dtype=8), "element type, found 8"),
        (dict(address=0x1000, shape=(2,), dtype=46), "element type, found 46"),
        (dict(address=0x1000, shape=(2,), dtype=-1), "element type, found -1"),
        (dict(address=0x1000, shape=(2,), dtype=300), "element type, found 300"),
        (dict(address=0x1000, shape=(-1,)), "0 or more, found -1"),
        (dict(address=0x1000, shape=(1,) * 65), "at most 64 dimensions"),
        (dict(address=0x1000, shape=(2**40, 2**40)), "overflow"),
        (dict(address=0x1000, shape=(2, 2), stride=(2**62, 2**62)), "63 bits of bytes"),
        (dict(address=0x1000, shape=(2,), stride=(2**60,)), "63 bits of bytes"),
    ],
)
def test_bad_foreign_memory_is_refused_and_stays_the_callers(arguments, text):
    before = tensors.deletions()
    with pytest.raises(ValueError, match=text):
        tensors.tensor_over(**arguments)
    assert tensors.deletions() == before


@pytest.mark.parametrize("ndim", [-1, 1])
def test_missing_sizes_are_refused(ndim):
    with pytest.raises(ValueError, match=f"ndim={ndim}"):
        tensors.tensor_without_sizes(ndim)


def test_storages_over_foreign_memory():
    before = tensors.deletions()[0]
    storage = tensors.storage_over(0x1000, 16)
    assert tensors.addresses(storage) == (0x1000, 0x1000, 16)
    del storage
    assert tensors.deletions() == (before + 1, 0x1000)
    with pytest.raises(ValueError, match="null address"):
        tensors.storage_over(0, 16)


def test_kernels_of_an_operator():
    twice, failing = tensors.kernels()
    with tensix.library.Library("consumer") as library:
        library.define("twice(Tensor self) -> Tensor")
        library.define("failing(Tensor self, Tensor other) -> Tensor")
        library.impl("twice", twice, "CPU")
        library.impl("failing", failing, "CPU")
        x = tensix.ones(2)
        assert tensix.ops.consumer.twice(x).tolist() == [2, 2]
        with pytest.raises(ArithmeticError, match="the kernel failed"):
            tensix.ops.consumer.failing(x, x)
        with pytest.raises(TypeError):
            tensix.ops.consumer.twice(3)
        assert "consumer twice" in str(tensix.dispatch.dispatcher.get_op_table("consumer::twice"))
    with pytest.raises(AttributeError):
        tensix.ops.consumer.twice(x)
    with pytest.raises(TypeError, match="NULL"):
        tensors.kernel_without_function()


def test_what_is_alive_at_exit_leaves_in_silence():
    code = (
        "import sys, tensix\n"
        "from tensix_consumer import allocators, targets, tensors\n"
        "sys.kept = [tensors.counted_tensor(2, 2), tensors.allocate_storage(8), targets.make_buffer()]\n"
        "sys.kept.append(tensix.Storage(8, allocators.CountingAllocator()))\n"
        "targets.take(sys.kept[2].get())\n"
        "library = tensix.library.Library('at_exit')\n"
        "library.define('twice(Tensor self) -> Tensor')\n"
        "library.impl('twice', tensors.kernels()[0], 'CPU')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
