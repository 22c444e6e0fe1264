"""Tensors in shared memory, handed to other processes by `multiprocessing` and joblib without copying.

Importing this module, which the first `SharedMemoryAllocator` does, has `multiprocessing`, joblib and `loky` send a
tensor whose storage such an allocator made as a file descriptor and an offset. Other large tensors are copied into such
memory, once for all messages, and small ones are pickled with their bytes, as everywhere.

Note [Descriptors on their way]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A `SharedFile` represents a descriptor in a pickle, one per segment: pickle finds it again, so many small tensors of a
message need one descriptor. `multiprocessing` carries it: to a process that is being started by inheritance, to others
by a socket, for which it keeps a duplicate until the message is read. The receiver maps the file once per message;
then the descriptor that came is closed, for the mapping has its own.

Note [Pickles for workers]
~~~~~~~~~~~~~~~~~~~~~~~~~~
A reducer is registered with the picklers of messages, not with pickle: a descriptor means nothing in a file, and only
a message is read once. `multiprocessing` and `loky` have a registry. The pools of joblib's backend "multiprocessing"
have none, and what `joblib.wrap_non_picklable_objects` returns is pickled by `cloudpickle.dumps`, whose registry other
programs use too. Both would copy silently, so a name in two modules of joblib is replaced: the pickler by a subclass
that registers tensors, and `dumps` by that of `loky`. joblib may be imported after the first tensor is shared:
importing it here would cost 0.1 s of a program without it.

Note [Copies for messages]
~~~~~~~~~~~~~~~~~~~~~~~~~~
A pickle of a large tensor is copied into the message, through a pipe and out of it, for each worker. Instead its
elements are copied into shared memory, which each receiver maps privately: what one writes to the tensor the others do
not see, as if it had been pickled, and pages that no one writes are in memory once. The copy is kept as long as the
tensor lives, and sent again while the bytes at its place are the same, which are compared each time.
"""

import os
import pickle
import sys
import weakref
from multiprocessing import reduction

from tensix._support.after_import import AfterImport
from tensix._tensor import Tensor
from tensix.core import Storage, use_allocator
from tensix.files.file_map import FileMap
from tensix.functions.creation import empty_like
from tensix.functions.familiar import array_equal
from tensix.memory import SharedMemoryAllocator
from tensix.tensors.dtype import uint8
from tensix.tensors.layout import strided

__all__ = ["share"]

LARGE = 1 << 20  # bytes of a tensor that is not pickled, as of arrays that joblib maps
ALLOCATOR = SharedMemoryAllocator()
COPIES: dict[tuple[int, int], Tensor] = {}  # address and size of bytes -> their copy for messages
FILES: weakref.WeakValueDictionary[int, "SharedFile"] = weakref.WeakValueDictionary()  # descriptor -> its SharedFile


def share(x: Tensor) -> Tensor:
    """Return a tensor with the same elements in shared memory: itself if it is there, else a copy.

    Parameters
    ----------
    x : Tensor
        On the CPU.

    Returns
    -------
    Tensor
        Sent to another process by `multiprocessing`, joblib or `loky`, it is the same memory there: each sees the
        other's writes.

    Notes
    -----
    Lifetime: the memory lives as long as any process has a tensor on it, and goes with the last of them, also if that
    is killed. A message that no process reads keeps its memory, and a descriptor, until the sender ends.

    Thread-safety: processes must agree who writes when, as threads must.

    Examples
    --------
    >>> import tensix
    >>> from tensix.files.shared_memory import share
    >>> x = share(tensix.ones(3))
    >>> share(x) is x
    True
    """
    return copy_of(x) if place_of(x) is None else x  # sent itself, whatever its strides


def copy_of(x: Tensor) -> Tensor:
    """Return a copy in shared memory."""
    with use_allocator(ALLOCATOR):
        return empty_like(x).copy_(x)


def place_of(x: Tensor) -> tuple[int, int] | None:
    """Return the descriptor and the offset of shared memory that a tensor writes to, None if it has none."""
    place = SharedMemoryAllocator.locate(x.data_ptr())
    return None if place is not None and x.storage().is_cow() else place


