"""Tensors that Dask's workers of one machine hand each other as memory."""

import multiprocessing
import os
import signal
import sys
import time

import numpy as np
import pytest

import tensix
from tensix.memory import SharedMemoryAllocator

distributed = pytest.importorskip("distributed")
if sys.platform != "linux":
    pytest.skip("/proc has the descriptors", allow_module_level=True)

from tensix.files import dask_sharing, shared_memory  # noqa: E402
from tensix.files.dask_sharing import ShareTensors, handle_of, tensor_of  # noqa: E402

OPTIONS = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}


class Worker:
    """Take what is to be done later, and do it when it is asked to."""

    def __init__(self, *results, held=0, memory_limit=None):
        self.later, self.data = [], dict(enumerate(results))
        self.loop = self.monitor = self.memory_manager = self
        self.held, self.memory_limit = held, memory_limit

    def get_process_memory(self):
        return self.held

    def add_callback(self, function, *args):
        function(*args)

    def call_later(self, delay, function, *args):
        assert delay == dask_sharing.LEASE
        self.later.append((function, args))

    def pass_time(self):
        for function, args in self.later:
            function(*args)
        self.later.clear()


def make(allocator=None):
    with tensix.use_allocator(allocator or tensix.core.get_allocator()):
        return tensix.arange(500_000, dtype=tensix.float64).reshape(500, 1000)


def make_shared():
    return make(SharedMemoryAllocator())


def make_large():
    with tensix.use_allocator(SharedMemoryAllocator()):
        return tensix.ones(5000, 5000)


def is_shared_memory(x):
    """Whether a tensor lies in a mapping of shared memory."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        for line in file:
            begin, end = (int(part, 16) for part in line.split()[0].split("-"))
            if begin <= x.data_ptr() < end:
                return "memfd:" in line or "/dev/shm" in line
    return False


def look_and_write(x):
    """Return whether it is mapped, and what is there, and write it."""
    found = is_shared_memory(x), x.sum().item(), x.stride(), x.readonly
    if not x.readonly:
        x[0, 0] = 99
    return found


@pytest.fixture
def client():
    with distributed.LocalCluster(**OPTIONS) as made, distributed.Client(made) as client:
        client.register_plugin(ShareTensors())
        yield client


@pytest.mark.parametrize("function", [make, make_shared])
def test_another_worker_maps_the_tensor(client, function):
    first, second = client.scheduler_info(n_workers=-1)["workers"]
    x = client.submit(function, workers=[first])
    total = make().sum().item()
    assert client.submit(look_and_write, x, workers=[second]).result() == (True, total, (1000, 1), False)
    assert client.submit(lambda x: x[0, 0].item(), x, workers=[first]).result() == 0  # what it wrote is its own
    turned = client.submit(lambda x: x.T, x, workers=[first])
    assert client.submit(look_and_write, turned, workers=[second]).result()[1:] == (total, (1, 1000), False)
    found = x.result()  # by the client, which gets bytes
    assert not is_shared_memory(found) and found[1:].tolist() == make()[1:].tolist()


def test_a_receiver_needs_the_sender_no_more(client):
    """It computes on what it mapped when the sender was killed; and what nobody has is computed again."""
    first, second = client.scheduler_info(n_workers=-1)["workers"]
    x = client.submit(make_shared, workers=[first], allow_other_workers=True)
    there = client.submit(lambda x: x, x, workers=[second])
    distributed.wait(there)
    os.kill(client.run(os.getpid)[first], signal.SIGKILL)
    time.sleep(0.5)
    total = make().sum().item()
    assert client.submit(lambda x: x.sum().item(), there).result() == total
    assert client.submit(lambda x: (x + 1).sum().item(), x).result() == total + 500_000


def test_a_handle_that_is_refused_is_a_connection_that_broke(client):
    """Dask asks once more."""
    first, second = client.scheduler_info(n_workers=-1)["workers"]

    def mistake_once(dask_worker):
        from tensix.files import dask_sharing  # noqa: PLC0415 - that of the worker

        honest = dask_sharing.handle_of

        def handle_of(x, worker):
            dask_sharing.handle_of = honest
            header = honest(x, worker)
            return header | {"file": header["file"] + 1}

        dask_sharing.handle_of = handle_of
        return dask_sharing.__name__

    client.run(mistake_once, workers=[first])
    x = client.submit(make_shared, workers=[first])
    assert client.submit(look_and_write, x, workers=[second]).result(timeout=60)[0]


def test_handles_are_checked():
    worker = Worker()
    x = make_shared()
    header = handle_of(x, worker)
    assert tensor_of(header, []).tolist() == x.tolist()
    with pytest.raises(OSError, match="gone"):
        tensor_of(header | {"file": header["file"] + 1}, [])
    for key, value in (("descriptor", 9999), ("process", 2**22 + 1)):
        with pytest.raises(OSError):
            tensor_of(header | {key: value}, [])
    received = tensor_of(header, [])
    descriptors = os.listdir("/proc/self/fd")
    del x
    assert tensor_of(header, [])[3, 4].item() == 3004  # it is kept
    assert len(os.listdir("/proc/self/fd")) == len(descriptors)
    worker.pass_time()
    with pytest.raises(OSError):
        tensor_of(header, [])
    assert received.sum().item() == make().sum().item()


def test_results_are_kept_by_dask():
    """No longer than it needs them; copies and what is no result for a while."""
    x = make_shared()
    worker = Worker(tensix.ones(3), x)
    handle_of(x, worker)
    assert not worker.later
    handle_of(x.T, worker)
    assert len(worker.later) == 1
    worker = Worker(y := make())
    handle_of(y, worker)
    assert len(worker.later) == 2 and worker.later[0][0] == shared_memory.COPIES.pop
    worker.pass_time()


def test_what_was_received_is_sent_on_as_the_same_file():
    """Also a view of it; what was written to it is sent by a copy."""
    worker = Worker()
    header = handle_of(make_shared(), worker)
    received = tensor_of(header, [])
    for x in (received, received.T, received[3:, 7:]):
        onward = handle_of(x, worker)
        assert onward["file"] == header["file"] and onward["descriptor"] != header["descriptor"]
        assert tensor_of(onward, []).tolist() == x.tolist()
    worker.pass_time()
    count = len(os.listdir("/proc/self/fd"))
    received[499, 999] = 7
    onward = handle_of(received, worker)
    assert onward["file"] != header["file"] and tensor_of(onward, [])[499, 999].item() == 7
    worker.pass_time()
    del received, x
    assert len(os.listdir("/proc/self/fd")) == count - 1


def test_a_block_that_a_cache_may_use_again_is_copied():
    """Also through an array, whose tensor has no allocator."""
    x = make(tensix.memory.CachingAllocator(SharedMemoryAllocator()))
    worker = Worker()
    for sent in (x, tensix.from_numpy(np.asarray(x))):
        found = tensor_of(handle_of(sent, worker), [])
        x.fill_(-1.0)
        assert found[0, 1].item() == 1
        x.copy_(make())


def read_and_write(tensors, results):
    x = tensors.get()
    before = x.sum().item()
    x[0, 0] = 5
    results.put((before, x[0, 0].item()))


def test_what_was_received_is_sent_to_other_processes():
    """By its elements: what is written there is not written to the sender's file."""
    source, worker = make_shared(), Worker()
    x = tensor_of(handle_of(source, worker), [])
    assert shared_memory.share(x) is not x
    context = multiprocessing.get_context("spawn")
    tensors, results = context.Queue(), context.Queue()
    process = context.Process(target=read_and_write, args=(tensors, results))
    process.start()
    tensors.put(x)
    assert results.get(timeout=60) == (source.sum().item(), 5)
    process.join()
    assert x[0, 0].item() == source[0, 0].item() == 0


