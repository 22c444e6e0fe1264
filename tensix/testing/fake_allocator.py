"""An allocator of invented addresses, to test bookkeeping without memory."""

from threading import RLock

from tensix._support.argument_errors import names_signature
from tensix.core import Allocator, DataPtr, OutOfMemoryError

__all__ = ["FakeAllocator"]

# In between no processor has memory for programs, also where the highest byte of an address is ignored.
FIRST_ADDRESS = 0x014E_0000_0000_0000
LAST_ADDRESS = 0x7F00_0000_0000_0000


class FakeAllocator(Allocator):
    """Give out addresses with no memory behind them, and record them.

    Parameters
    ----------
    alignment : int, a power of two, optional
        Every address is a multiple of it.
    capacity : int, bytes, optional
        How much may be given out at a time; None means that there is no bound.

    Attributes
    ----------
    alignment : int
        Of the addresses.
    capacity : int or None
        May be set at any time.
    allocated, freed : list of tuple
        Address and bytes of every block that was given out and that came back, in order. A request for 0 bytes gets a
        null pointer and is not a block.
    blocks : dict
        Bytes of the blocks that are out, by their addresses.
    copied : list of tuple
        Target, source and bytes of every copy that was asked for, and not made.

    Notes
    -----
    Reading or writing an element crashes: make storages, views and lazy clones with it, and compute no values. No
    address is given out twice; they last for 2**62 bytes.

    Lifetime: every block keeps the allocator alive.

    Thread-safety: any number of threads may allocate and free at once.

    Examples
    --------
    >>> from tensix import Storage
    >>> from tensix.testing import FakeAllocator
    >>> fake = FakeAllocator()
    >>> storage = Storage(1 << 50, fake)
    >>> fake.blocks == {storage.data_ptr(): 1 << 50}
    True
    >>> storage.reset()
    >>> fake.freed == fake.allocated
    True
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self, alignment: int = 64, capacity: int | None = None):
        if alignment < 1 or alignment & (alignment - 1):
            raise ValueError(f"alignment must be a power of two, found {alignment}.")
        self.alignment, self.capacity = alignment, capacity
        self.allocated: list[tuple[int, int]] = []
        self.freed: list[tuple[int, int]] = []
        self.blocks: dict[int, int] = {}
        self.copied: list[tuple[int, int, int]] = []
        self._next = FIRST_ADDRESS
        self._lock = RLock()  # a deleter that runs meanwhile on this thread may allocate

    def allocate(self, nbytes: int) -> DataPtr:
        """Return a `DataPtr` to nothing, null for 0 bytes.

        Raises
        ------
        OutOfMemoryError
            If the capacity or the addresses do not suffice.
        """
        if nbytes == 0:
            return DataPtr()
        with self._lock:
            address = -(-self._next // self.alignment) * self.alignment
            in_use = sum(list(self.blocks.values()))  # a list: blocks come back without the lock
            if self.capacity is not None and in_use + nbytes > self.capacity:
                raise OutOfMemoryError(nbytes, self.alignment, in_use, self.capacity)
            if address + nbytes > LAST_ADDRESS:
                raise OutOfMemoryError(nbytes, self.alignment, in_use)
            self._next = address + nbytes + 1  # no two blocks touch
            self.blocks[address] = nbytes
            self.allocated.append((address, nbytes))
        return DataPtr.from_callable(address, self._take_back)

    def _take_back(self, address: int) -> None:
        self.freed.append((address, self.blocks.pop(address)))

    def is_simple_data_ptr(self, data_ptr: DataPtr) -> bool:
        """Return whether this allocator made the block: then nothing but the block is behind it."""
        return data_ptr.get() in self.blocks

    def copy_data(self, dst: int, src: int, nbytes: int) -> None:
        """Write down what should be copied; parameters as for `Allocator.copy_data`."""
        self.copied.append((dst, src, nbytes))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(alignment={self.alignment}, capacity={self.capacity})"
