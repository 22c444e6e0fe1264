"""Shared memory is found by its address, attached by descriptor and offset, and leaves nothing behind."""

import contextlib
import errno
import os
import socket
import subprocess
import sys
import threading

import pytest

import tensix
from tensix.core import CPUAllocator, DataPtr, Storage
from tensix.memory import SharedMemoryAllocator, StatisticsAdaptor

MIB = 1 << 20
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shared memory is not offered on Windows")


@pytest.fixture
def shared():
    return SharedMemoryAllocator()


@pytest.fixture
def descriptors():
    """How many descriptors of shared memory were opened since the test began; threads of others may open files."""

    def count():
        found = 0
        for fd in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # of the listing itself
                found += "memfd:tensix" in os.readlink(f"/proc/self/fd/{fd}")
        return found

    before = count()
    return lambda: count() - before


def bytes_at(block, nbytes):
    return tensix.Tensor.from_storage(Storage.from_data_ptr(nbytes, block), 0, (nbytes,), (1,), "uint8")


def attached(address, nbytes):
    return bytes_at(SharedMemoryAllocator.attach(*SharedMemoryAllocator.locate(address), nbytes), nbytes)


@pytest.mark.parametrize("nbytes", [1, 63, 64, 65536, 65537, 5 * MIB + 3])
def test_writes_are_seen_on_either_side(shared, nbytes):
    block = shared.allocate(nbytes)
    address = block.get()
    assert address % 64 == 0
    ours, theirs = bytes_at(block, nbytes), attached(address, nbytes)
    assert theirs.data_ptr() != address and not ours.any() and not theirs.any()
    ours.fill_(3)
    assert (theirs == 3).all()
    theirs[-1] = 9
    assert ours[-1] == 9


def test_small_blocks_share_a_file_and_never_a_place(shared, descriptors):
    blocks = [shared.allocate(n) for n in range(1, 2000)]
    places = {SharedMemoryAllocator.locate(block.get()) for block in blocks}
    assert len(places) == len(blocks) and descriptors() == len({fd for fd, _ in places}) < 5
    place = SharedMemoryAllocator.locate(blocks[-1].get())
    blocks.pop().clear()
    assert SharedMemoryAllocator.locate(shared.allocate(1999).get()) != place


def test_everything_goes_with_the_last_block(descriptors):
    shared = SharedMemoryAllocator()
    in_use = CPUAllocator.bytes_in_use()
    blocks = [shared.allocate(n) for n in (10, 20, MIB, 2 * MIB)]
    assert descriptors() == 3 and CPUAllocator.bytes_in_use() - in_use == 30 + 3 * MIB
    look = attached(blocks[2].get() + 5, 100)
    del shared, blocks[1:]
    assert descriptors() == 2 and SharedMemoryAllocator.locate(blocks[0].get())[1] == 0
    assert SharedMemoryAllocator.locate(look.data_ptr())[1] == 5
    blocks.clear()
    del look
    assert descriptors() == 0 and CPUAllocator.bytes_in_use() == in_use


def test_it_is_found_behind_adaptors_and_views(shared):
    with tensix.use_allocator(StatisticsAdaptor(shared)):
        x = tensix.zeros(100, dtype=tensix.uint8)
    assert SharedMemoryAllocator.locate(x[10:].data_ptr())[1] == SharedMemoryAllocator.locate(x.data_ptr())[1] + 10
    assert SharedMemoryAllocator.locate(tensix.zeros(3).data_ptr()) is None
    assert SharedMemoryAllocator.locate(0) is None


def test_a_lazy_clone_copies_at_once(shared):
    x = Storage(100, shared)
    y = x.lazy_clone()
    assert not x.is_cow() and y.data_ptr() != x.data_ptr()


def test_nothing_is_null(shared):
    assert not shared.allocate(0)
    block = shared.allocate(1)
    assert not SharedMemoryAllocator.attach(*SharedMemoryAllocator.locate(block.get()), 0)


def test_what_cannot_be_attached_is_refused(shared, descriptors):
    block = shared.allocate(3 * MIB)
    fd, _ = SharedMemoryAllocator.locate(block.get())
    for offset, nbytes in ((0, 3 * MIB + 1), (1, 3 * MIB), (1 << 63, 1), (1, (1 << 64) - 1)):
        with pytest.raises(ValueError, match="the file has 3,145,728 bytes"):
            SharedMemoryAllocator.attach(fd, offset, nbytes)
    with pytest.raises(OSError, match="cannot attach file descriptor 12345") as caught:
        SharedMemoryAllocator.attach(12345, 0, 1)
    assert caught.value.errno == errno.EBADF
    with pytest.raises(TypeError, match="given as an int, found str"):
        SharedMemoryAllocator.attach("3", 0, 1)
    with pytest.raises(ValueError, match="0 or more"):
        SharedMemoryAllocator.attach(fd, -1, 1)
    assert descriptors() == 1


