"""Aligned blocks of main memory, each with a small header in front of it.

Note [CPU block header]
~~~~~~~~~~~~~~~~~~~~~~~
::

    base            data - 32                       data (aligned)
    |  padding ...  | base | nbytes | stamp | seal | nbytes bytes ...

The header is why a free knows the exact size and stamp (reports and ``bytes_in_use`` need no table and no lock), why
zeroed blocks can come from ``calloc`` at any alignment, and why a foreign or twice-freed address is noticed: the seal
is the block's own address mixed with a constant, and is broken before the block goes. ``data == ctx`` all the same,
so blocks are simple and can be shared copy-on-write. Stamps are those of Note [Stamps] in ``memory_reports.pyx``.

A block in a region of its own has the lowest bit of ``base`` set, and the region's length in the word before ``base``.
The next bit says that an allocator above keeps the block: it counts blocks itself, and in place of the stamp stands
where it notes what it knows of this one.
"""
cimport cython
from cpython.number cimport PyNumber_Index
from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t, uint32_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset
from tensix.core.allocator cimport MALLOC_ALIGNMENT_BYTES, NO_MEMORY, Allocator, alignment_from_any
from tensix.core.assertions cimport TX_ASSERT
from tensix.core.atomics cimport tx_add_fetch_relaxed
from tensix.core.data_ptr cimport (
    address_from_any, data_ptr_init, data_ptr_operations_t, data_ptr_own, data_ptr_t,
)
from tensix.core.device cimport CPU
from tensix.core.memory_reports cimport (
    bytes_given_out, report_allocation, report_allocation_without_gil, report_free, report_out_of_memory,
)
from tensix.core.pages cimport (
    tx_advise_huge_pages, tx_bind_to_node, tx_discard_pages, tx_huge_page_bytes, tx_keep_pages, tx_map_pages,
    tx_populate, tx_read_bytes, tx_unmap_pages,
)
from tensix.core.python_reference cimport holds_gil, may_run_python, tx_begin_long_free, tx_end_long_free

from tensix.core.allocator import OutOfMemoryError, set_allocator

__all__ = ["CPUAllocator"]

DEFAULT_ALIGNMENT_BYTES = 64      # a cache line, and the widest vector register

cdef enum:
    MIN_DISCARDED_BYTES = 33554432  # writing zeros over less is faster than touching new pages
    MIN_BOUND_BYTES = 65536       # smaller blocks are not worth pages of their own to bind

cdef size_t HUGE_PAGE_BYTES = tx_huge_page_bytes()  # a power of two

cdef uint32_t JUNK = 0x7FEDBEEF   # a NaN as float32, a huge int: PyTorch's pattern


