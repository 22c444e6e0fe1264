"""An allocator made of two C functions."""
from tensix.core.data_ptr cimport c_function_from_any, deleter_t
from tensix.memory.foreign_allocator cimport ForeignAllocator

__all__ = ["FunctionAllocator"]

ctypedef void* (*malloc_t)(size_t nbytes) noexcept


cdef class FunctionAllocator(ForeignAllocator):
    """Give out memory that two C functions make and free.

    Parameters
    ----------
    malloc : ctypes function, PyCapsule named ``"tensix.malloc"``, or int
        A C function ``void *(*)(size_t)``, never called with 0; NULL means that there is no memory.
    free : ctypes function, PyCapsule named ``"tensix.deleter"``, or int
        A C function ``void (*)(void *)``, called once for every block from any thread, with or without the GIL.
    alignment : int, bytes, a power of two from 1 to 2**30, optional
        What addresses are multiples of; others are refused and freed.

    Raises
    ------
    TypeError
        If one of the two is no C function in any of these forms.
    ValueError
        If one of the two is null, or the alignment out of range.
    RuntimeError
        From `allocate`, for a misaligned address.

    Notes
    -----
    Lifetime: every block keeps the allocator alive, and it the function objects. Functions given as bare addresses have
    to stay loaded.

    Thread-safety: ``malloc`` is called with the GIL.

    Examples
    --------
    >>> import ctypes, tensix
    >>> from tensix.memory import FunctionAllocator
    >>> libc = ctypes.CDLL(None)
    >>> with tensix.use_allocator(FunctionAllocator(libc.malloc, libc.free)):
    ...     x = tensix.ones(3)
    >>> x
    tensor([1., 1., 1.])
    """

    cdef malloc_t malloc_function
    cdef tuple functions  # kept alive

    def __init__(self, malloc, free, *, alignment=16):
        hint = " For Python callables use CallbackAllocator()."
        cdef void* malloc_function = c_function_from_any(malloc, "malloc", hint)
        cdef void* free_function = c_function_from_any(free, "deleter", hint)
        if malloc_function == NULL or free_function == NULL:
            raise ValueError("FunctionAllocator() needs two C functions, found a null address.")
        if self.functions is not None:
            raise RuntimeError("a FunctionAllocator is filled once: make a new one instead of calling __init__ again.")
        self.set_alignment(alignment)
        self.functions = (malloc, free)
        self.malloc_function, self.free_function = <malloc_t>malloc_function, <deleter_t>free_function
        self.needs_python = not isinstance(free, int)  # a ctypes function may be a Python callback

    def __repr__(self):
        return f"{type(self).__name__}{self.functions!r}"

    cdef void* take(self, size_t nbytes) except? NULL:
        if self.malloc_function == NULL:
            raise RuntimeError("the FunctionAllocator is null: it was made without __init__.")
        return self.malloc_function(nbytes)
