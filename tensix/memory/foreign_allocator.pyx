"""Private: blocks that somebody else's functions make and free.

Note [Foreign blocks]
~~~~~~~~~~~~~~~~~~~~~
What comes from outside is checked before it is given out, and goes back if it is wrong. A block's context keeps the
allocator alive, which keeps the functions. Memory is nothing but bytes whoever made it, so blocks are simple.
"""
cimport cython
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from tensix.core.allocator cimport Allocator, nbytes_from_any
from tensix.core.data_ptr cimport DataPtr, DataPtr_wrap, data_ptr_init, data_ptr_t, deleter_t
from tensix.core.device cimport CPU
from tensix.core.memory_facts cimport name_deleter
from tensix.core.memory_reports cimport report_allocation, report_free, report_out_of_memory
from tensix.core.python_reference cimport drop_python_reference, holds_gil, may_run_python

from tensix.core.allocator import OutOfMemoryError
from tensix.core.cpu_allocator import CPUAllocator

__all__ = []


cdef enum:
    MALLOC_ALIGNMENT_BYTES = 16


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

    def __cinit__(self):
        self.alignment = MALLOC_ALIGNMENT_BYTES
        self.needs_python = True

    def allocate(self, nbytes):
        """Return a `DataPtr` to `nbytes` bytes, null for 0.

        Raises
        ------
        OutOfMemoryError
            If the function returns a null address.
        RuntimeError
            If the address is no multiple of the alignment; the block has been freed then.
        """
        cdef data_ptr_t block
        ForeignAllocator_allocate(self, nbytes_from_any(nbytes), &block)
        return DataPtr_wrap(&block)

    def is_simple_data_ptr(self, DataPtr data_ptr not None):
        """Return whether the context is nothing but the allocation: it is for our own blocks."""
        return data_ptr.seen.deleter == free_foreign or data_ptr.seen.data == data_ptr.seen.ctx

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        return ForeignAllocator_allocate(self, nbytes, out)

    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1:
        return pointer.deleter == free_foreign or pointer.data == pointer.ctx

    cdef void* take(self, size_t nbytes) except? NULL:
        return NULL

    cdef int give_back(self, void* data) except -1:
        return 0

    cdef int set_alignment(self, object alignment) except -1:
        size = nbytes_from_any(alignment)
        if size == 0 or size > 1 << 30 or size & (size - 1):
            raise ValueError(f"alignment must be a power of two from 1 to 2**30 bytes, found {alignment}.")
        self.alignment = size
        return 0


cdef int ForeignAllocator_allocate(ForeignAllocator self, size_t nbytes, data_ptr_t* out) except -1:
    cdef foreign_block_t* block
    cdef void* data
    if nbytes == 0:
        data_ptr_init(out, NULL, NULL, free_foreign)
        return 0
    block = <foreign_block_t*>malloc(sizeof(foreign_block_t))
    if block == NULL:
        raise MemoryError("no memory for the context of a block.")
    try:
        data = self.take(nbytes)
        if data == NULL:
            report_out_of_memory(nbytes, CPU)
            raise OutOfMemoryError(nbytes, self.alignment, CPUAllocator.bytes_in_use())
    except BaseException:
        free(block)
        raise
    block.data, block.nbytes, block.allocator = data, nbytes, <PyObject*>self
    block.function, block.needs_python = self.free_function, self.needs_python
    Py_INCREF(self)
    if <uintptr_t>data & (self.alignment - 1):
        free_unreported(block)
        raise RuntimeError(
            f"{type(self).__name__} got the address {<uintptr_t>data:#x}, which is no multiple of {self.alignment}. "
            "Return aligned addresses, or state the alignment that there is."
        )
    data_ptr_init(out, data, block, free_foreign)  # last: whoever fails must leave nothing there to be freed again
    block.stamp = report_allocation(data, nbytes, CPU, <PyObject*>self)
    return 0


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
            give_back(block)
    drop_python_reference(block.allocator, False)
    free(block)


cdef int give_back(foreign_block_t* block) noexcept:
    (<ForeignAllocator>block.allocator).give_back(block.data)  # noexcept: Cython hands what it raises to unraisablehook
    return 0


cdef dict foreign_block_facts(void* ctx):
    return {"nbytes": (<foreign_block_t*>ctx).nbytes}


name_deleter(free_foreign, "free_foreign", "block of another library's or Python's functions", foreign_block_facts)