def test_descriptors_that_do_not_allow_it_are_no_lack_of_memory(tmp_path, descriptors):
    (tmp_path / "file").write_bytes(b"abcd")
    for access, readonly, hint in ((os.O_RDONLY, False, "with readonly=True"), (os.O_WRONLY, True, "for reading: ")):
        fd = os.open(tmp_path / "file", access)
        with pytest.raises(PermissionError, match=hint) as caught:
            SharedMemoryAllocator.attach(fd, 0, 4, readonly)
        assert caught.value.errno == errno.EACCES
        if access == os.O_RDONLY:
            assert bytes_at(SharedMemoryAllocator.attach(fd, 0, 4, readonly=True), 4).tolist() == list(b"abcd")
        os.close(fd)
    assert descriptors() == 0


def test_too_much_is_an_error_of_memory(shared, descriptors):
    for nbytes in (1 << 62, (1 << 64) - 1):
        with pytest.raises(MemoryError):
            shared.allocate(nbytes)
    with pytest.raises((MemoryError, OSError)):
        shared.allocate(1 << 61)
    assert descriptors() == 0


def test_the_size_of_the_file_is_sealed(shared):
    block = shared.allocate(MIB)
    with pytest.raises(PermissionError):
        os.ftruncate(SharedMemoryAllocator.locate(block.get())[0], 0)


def test_eight_threads(descriptors):
    shared = SharedMemoryAllocator()

    def work(seed):
        held = []
        for i in range(300):
            held.append(bytes_at(shared.allocate(1 + (seed * 7919 + i * 104729) % 90000), 1))
            held[-1].fill_(seed)
            if len(held) > 20:
                assert held.pop(i % 20)[0] == seed

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert descriptors() <= 1  # of the segment that is being filled


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_shares_old_blocks_and_gets_places_of_its_own():
    script = """
import os, tensix
from tensix.memory import SharedMemoryAllocator
shared = SharedMemoryAllocator()
with tensix.use_allocator(shared):
    before = tensix.zeros(4)
    child = os.fork()
    after = tensix.zeros(4)
    after.fill_(1 if child else 2)
    if child == 0:
        before.fill_(5)
        os._exit(0 if after.tolist() == [2] * 4 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert before.tolist() == [5] * 4 and after.tolist() == [1] * 4
"""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")


def test_another_process_attaches_what_a_socket_brings(shared):
    script = """
import socket, sys, tensix
from tensix.memory import SharedMemoryAllocator
message, (fd,), *_ = socket.recv_fds(socket.socket(fileno=int(sys.argv[1])), 100, 1)
offset, nbytes = map(int, message.split())
block = SharedMemoryAllocator.attach(fd, offset, nbytes)
x = tensix.Tensor.from_storage(tensix.Storage.from_data_ptr(nbytes, block), 0, (nbytes // 4,), (1,), "float32")
x.mul_(2)
"""
    with tensix.use_allocator(shared):
        tensix.zeros(3)
        x = tensix.ones(5)
    fd, offset = SharedMemoryAllocator.locate(x.data_ptr())
    ours, theirs = socket.socketpair()
    with ours, theirs:
        socket.send_fds(ours, [f"{offset} 20".encode()], [fd])
        command = [sys.executable, "-c", script, str(theirs.fileno())]
        finished = subprocess.run(
            command, capture_output=True, text=True, timeout=100, check=False, pass_fds=[theirs.fileno()]
        )
    assert (finished.returncode, finished.stderr) == (0, "")
    assert x.tolist() == [2] * 5


def test_a_foreign_block_is_not_simple(shared):
    assert not shared.is_simple_data_ptr(DataPtr(64, 64))


def test_what_is_shared_says_so():
    with tensix.use_allocator(SharedMemoryAllocator()):
        x = tensix.ones(3, 4)
    for shared in (x, x[1], x.T, x.detach()):
        assert shared.is_shared() and shared.storage().is_shared()
    for private in (tensix.ones(3), x.clone().to("float64"), tensix.empty(0), tensix.empty(3, device="meta"), x + 1):
        assert not private.is_shared() and not private.storage().is_shared()
    assert not tensix.Tensor().is_shared() and not tensix.ones(2).to_sparse().is_shared()


def test_who_has_no_shared_memory_need_not_load_it():
    code = (
        "import sys, tensix; x = tensix.ones(2); "
        "print(x.is_shared(), 'tensix.memory.shared_memory_allocator' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
