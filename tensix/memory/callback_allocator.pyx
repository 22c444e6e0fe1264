"""An allocator made of two Python callables."""
from libc.stdint cimport uintptr_t
from tensix.core.data_ptr cimport address_from_any
from tensix.memory.foreign_allocator cimport ForeignAllocator

__all__ = ["CallbackAllocator"]


cdef class CallbackAllocator(ForeignAllocator):
    """Give out memory that two Python callables make and free.

    Parameters
    ----------
    allocate : callable
        Called as ``allocate(nbytes)``, never with 0; returns the address of so many bytes as an int, or 0 or None if
        there is no memory. What it raises is raised.
    deallocate : callable
        Called as ``deallocate(address)`` once for every block. What it raises goes to `sys.unraisablehook`.
    alignment : int, bytes, a power of two from 1 to 2**30, optional
        What addresses are multiples of; others are refused and freed.

    Raises
    ------
    TypeError
        If a callable cannot be called or, from `allocate`, if it returns no int.
    RuntimeError
        From `allocate`, for a misaligned address.

    Notes
    -----
    Lifetime: every block keeps the allocator alive, and it the callables. Blocks that are freed after finalisation has
    begun are left to the system.

    Thread-safety: the callables run with the GIL, ``deallocate`` on whatever thread frees.

    Examples
    --------
    >>> import ctypes, tensix
    >>> from tensix.memory import CallbackAllocator
    >>> buffers = {}
    >>> def allocate(nbytes):
    ...     buffer = ctypes.create_string_buffer(nbytes + 16)
    ...     address = (ctypes.addressof(buffer) + 15) // 16 * 16
    ...     buffers[address] = buffer
    ...     return address
    >>> with tensix.use_allocator(CallbackAllocator(allocate, buffers.pop)):
    ...     x = tensix.zeros(3)
    >>> x.data_ptr() in buffers
    True
    >>> del x
    >>> buffers
    {}
    """

    cdef object allocate_callback
    cdef object deallocate_callback

    def __init__(self, allocate, deallocate, *, alignment=16):
        for callback in (allocate, deallocate):
            if not callable(callback):
                raise TypeError(f"CallbackAllocator() needs two callables, found {type(callback).__name__}.")
        self.set_alignment(alignment)
        self.allocate_callback, self.deallocate_callback = allocate, deallocate

    def __repr__(self):
        return f"{type(self).__name__}({self.allocate_callback!r}, {self.deallocate_callback!r})"

    cdef void* take(self, size_t nbytes) except? NULL:
        if self.allocate_callback is None:
            raise RuntimeError("the CallbackAllocator is null: it was made without __init__.")
        address = self.allocate_callback(nbytes)
        return NULL if address is None else <void*>address_from_any(address, "what allocate() returned")

    cdef int give_back(self, void* data) except -1:
        self.deallocate_callback(<uintptr_t>data)
        return 0