class SharedFile:
    """Represent a file of shared memory in a pickle. See Note [Descriptors on their way].

    Parameters
    ----------
    fd : int
        Its descriptor.
    storage : Storage, optional
        Whose memory it is, on the sender's side: it keeps the descriptor valid.
    """

    def __init__(self, fd: int, storage: Storage | None = None) -> None:
        self.fd, self.storage = fd, storage
        self.mapped: dict[tuple[int, str], Storage] = {}

    def __reduce__(self):
        return receive_file, (reduction.DupFd(self.fd),)

    def map(self, start: int, mode: str) -> Storage:
        """Return a storage over the file from a byte on, with a mode of `FileMap`."""
        found = self.mapped.get((start, mode))
        if found is None:
            nbytes = os.fstat(self.fd).st_size - start
            if mode == "c":
                found = FileMap(self.fd, start + nbytes, mode).storage(start, nbytes)
            else:
                block = SharedMemoryAllocator.attach(self.fd, start, nbytes, mode == "r")
                found = Storage.from_data_ptr(nbytes, block)
                found.readonly = mode == "r"
            self.mapped[start, mode] = found
        return found

    def __del__(self):
        if self.storage is None:  # received: the mapping has a descriptor of its own
            os.close(self.fd)


def receive_file(duplicate):
    """Return what represents a file in the process that reads the message."""
    return SharedFile(duplicate.detach())


def file_of(fd: int, storage: Storage) -> SharedFile:
    """Return what represents a descriptor, the same one as long as a pickle holds it."""
    found = FILES.get(fd)
    if found is None:
        FILES[fd] = found = SharedFile(fd, storage)
    return found


def receive_tensor(file: SharedFile, mode: str, start: int, storage_offset: int, *geometry) -> Tensor:
    """Return a tensor over shared memory; the offset is counted in elements from a byte of the file."""
    return Tensor.from_storage(file.map(start, mode), storage_offset, *geometry)


def copy_for_messages(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return a tensor without gaps, and a copy of its bytes in shared memory. See Note [Copies for messages]."""
    if sum((size - 1) * stride for size, stride in zip(x.shape, x.stride(), strict=True)) + 1 != x.numel():
        x = x.contiguous()
    data = Tensor.from_storage(x.storage(), x.storage_offset() * x.itemsize, (x.nbytes,), (1,), uint8)
    place = x.data_ptr(), x.nbytes
    copy = COPIES.get(place)
    if copy is None or not array_equal(copy, data):
        copy = COPIES[place] = copy_of(data)
        weakref.finalize(x, COPIES.pop, place, None).atexit = False
    return x, copy


def reduce_tensor(x: Tensor):
    """Return how a tensor is made again in another process."""
    has_memory = x.layout is strided and x.numel() > 0 and x.device.type == "cpu"  # undefined: no elements, no device
    mode = "r" if x.readonly else "r+"
    sent = x
    place = place_of(x) if has_memory else None
    if place is None:
        if not has_memory or x.nbytes < LARGE:
            return x.__reduce_ex__(pickle.DEFAULT_PROTOCOL)
        x, sent = copy_for_messages(x)
        place, mode = SharedMemoryAllocator.locate(sent.data_ptr()), "r" if mode == "r" else "c"
    fd, offset = place
    # A complex number may lie at any multiple of half its size, so elements are counted from the first that fits.
    storage_offset, start = divmod(offset, x.itemsize)
    file = file_of(fd, sent.storage())
    return receive_tensor, (file, mode, start, storage_offset, x.shape, x.stride(), x.dtype)


def register_in(package: str) -> None:
    """Have an imported package reduce tensors by `reduce_tensor` in messages. See Note [Pickles for workers]."""
    if package == "multiprocessing":
        reduction.register(Tensor, reduce_tensor)
        return
    loky = "joblib.externals.loky" if package == "joblib" else package
    pickling, wrapping, pool = map(
        sys.modules.get, (f"{loky}.backend.reduction", f"{loky}.cloudpickle_wrapper", f"{package}.pool")
    )
    if pickling is not None:
        pickling.register(Tensor, reduce_tensor)
        if wrapping is not None:
            wrapping.dumps = lambda wrapped: bytes(pickling.dumps(wrapped))
    if pool is not None:

        class TensorPickler(pool.CustomizablePickler):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                self.register(Tensor, reduce_tensor)

        pool.CustomizablePickler = TensorPickler


register_in("multiprocessing")
for package in ("joblib", "loky"):
    if package in sys.modules:
        register_in(package)
    else:
        AfterImport(register_in, package)