@pytest.mark.parametrize("most", [0, 512])
@pytest.mark.parametrize("readonly", [False, True])
def test_few_descriptors_are_kept(monkeypatch, most, readonly):
    monkeypatch.setattr(dask_sharing, "MOST_DESCRIPTORS", most)
    x, worker = make_shared(), Worker()
    x.storage().readonly = readonly
    header = handle_of(x, worker)
    count = len(os.listdir("/proc/self/fd"))
    found = tensor_of(header, [])
    assert found.readonly == readonly and len(os.listdir("/proc/self/fd")) == count + (most > 0)
    if not readonly:
        found[0, 0] = 5
        assert x[0, 0].item() == 0 and found.sum().item() == x.sum().item() + 5


def test_no_copy_where_memory_is_short():
    x = make()
    with pytest.raises(NotImplementedError):
        handle_of(x, Worker(held=5_000_000, memory_limit=10_000_000))
    worker = Worker(held=3_900_000, memory_limit=10_000_000)
    handle_of(x, worker)
    worker.held = 9_000_000
    handle_of(x, worker)  # by the copy that is there
    worker.pass_time()


def test_a_worker_makes_and_sends_more_than_its_memory():
    """One tensor after another; a worker that kept them for a while was killed."""
    options = OPTIONS | {"n_workers": 3, "memory_limit": "600MB"}
    with distributed.LocalCluster(**options) as made, distributed.Client(made) as client:
        client.register_plugin(ShareTensors())
        first, second, third = client.scheduler_info(n_workers=-1)["workers"]
        for _ in range(8):
            x = client.submit(make_large, workers=[first], pure=False)
            assert client.submit(look_and_write, x, workers=[second]).result(60)[:2] == (True, 25_000_000)
            del x
        x = client.submit(make_large, workers=[first])  # handed on by the one that got it
        ways = [client.submit(look_and_write, x, workers=[one]).result(60)[0] for one in (first, second, third)]
        assert ways == [True, True, True]
        assert {first, second, third} == {*client.scheduler_info(n_workers=-1)["workers"]}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1", "c16", "bool"])
def test_element_types_and_what_is_read_only(dtype):
    worker = Worker()
    x = tensix.from_numpy(np.arange(4_000_000).astype(dtype).reshape(2000, 2000))
    for part in (x, x.T, x[::2], x[3:1800, 7:]):
        found = tensor_of(handle_of(part, worker), [])
        assert is_shared_memory(found) and found.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(found), np.asarray(part))
    frozen = tensix.asarray(bytes(range(250)) * 10_000)
    found = tensor_of(handle_of(frozen, worker), [])
    assert found.readonly and found[249].item() == 249
    assert shared_memory.COPIES
    worker.pass_time()
    assert not shared_memory.COPIES


@pytest.mark.parametrize("x", [tensix.ones(10), tensix.empty(0), tensix.empty(5_000_000, device="meta")], ids=str)
def test_what_is_sent_as_bytes(x):
    with pytest.raises(NotImplementedError):
        handle_of(x, Worker())