cdef class CPUAllocator(Allocator):
    """CPUAllocator(alignment=64, *, zero_fill=False, junk_fill=False, huge_pages=False, numa_node=None)\n--\n
    Give out aligned blocks of main memory.

    Parameters
    ----------
    alignment : int, bytes, a power of two up to 2**30, optional
        Every block's address is a multiple of it. Less than 16 is taken as 16, which every block has, and reads so.
    zero_fill : bool, optional
        Fill new blocks with zeros; pages that come fresh from the system are not touched for it.
    junk_fill : bool, optional
        Fill new blocks with a pattern that is NaN as float32, to find reads of uninitialised memory.
    huge_pages : bool, optional
        Give blocks of a huge page and more a region of their own, with advice to back it by huge pages. The system
        says how large those are: 2 MiB where pages have 4 KiB.
    numa_node : int, 0 to 63, or None, optional
        Give blocks of 64 KiB and more a region of their own whose pages prefer this node.

    Raises
    ------
    ValueError
        If the alignment is not a power of two in its range, or both fills are asked for.

    Notes
    -----
    Lifetime: blocks do not need the allocator; they may outlive it.

    Thread-safety: any number of threads may allocate and free at once.

    Examples
    --------
    >>> from tensix.core import CPUAllocator
    >>> block = CPUAllocator(alignment=4096).allocate(100)
    >>> block.get() % 4096
    0
    """

    def __init__(self, alignment=DEFAULT_ALIGNMENT_BYTES, *, zero_fill=False, junk_fill=False, huge_pages=False,
                 numa_node=None):
        size = alignment_from_any(alignment)
        if zero_fill and junk_fill:
            raise ValueError("Cannot request both zero-fill and junk-fill at the same time: choose one.")
        numa_node = None if numa_node is None else PyNumber_Index(numa_node)
        if numa_node is not None and not 0 <= numa_node < 64:
            raise ValueError(f"numa_node must be from 0 to 63 or None, found {numa_node}.")
        self.alignment = max(size, <size_t>MALLOC_ALIGNMENT_BYTES)
        self.zero_fill, self.junk_fill, self.huge_pages = zero_fill, junk_fill, huge_pages
        self.node = -1 if numa_node is None else numa_node

    def __cinit__(self):
        self.alignment = DEFAULT_ALIGNMENT_BYTES
        self.node = -1

    @property
    def numa_node(self):
        """The NUMA node that pages prefer, or None."""
        return None if self.node == -1 else self.node

    @staticmethod
    @cython.binding(True)
    def bytes_in_use():
        """Return the bytes of main memory that are given out and not yet freed, by all allocators that report."""
        return bytes_given_out(CPU)

    def raw_deleter(self):
        """Return the address of the function that frees any CPU block."""
        return <uintptr_t>free_cpu

    def raw_deallocate(self, address):
        """Free a block by its address alone; 0 is accepted.

        Raises
        ------
        RuntimeError
            If no `CPUAllocator` made the block, or it was freed already.
        """
        cdef void* data = <void*>address_from_any(address, "address")
        if self.raw_deleter() != <uintptr_t>free_cpu:
            return Allocator.raw_deallocate(self, address)
        if data == NULL:
            return
        cdef block_header_t header
        if not read_header(data, &header):
            raise RuntimeError(
                f"cannot free {address:#x}: no living block of a CPUAllocator starts there. "
                "Was it freed before, or does it come from elsewhere?"
            )
        if header.base & IS_KEPT:
            raise RuntimeError(
                f"cannot free {address:#x}: an allocator above this one keeps that block. Ask that one to free it."
            )
        free_cpu(data)

    def __repr__(self):
        options = "".join(f", {name}=True" for name in ("zero_fill", "junk_fill", "huge_pages") if getattr(self, name))
        node = "" if self.node == -1 else f", numa_node={self.node}"
        return f"{type(self).__name__}(alignment={self.alignment}{options}{node})"

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef int failed
        if self.populates or self.junk_fill:  # which write to every page
            with nogil:
                failed = CPUAllocator_reserve(self, nbytes, self.zero_fill, out)
        else:
            failed = CPUAllocator_reserve(self, nbytes, self.zero_fill, out)
        if failed:
            refuse_memory(nbytes, self.alignment)
        data_ptr_own(out, out.data, &cpu_operations)
        if nbytes != 0:
            TX_ASSERT(is_sealed(out.data), "the header of a CPU block to be intact", <uintptr_t>out.data)
            header_of(out.data).stamp = report_allocation(out.data, nbytes, CPU, <PyObject*>self)
        return 0

    cdef int c_try_allocate(self, size_t nbytes, data_ptr_t* out) noexcept nogil:
        if CPUAllocator_reserve(self, nbytes, self.zero_fill, out) != 0:
            return NO_MEMORY
        data_ptr_own(out, out.data, &cpu_operations)
        if nbytes != 0:
            header_of(out.data).stamp = report_allocation_without_gil(out.data, nbytes, CPU, <PyObject*>self)
        return 0


cdef int refuse_memory(size_t nbytes, size_t alignment) except -1:
    """Report that the system has no main memory for a block, and raise."""
    report_out_of_memory(nbytes, CPU)
    raise OutOfMemoryError(nbytes, alignment, bytes_given_out(CPU))


cdef int CPUAllocator_reserve(CPUAllocator self, size_t nbytes, bint zeroed, data_ptr_t* out) noexcept nogil:
    """Make a block that does not count as in use, of zeros if asked for; -1 if there is no memory."""
    cdef void* data = NULL
    if nbytes != 0:
        data = alloc_cpu(self, nbytes, zeroed)
        if data == NULL:
            return -1
        if self.junk_fill and not zeroed:
            fill_with_junk(<uint8_t*>data, nbytes)
    data_ptr_init(out, data, data, &uncounted_cpu_operations)
    return 0


cdef uint64_t bytes_in_regions = 0  # of blocks that are not in the C library's heap, in use or kept by a cache


def region_bytes():
    """Return how many bytes of blocks lie outside the C library's heap."""
    return bytes_in_regions


