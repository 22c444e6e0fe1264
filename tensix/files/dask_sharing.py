"""Tensors that workers of Dask on one machine hand each other as memory, not as bytes.

Note [Handles of shared memory]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Dask talks by TCP, which carries no descriptor. So a worker sends where its descriptor is found: the process, the
descriptor, and the number of its file. The receiver opens ``/proc/<process>/fd/<descriptor>``, checks that it is this
file, and maps it; from then on it needs the sender no more. What is sent this way has a file of its own, so if it is
freed, the file is gone, and never another tensor is found in its place.

Only a process that is known to find the sender's is sent a handle: when a worker connects to another to get a tensor,
it says which boot of which machine, which process numbers and which user it has, and others get bytes.

Until the receiver has mapped it, the sender must live and keep the memory. Of results, Dask does so until the receiver
answers that it has read the message. All else, such as copies and what actors return, is kept for `LEASE` seconds:
results that were kept so long took twice the memory of a worker that made one after another. If the memory is gone, the
receiver cannot open it. To Dask, that is a connection that broke: it asks another worker, or computes it again.

A receiver keeps its descriptor, to send the same file to others; Dask asks any worker that has the tensor.

Dask's tasks do not write their arguments; if one does, the tensor is copied before its first write, as a lazy clone is.
But the sender would show what it writes to those who map its memory. So memory of a `SharedMemoryAllocator` is sent
itself, and tasks must not write to results in place; of other tensors a copy is sent.
"""

import fcntl
import os

from distributed import WorkerPlugin
from distributed.protocol import dask_deserialize, dask_serialize

from tensix._tensor import Tensor
from tensix.files.shared_memory import COPIES, LARGE, SharedFile, copy_for_messages, receive_tensor
from tensix.memory import SharedMemoryAllocator
from tensix.tensors.dtype import dtype_from_any
from tensix.tensors.layout import strided

__all__ = ["ShareTensors"]

LEASE = 30.0  # seconds
MOST_BY_COPY = 0.8  # the share of a worker's memory limit up to which copies are made
MOST_DESCRIPTORS = 512  # from which number on descriptors are not kept
KEY = "tensix-processes"  # of what a worker tells those to which it connects


def place_of_processes():
    """Return what processes have in common that find each other's descriptors."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = file.read().strip()
    return f"{boot} {os.readlink('/proc/self/ns/pid')} {os.getuid()}"


class ShareTensors(WorkerPlugin):
    """Have the workers of one machine map large tensors of each other, instead of receiving their bytes.

    Notes
    -----
    Register it with a client before there is work: connections that are there already send bytes. Linux only; workers
    of other machines, containers and users, and clients, get bytes. Tensors that a worker makes by a
    `SharedMemoryAllocator` are not copied at all; of others a copy in shared memory is made, once for all receivers. If
    that would take the worker beyond four fifths of its memory limit, they get bytes.

    Who keeps what alive: the sender keeps the memory until the receiver has mapped it, and copies for 30 seconds; then
    the receivers do. If the sender dies before, Dask asks another worker or computes the tensor again. If a receiver
    dies, its mapping goes with it. Nothing has a name in the file system.

    Examples
    --------
    ::

        from tensix.files.dask_sharing import ShareTensors
        client.register_plugin(ShareTensors())
    """

    name = "tensix-share-tensors"

    def setup(self, worker):
        """Begin."""
        place = place_of_processes()

        def serialize(x, context=None):
            if ((context or {}).get("recipient") or {}).get(KEY) != place:
                raise NotImplementedError("it gets bytes")  # so Dask tries the next way
            return handle_of(x, worker), []

        worker.rpc.connection_args.setdefault("handshake_overrides", {})[KEY] = place
        dask_serialize.register(Tensor, serialize)
        dask_deserialize.register(Tensor, tensor_of)

    def teardown(self, worker):
        """End: connections of this worker from now on bring bytes."""
        worker.rpc.connection_args["handshake_overrides"].pop(KEY, None)


def handle_of(x, worker):
    """Return a handle of a tensor. See Note [Handles of shared memory].

    Raises
    ------
    NotImplementedError
        If it is small, or not on the CPU, or there is no memory for a copy.
    """
    if x.layout is not strided or x.device.type != "cpu" or x.nbytes < LARGE:
        raise NotImplementedError("it gets bytes")
    place, kept = SharedMemoryAllocator.locate(x.data_ptr()), x
    if place is None or not is_of_one_block(place[0], x.storage().allocator):
        limit = worker.memory_manager.memory_limit
        is_there = (x.data_ptr(), x.nbytes) in COPIES
        if limit and not is_there and worker.monitor.get_process_memory() + x.nbytes > MOST_BY_COPY * limit:
            raise NotImplementedError("it gets bytes")
        x, kept = copy_for_messages(x)
        place = SharedMemoryAllocator.locate(kept.data_ptr())
        worker.loop.add_callback(worker.loop.call_later, LEASE, COPIES.pop, (x.data_ptr(), x.nbytes), None)
    results = getattr(worker.data, "fast", worker.data)  # those in memory
    if kept is not x or all(result is not x for result in [*results.values()]):
        worker.loop.add_callback(worker.loop.call_later, LEASE, kept.numel)  # a call that keeps it
    fd, offset = place
    storage_offset, start = divmod(offset, x.itemsize)
    return {
        "process": os.getpid(), "descriptor": fd, "file": os.fstat(fd).st_ino, "start": start,
        "geometry": (storage_offset, tuple(x.shape), tuple(x.stride())), "dtype": x.dtype.name, "readonly": x.readonly,
    }  # fmt: skip


def is_of_one_block(fd, allocator):
    """Return whether a file has one block, which no cache uses again: the allocator's, or one that was received."""
    is_received = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    return os.fstat(fd).st_size > LARGE and (is_received or type(allocator) is SharedMemoryAllocator)


def tensor_of(header, frames):
    """Return the tensor of a handle.

    Raises
    ------
    OSError
        If it is gone.
    """
    pid = header["process"]
    file = SharedFile(os.open(f"/proc/{pid}/fd/{header['descriptor']}", os.O_RDONLY))
    if os.fstat(file.fd).st_ino != header["file"]:
        raise OSError(f"the tensor that process {pid} sent is gone: its memory was kept for {LEASE:.0f} seconds.")
    mode = "r" if file.fd < MOST_DESCRIPTORS else "c"  # which keeps no descriptor
    x = receive_tensor(file, mode, header["start"], *header["geometry"], dtype_from_any(header["dtype"]))
    if mode == "r" and not header["readonly"]:
        x = x.lazy_clone()
    x.storage().readonly = header["readonly"]
    return x
