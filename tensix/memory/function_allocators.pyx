"""Allocators made of somebody else's functions: of two Python callables, or of two C functions.

Note [Foreign blocks]
~~~~~~~~~~~~~~~~~~~~~
What comes from outside is checked before it is given out, and goes back if it is wrong. A block's context keeps the
allocator alive, which keeps the functions. Memory is nothing but bytes, whatever made it, so blocks are simple.
"""
cimport cython
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint64_t, uintptr_t
from libc cimport stdlib
from tensix.core.allocator cimport MALLOC_ALIGNMENT_BYTES, Allocator, alignment_from_any, tx_check_stack
from tensix.core.cpu_allocator cimport refuse_memory
from tensix.core.data_ptr cimport (
    DataPtr, address_from_any, c_function_from_any, data_ptr_init, data_ptr_operations,
    data_ptr_operations_t, data_ptr_t, deleter_t,
)
from tensix.core.device cimport CPU
from tensix.core.memory_reports cimport report_allocation, report_free
from tensix.core.python_reference cimport drop_python_reference, holds_gil, may_run_python

__all__ = ["CallbackAllocator", "FunctionAllocator"]

ctypedef void* (*malloc_t)(size_t nbytes) noexcept


cdef struct foreign_block_t:
    void* data
    size_t nbytes
    uint64_t stamp
    PyObject* allocator   # owned
    deleter_t function    # NULL: the allocator's give_back()
    bint needs_python


@cython.no_gc_clear  # blocks may still need what frees them
cdef class ForeignAllocator(Allocator):
    """Give out memory that somebody else's functions make; the base of `CallbackAllocator` and `FunctionAllocator`."""

    cdef readonly size_t alignment
    cdef deleter_t free_function      # NULL: give_back() is called, with the GIL
    cdef bint needs_python            # not to be called any more after finalisation has begun

    def __cinit__(self):
        self.alignment = MALLOC_ALIGNMENT_BYTES
        self.needs_python = True

    def is_simple_data_ptr(self, DataPtr data_ptr not None):
        """Return whether the context is nothing but the allocation: it is for our own blocks."""
        return ForeignAllocator.c_is_simple(self, data_ptr.seen)

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef foreign_block_t* block
        cdef void* data
        if nbytes == 0:
            data_ptr_init(out, NULL, NULL, &foreign_operations)
            return 0
        block = <foreign_block_t*>stdlib.malloc(sizeof(foreign_block_t))
        if block == NULL:
            raise MemoryError("no memory for the context of a block.")
        try:
            data = self.take(nbytes)
            if data == NULL:
                refuse_memory(nbytes, self.alignment)
        except BaseException:
            stdlib.free(block)
            raise
        block.data, block.nbytes, block.allocator = data, nbytes, <PyObject*>self
        block.function, block.needs_python = self.free_function, self.needs_python
        Py_INCREF(self)
        if <uintptr_t>data & (self.alignment - 1):
            free_unreported(block)
            raise RuntimeError(
                f"{type(self).__name__} got the address {<uintptr_t>data:#x}, which is not a multiple of "
                f"{self.alignment}. Return aligned addresses, or state the alignment that there is."
            )
        data_ptr_init(out, data, block, &foreign_operations)  # last: after an error there must be nothing to free again
        block.stamp = report_allocation(data, nbytes, CPU, <PyObject*>self)
        return 0

    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1:
        return data_ptr_operations(pointer) == &foreign_operations or pointer.data == pointer.ctx

    # What a subclass overrides; NULL means that there is no memory.
    cdef void* take(self, size_t nbytes) except? NULL:
        return NULL

    cdef void give_back(self, void* data) noexcept:  # Cython hands what is raised to sys.unraisablehook
        pass


cdef class CallbackAllocator(ForeignAllocator):
    """CallbackAllocator(allocate, deallocate, *, alignment=16)\n--\n
    Give out memory that two Python callables make and free.

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
        self.alignment = alignment_from_any(alignment)
        self.allocate_callback, self.deallocate_callback = allocate, deallocate

    def __repr__(self):
        return f"{type(self).__name__}({self.allocate_callback!r}, {self.deallocate_callback!r})"

    cdef void* take(self, size_t nbytes) except? NULL:
        if self.allocate_callback is None:
            raise RuntimeError("the CallbackAllocator is null: it was made without __init__.")
        tx_check_stack("the callback of an allocator")
        address = self.allocate_callback(nbytes)
        return NULL if address is None else <void*>address_from_any(address, "what allocate() returned")

    cdef void give_back(self, void* data) noexcept:
        self.deallocate_callback(<uintptr_t>data)


cdef class FunctionAllocator(ForeignAllocator):
    """FunctionAllocator(malloc, free, *, alignment=16)\n--\n
    Give out memory that two C functions make and free.

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
        If one of the two is not a C function in any of these forms.
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
        self.alignment = alignment_from_any(alignment)
        self.functions = (malloc, free)
        self.malloc_function, self.free_function = <malloc_t>malloc_function, <deleter_t>free_function
        self.needs_python = not isinstance(free, int)  # a ctypes function may be a Python callback

    def __repr__(self):
        return f"{type(self).__name__}{self.functions!r}"

    cdef void* take(self, size_t nbytes) except? NULL:
        if self.malloc_function == NULL:
            raise RuntimeError("the FunctionAllocator is null: it was made without __init__.")
        return self.malloc_function(nbytes)


cdef void free_foreign(void* ctx) noexcept nogil:
    """Free a block; the deleter of them all."""
    cdef foreign_block_t* block = <foreign_block_t*>ctx
    report_free(block.data, block.nbytes, CPU, block.stamp, holds_gil())
    free_unreported(block)


cdef void free_unreported(foreign_block_t* block) noexcept nogil:
    """See Note [GIL and finalisation]: a block that Python code frees is left to the system in the end."""
    if block.needs_python and not may_run_python():
        return
    if block.function != NULL:
        block.function(block.data)
    else:
        with gil:
            (<ForeignAllocator>block.allocator).give_back(block.data)
    drop_python_reference(block.allocator, False)
    stdlib.free(block)


cdef dict foreign_block_facts(void* ctx):
    return {"nbytes": (<foreign_block_t*>ctx).nbytes}


cdef data_ptr_operations_t foreign_operations = data_ptr_operations_t(
    free_foreign, NULL, b"free_foreign", b"block of another library's or Python's functions", foreign_block_facts)