cdef void* alloc_cpu(CPUAllocator self, size_t nbytes, bint zeroed) noexcept nogil:
    """Return a sealed block, of zeros if asked for, NULL if there is no memory. See Note [CPU block header]."""
    cdef bint own_region = (self.huge_pages and nbytes >= HUGE_PAGE_BYTES) or (
        self.node != -1 and nbytes >= MIN_BOUND_BYTES)
    cdef size_t alignment = self.alignment
    if own_region and self.huge_pages and alignment < HUGE_PAGE_BYTES:
        alignment = HUGE_PAGE_BYTES
    cdef size_t header_bytes = sizeof(block_header_t) + (MALLOC_ALIGNMENT_BYTES if own_region else 0)
    cdef size_t padded = nbytes + header_bytes + alignment - MALLOC_ALIGNMENT_BYTES
    if nbytes >> 63 or padded < nbytes:
        return NULL
    cdef void* base
    if own_region:
        base = tx_map_pages(padded)
    elif zeroed:
        base = calloc(1, padded)
    else:
        base = malloc(padded)
    if base == NULL:
        return NULL
    cdef void* data = <void*>((<uintptr_t>base + header_bytes + alignment - 1) & ~(<uintptr_t>alignment - 1))
    if own_region:
        tx_keep_pages(&base, &padded, <void*>(<uintptr_t>data - header_bytes), <void*>(<uintptr_t>data + nbytes))
        if self.huge_pages:
            tx_advise_huge_pages(data, nbytes & ~(HUGE_PAGE_BYTES - 1))  # advice: refusing it costs nothing
        if self.node != -1:
            tx_bind_to_node(base, padded, self.node)  # a preference: so does refusing this
        if self.populates and tx_populate(data, nbytes) != 0:
            tx_unmap_pages(base, padded)
            return NULL
    TX_ASSERT(<uintptr_t>data >= <uintptr_t>base + header_bytes, "space for a header", <uintptr_t>data)
    cdef block_header_t* header = header_of(data)
    header.base = <uintptr_t>base | (HAS_OWN_REGION if own_region else 0)
    header.nbytes = nbytes
    if own_region:
        (<size_t*>(<uintptr_t>header - sizeof(size_t)))[0] = padded
        tx_add_fetch_relaxed(&bytes_in_regions, nbytes)
    header.seal = seal_of(data)
    return data


cdef void free_cpu(void* data) noexcept nogil:
    """Free a block that counts as in use; the deleter of them all."""
    if is_sealed(data):
        report_free(data, header_of(data).nbytes, CPU, header_of(data).stamp, holds_gil())
    release_cpu(data)


cdef void release_cpu(void* data) noexcept nogil:
    """Free a block that is not counted."""
    if not is_sealed(data):
        if may_run_python():
            with gil:
                report_broken_block(<uintptr_t>data)
        return
    cdef block_header_t* header = header_of(data)
    cdef void* base = <void*>(header.base & ~<uintptr_t>(HAS_OWN_REGION | IS_KEPT))
    cdef size_t mapped_bytes = mapped_bytes_of(header)
    cdef void* begun = tx_begin_long_free(header.nbytes)
    header.seal = 0
    if mapped_bytes != 0:
        tx_add_fetch_relaxed(&bytes_in_regions, -<uint64_t>header.nbytes)
        tx_unmap_pages(base, mapped_bytes)
    else:
        free(base)
    tx_end_long_free(begun)


cdef int report_broken_block(uintptr_t data) noexcept:
    raise RuntimeError(
        f"CPU block at {data:#x} was not freed: its header is broken. "
        "It was freed before, something wrote in front of it, or it is not a block of a CPUAllocator."
    )


cdef inline size_t mapped_bytes_of(block_header_t* header) noexcept nogil:
    """Return the length of a region of a block's own, 0 for a block of the C library's heap."""
    return (<size_t*>(<uintptr_t>header - sizeof(size_t)))[0] if header.base & HAS_OWN_REGION else 0


cdef bint read_header(void* data, block_header_t* header) noexcept nogil:
    """Copy the header of the block at any address; return whether there is one."""
    return (
        <uintptr_t>data % MALLOC_ALIGNMENT_BYTES == 0
        and tx_read_bytes(header, header_of(data), sizeof(block_header_t))
        and header.seal == seal_of(data)
    )


cdef void CPUBlock_zero(void* data, size_t nbytes) noexcept nogil:
    """Make all bytes of any block zero.

    A large CPU block gives its pages back instead: the next access to one gets a new page, which the system has zeroed.
    The C library does the same, from this size on.
    """
    cdef block_header_t header
    if nbytes < MIN_DISCARDED_BYTES or not read_header(data, &header) or tx_discard_pages(data, nbytes) != 0:
        memset(data, 0, nbytes)


cdef void fill_with_junk(uint8_t* data, size_t nbytes) noexcept nogil:
    """Write the pattern over and over; a rest of 1 to 3 bytes gets its first bytes."""
    cdef size_t i
    for i in range(nbytes // 4):
        (<uint32_t*>data)[i] = JUNK
    for i in range(nbytes & ~<size_t>3, nbytes):
        data[i] = (<uint8_t*>&JUNK)[i & 3]


cdef dict block_facts(void* data):
    """Return what the header says; nothing if it is broken."""
    if not is_sealed(data):
        return {"is_broken": True}
    cdef block_header_t* header = header_of(data)
    return {"nbytes": header.nbytes, "mapped_bytes": mapped_bytes_of(header)}


cdef data_ptr_operations_t cpu_operations = data_ptr_operations_t(
    free_cpu, NULL, b"free_cpu", b"block of a CPUAllocator", block_facts)
cdef data_ptr_operations_t uncounted_cpu_operations = data_ptr_operations_t(
    release_cpu, NULL, b"release_cpu", b"block of a CPUAllocator, not counted", block_facts)
set_allocator("cpu", CPUAllocator())
