"""An allocator that runs out of memory when a test wants it to."""

from threading import RLock

from tensix._support.argument_errors import names_signature
from tensix.core import Allocator, DataPtr, OutOfMemoryError
from tensix.memory import Adaptor

__all__ = ["FailingAllocator"]


class FailingAllocator(Adaptor):
    """Allocate upstream, but fail once, at the n-th allocation.

    Parameters
    ----------
    upstream : Allocator or None, optional
        The allocator that makes the blocks; None means the allocator that serves the CPU now.
    fail_at : int, 1 or more, or None, optional
        Which allocation fails, counted from 1; None, or one that has passed, means that none does.

    Attributes
    ----------
    upstream : Allocator
        The allocator that makes the blocks.
    fail_at : int or None
        May be set at any time.
    calls : int
        How many allocations were asked for, those of copies included; may be set.

    Notes
    -----
    Lifetime: blocks are upstream's and do not need this allocator.

    Thread-safety: any number of threads may allocate; which one's allocation is the n-th is chance.

    Examples
    --------
    >>> from tensix.testing import FailingAllocator
    >>> with tensix.use_allocator(FailingAllocator(fail_at=2)) as failing:
    ...     x = tensix.ones(3)
    ...     try:
    ...         x + x
    ...     except tensix.OutOfMemoryError as error:
    ...         print("no memory for", error.nbytes, "bytes")
    no memory for 12 bytes
    >>> failing.calls
    2
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self, upstream: Allocator | None = None, fail_at: int | None = None):
        if fail_at is not None and fail_at < 1:
            raise ValueError(f"fail_at counts allocations from 1, found {fail_at}.")
        super().__init__(upstream)
        self.fail_at = fail_at
        self.calls = 0
        self._lock = RLock()  # a deleter that runs meanwhile on this thread may allocate

    def fail_next(self) -> None:
        """Make the next allocation fail."""
        self.fail_at = self.calls + 1

    def allocate(self, nbytes: int) -> DataPtr:
        """Return upstream's block.

        Raises
        ------
        OutOfMemoryError
            If it is this one's turn to fail, or upstream has no memory.
        """
        with self._lock:
            self.calls += 1
            fails = self.calls == self.fail_at
        if fails:
            raise OutOfMemoryError(nbytes, 1, 0)
        return self.upstream.allocate(nbytes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.upstream!r}, fail_at={self.fail_at})"
