"""A last chance before an allocation fails."""
from tensix.core.allocator cimport Allocator_allocate
from tensix.core.data_ptr cimport data_ptr_t
from tensix.memory.adaptor cimport Adaptor

__all__ = ["FailureCallbackAdaptor"]


cdef class FailureCallbackAdaptor(Adaptor):
    """Call a function when upstream has no memory, and ask upstream once more if it says so.

    Parameters
    ----------
    upstream : Allocator or None
        Who makes the blocks; None means the allocator that serves the CPU now.
    callback : callable
        Called as ``callback(nbytes)`` for every `MemoryError` of upstream. What it returns says whether to try again:
        as often as it returns true. What it raises is raised.

    Attributes
    ----------
    callback : callable
        As given.

    Raises
    ------
    TypeError
        If the callback cannot be called.

    Notes
    -----
    Lifetime: the adaptor keeps the callback alive; its blocks are upstream's own and keep neither.

    Thread-safety: the callback may run on several threads at once.

    Examples
    --------
    >>> import tensix
    >>> from tensix.memory import FailureCallbackAdaptor, LimitingAdaptor
    >>> limited = LimitingAdaptor(None, "1KiB")
    >>> kept = [limited.allocate(1000)]
    >>> def drop_one(nbytes):
    ...     print("no room for", nbytes)
    ...     return bool(kept and kept.pop())
    >>> FailureCallbackAdaptor(limited, drop_one).allocate(500).get() != 0
    no room for 500
    True
    """

    cdef readonly object callback

    def __init__(self, upstream, callback):
        super().__init__(upstream)
        if not callable(callback):
            raise TypeError(f"{type(self).__name__}() needs a callable, found {type(callback).__name__}.")
        self.callback = callback

    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1:
        while True:
            try:
                return Allocator_allocate(self.upstream, nbytes, out)
            except MemoryError:
                if self.callback is None or not self.callback(nbytes):
                    raise
