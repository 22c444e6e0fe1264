"""Blocks in pages of their own: mappings of files or of nothing, and huge pages."""
import errno
import importlib
import os

from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from tensix.core.allocator cimport Allocator
from tensix.core.cpu_allocator cimport CPUAllocator, refuse_memory
from tensix.core.data_ptr cimport DataPtr, data_ptr_init, data_ptr_operations, data_ptr_operations_t, data_ptr_t
from tensix.core.device cimport CPU
from tensix.core.memory_reports cimport report_allocation, report_free
from tensix.core.pages cimport TX_MAP_SHARED, tx_map_file, tx_map_pages, tx_page_bytes, tx_populate, tx_unmap_pages
from tensix.core.python_reference cimport holds_gil, tx_begin_long_free, tx_end_long_free

__all__ = ["HugePageAllocator", "MappedAllocator"]

NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


cdef struct mapped_block_t:
    void* data
    size_t nbytes
    uint64_t stamp


cdef class MappedAllocator(Allocator):
    """MappedAllocator(directory=None, *, populate=False)\n--\n
    Give every block a mapping of its own.

    Parameters
    ----------
    directory : str, path or None, optional
        Where to put a file without a name behind each block, which its pages are written to when main memory is short;
        None maps no file.
    populate : bool, optional
        Make all pages of a block at once, so that touching it later costs no faults.

    Attributes
    ----------
    directory : str or None
        Where the files are.
    populate : bool
        Whether all pages are made at once.

    Raises
    ------
    OSError
        From `allocate`, if the file cannot be made. A full disk is an `OutOfMemoryError`.

    Notes
    -----
    Blocks begin at a page, hold zeros, and go back to the system as a whole: use it for a few large ones. The place on
    the disk is taken when the block is made, so that a write never finds the disk full.

    Lifetime: files go with their blocks, also if the process is killed. Blocks may outlive the allocator. After a fork,
    parent and child have copies of the blocks without a file, and see each other's writes to those with one.

    Thread-safety: any number of threads may allocate and free at once.

    Examples
    --------
    >>> import tempfile, tensix
    >>> from tensix.memory import MappedAllocator
    >>> with tensix.use_allocator(MappedAllocator(tempfile.gettempdir())):
    ...     x = tensix.zeros(1000, 1000)
    >>> x.data_ptr() % 4096, x.sum()
    (0, tensor(0.))
    """

    cdef readonly object directory
    cdef readonly bint populate

    def __init__(self, directory=None, *, populate=False):
        self.directory = None if directory is None else os.fsdecode(directory)
        self.populate = populate

    @property
    def alignment(self):
        """Every block's address is a multiple of so many bytes, a page."""
        return tx_page_bytes()

    def is_simple_data_ptr(self, DataPtr data_ptr not None):
        """Return whether the context is nothing but the allocation: it is for our own blocks."""
        return MappedAllocator.c_is_simple(self, data_ptr.seen)

    def __repr__(self):
        return f"{type(self).__name__}({self.directory!r}{', populate=True' if self.populate else ''})"

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef mapped_block_t* block
        if nbytes == 0:
            data_ptr_init(out, NULL, NULL, &mapped_operations)
            return 0
        block = <mapped_block_t*>malloc(sizeof(mapped_block_t))
        if block == NULL:
            raise MemoryError("no memory for the context of a block.")
        try:
            block.data = map_block(self, nbytes)
        except BaseException:
            free(block)
            raise
        block.nbytes = nbytes
        block.stamp = report_allocation(block.data, nbytes, CPU, <PyObject*>self)
        data_ptr_init(out, block.data, block, &mapped_operations)
        return 0

    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1:
        return data_ptr_operations(pointer) == &mapped_operations or pointer.data == pointer.ctx


cdef class HugePageAllocator(CPUAllocator):
    """HugePageAllocator(populate=False, *, numa_node=None)\n--\n
    Give blocks of a huge page and more regions of their own, with advice to back them by huge pages.

    Parameters
    ----------
    populate : bool, optional
        Make all pages of such a block at once, so that touching it later costs no faults.
    numa_node : int, 0 to 63, or None, optional
        The node that the pages of blocks of 64 KiB and more prefer.

    Notes
    -----
    A huge page is 2 MiB where a page is 4 KiB: one fault and one entry of the processor's table of pages in place of
    512. Where pages are larger it is larger too, up to 512 MiB. If the system has none, that is not an error. Large
    blocks begin at a huge page; smaller ones come from the C library's heap, which the advice never touches, aligned to
    64 bytes. Regions go back to the system when they are freed; put a `CachingAllocator` over it to keep them.

    Lifetime: blocks do not need the allocator; they may outlive it.

    Thread-safety: any number of threads may allocate and free at once.

    Examples
    --------
    >>> import tensix
    >>> from tensix.memory import HugePageAllocator
    >>> with tensix.use_allocator(HugePageAllocator(populate=True)):
    ...     x = tensix.empty(1000, 1000)
    >>> x.allocator, x.data_ptr() % 64
    (HugePageAllocator(populate=True), 0)
    """

    def __init__(self, populate=False, *, numa_node=None):
        super().__init__(huge_pages=True, numa_node=numa_node)
        self.populates = populate

    @property
    def populate(self):
        """Whether all pages of a large block are made at once."""
        return self.populates

    def __repr__(self):
        options = ["populate=True"] if self.populates else []
        options += [] if self.numa_node is None else [f"numa_node={self.numa_node}"]
        return f"{type(self).__name__}({', '.join(options)})"


cdef void* map_block(MappedAllocator self, size_t nbytes) except NULL:
    """Return a new mapping."""
    cdef void* data = NULL
    cdef bint was_populated = True
    if nbytes >> 62:
        refuse_memory(nbytes, self.alignment)
    if self.directory is None:
        data = tx_map_pages(nbytes)
    else:
        data = map_new_file(self.directory, nbytes)
    if data != NULL and self.populate:
        with nogil:
            was_populated = tx_populate(data, nbytes) == 0
        if not was_populated:
            tx_unmap_pages(data, nbytes)
    if data == NULL or not was_populated:
        refuse_memory(nbytes, self.alignment)
    return data


cdef void* map_new_file(str directory, size_t nbytes) except? NULL:
    """Map a file that no one else can find, and that goes with the mapping; NULL if there is no space."""
    tempfile = importlib.import_module("tempfile")  # seldom needed, and slow to import
    with tempfile.TemporaryFile(dir=directory) as file:
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, nbytes)
            else:
                os.truncate(file.fileno(), nbytes)
        except OSError as error:
            if error.errno in NO_ROOM:
                return NULL
            raise
        return tx_map_file(file.fileno(), 0, nbytes, TX_MAP_SHARED)


cdef void free_mapped(void* ctx) noexcept nogil:
    """Free a block; the deleter of them all."""
    cdef mapped_block_t* block = <mapped_block_t*>ctx
    report_free(block.data, block.nbytes, CPU, block.stamp, holds_gil())
    cdef void* begun = tx_begin_long_free(block.nbytes)
    tx_unmap_pages(block.data, block.nbytes)
    tx_end_long_free(begun)
    free(block)


cdef dict mapped_block_facts(void* ctx):
    return {"nbytes": (<mapped_block_t*>ctx).nbytes}


cdef data_ptr_operations_t mapped_operations = data_ptr_operations_t(
    free_mapped, NULL, b"free_mapped", b"mapping of a MappedAllocator", mapped_block_facts)
