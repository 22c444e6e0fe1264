"""Blocks in memory that other processes can attach, by a file descriptor and an offset.

Note [Segments]
~~~~~~~~~~~~~~~
A segment is a file without a name, and its mapping. A large block has one for itself. Small blocks are taken one after
the other from a segment of 1 MiB, since processes may have few descriptors; it goes, file and mapping, with the last
of its blocks. No place in it is given out twice: another process that still maps a freed block sees its old bytes
and never those of a stranger. A forked child begins a segment of its own, since both would fill the same one.

The list of segments is for finding the file behind an address, however many contexts were put around the block. It has
a lock.
"""
cimport cython
from cpython.ref cimport PyObject
from libc.errno cimport EACCES, ENOMEM, EPERM, errno
from libc.stdint cimport uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from tensix.core.allocator cimport Allocator, nbytes_from_any
from tensix.core.atomics cimport tx_add_fetch_relaxed, tx_fetch_sub_acq_rel, tx_load_relaxed
from tensix.core.cpu_allocator cimport refuse_memory
from tensix.core.data_ptr cimport DataPtr_wrap, address_from_any, data_ptr_init, data_ptr_operations_t, data_ptr_t
from tensix.core.device cimport CPU
from tensix.core.lock cimport take_at_forks, tx_lock_release, tx_lock_t, tx_lock_take
from tensix.core.memory_reports cimport report_allocation, report_free
from tensix.core.pages cimport TX_MAP_READ_ONLY, TX_MAP_SHARED, tx_map_file, tx_page_bytes, tx_unmap_file
from tensix.core.python_reference cimport (
    holds_gil, holds_gil_at_exit, may_run_python, tx_begin_long_free, tx_end_long_free,
)

import os
from importlib import import_module

__all__ = ["SharedMemoryAllocator"]

cdef extern from "tensix/memory/shared_memory.h" nogil:
    int tx_shared_file(size_t nbytes)
    void tx_close(int fd)
    int tx_process_id()

cdef enum:
    ALIGNMENT_BYTES = 64
    SEGMENT_BYTES = 1048576
    MAX_SMALL_BYTES = 65536    # larger blocks get a segment each


cdef struct shared_segment_t:
    int fd
    char* base
    size_t nbytes           # mapped
    size_t file_offset      # of the base
    size_t used
    uint64_t count          # blocks, and the allocator that fills it
    shared_segment_t* next


cdef struct shared_block_t:
    shared_segment_t* segment
    void* data
    size_t nbytes           # that were reported; 0 if another process made them
    uint64_t stamp

cdef uint64_t bytes_in_use = 0  # of blocks that were reported
cdef shared_segment_t* segments = NULL
cdef tx_lock_t LOCK = 0  # of that list


cdef class SharedMemoryAllocator(Allocator):
    """SharedMemoryAllocator()\n--\n
    Give out blocks that other processes can attach.

    Raises
    ------
    OSError
        From `allocate`, if the system offers no shared memory, or has no descriptor left.

    Notes
    -----
    Blocks are multiples of 64 and hold zeros at first. Those up to 64 KiB share files of 1 MiB, so that they need few
    descriptors; a process that attaches one could read its neighbours too. `Storage.lazy_clone` copies at once, since
    others may write at any time.

    Lifetime: a file lives while any process holds or maps it, and nothing is left behind when they end. Blocks may
    outlive the allocator. After a fork, parent and child see each other's writes to the blocks that were there before.

    Thread-safety: any number of threads may allocate and free at once.

    Examples
    --------
    >>> import tensix
    >>> from tensix.memory import SharedMemoryAllocator
    >>> with tensix.use_allocator(SharedMemoryAllocator()):
    ...     x = tensix.zeros(4)
    >>> fd, offset = SharedMemoryAllocator.locate(x.data_ptr())
    >>> block = SharedMemoryAllocator.attach(fd, offset, 16)  # as another process would
    >>> y = tensix.Tensor.from_storage(tensix.Storage.from_data_ptr(16, block), 0, (4,), (1,), tensix.float32)
    >>> y.fill_(7)
    tensor([7., 7., 7., 7.])
    >>> x
    tensor([7., 7., 7., 7.])
    """

    cdef shared_segment_t* filling   # the segment that small blocks are taken from, or NULL
    cdef int process_id              # whose it is

    def __init__(self, *args, **kwargs):
        if args or kwargs:
            raise import_module("tensix._support.argument_errors").error_of_arguments(type(self), args, kwargs)
        teach_multiprocessing()

    @property
    def alignment(self):
        """Every block's address is a multiple of so many bytes."""
        return ALIGNMENT_BYTES

    def __dealloc__(self):
        if self.filling != NULL:
            disown(self.filling)

    @staticmethod
    @cython.binding(True)
    def locate(address):
        """Return where an address lies in shared memory.

        Parameters
        ----------
        address : int
            Any address in a block of any `SharedMemoryAllocator`, or in an attached one.

        Returns
        -------
        tuple of int, or None
            The file's descriptor, which is borrowed and lives as long as the block, and the offset in the file; None
            if it is not shared memory.
        """
        cdef uintptr_t wanted = address_from_any(address, "address")
        cdef shared_segment_t* segment
        cdef size_t distance = 0
        cdef int fd = -1
        tx_lock_take(&LOCK)
        segment = segments
        while segment != NULL and fd < 0:
            distance = wanted - <uintptr_t>segment.base  # of lower addresses: too large
            if distance < segment.nbytes and tx_load_relaxed(&segment.count) != 0:
                fd, distance = segment.fd, segment.file_offset + distance
            segment = segment.next
        tx_lock_release(&LOCK)
        return None if fd < 0 else (fd, distance)

    @staticmethod
    @cython.binding(True)
    def attach(fd, offset, nbytes, readonly=False):
        """Return a block that another process made, or this one.

        Parameters
        ----------
        fd : int
            Descriptor of the file, as this process got it; it stays the caller's and may be closed afterwards.
        offset : int
            Where the block begins in the file, in bytes.
        nbytes : int
            Size of the block.
        readonly : bool, optional
            Whether writing to it ends the process; also mark the storage as read-only.

        Returns
        -------
        DataPtr
            Unmapped when it dies; it does not count as in use here.

        Raises
        ------
        ValueError
            If the file is shorter than that.
        PermissionError
            If the descriptor allows reading only, and `readonly` is false.
        OSError
            If the descriptor is none, or its file cannot be mapped.
        OutOfMemoryError
            If there is no memory for it.
        """
        cdef data_ptr_t block
        if isinstance(fd, bool) or not isinstance(fd, int):
            raise TypeError(f"fd must be a file descriptor given as an int, found {type(fd).__name__}.")
        cdef size_t start = nbytes_from_any(offset), size = nbytes_from_any(nbytes), before = start % tx_page_bytes()
        cdef shared_segment_t* segment
        teach_multiprocessing()
        try:
            file_bytes = os.fstat(fd).st_size
        except OSError as error:
            raise OSError(error.errno, f"cannot attach file descriptor {fd}: {error.strerror}") from None
        if <object>start + <object>size > file_bytes:
            raise ValueError(
                f"cannot attach {size:,} bytes at offset {start:,}: the file has {file_bytes:,} bytes. "
                "Was it made by a SharedMemoryAllocator?"
            )
        data_ptr_init(&block, NULL, NULL, &shared_operations)
        if size != 0:
            segment = map_segment(os.dup(fd), start - before, before + size, readonly)
            wrap(segment, segment.base + before, 0, &block)
        return DataPtr_wrap(&block)

    def is_simple_data_ptr(self, data_ptr):
        """Return False: other processes may write the bytes."""
        return False

    def __repr__(self):
        return f"{type(self).__name__}()"

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef shared_segment_t* segment
        cdef shared_block_t* block
        cdef size_t padded = (nbytes + ALIGNMENT_BYTES - 1) & ~<size_t>(ALIGNMENT_BYTES - 1)
        if nbytes == 0:
            data_ptr_init(out, NULL, NULL, &shared_operations)
            return 0
        if padded > MAX_SMALL_BYTES or padded == 0:
            segment = new_segment(nbytes)
            block = wrap(segment, segment.base, nbytes, out)
        else:
            with cython.critical_section(self):
                segment = segment_to_fill(self, padded)
                tx_add_fetch_relaxed(&segment.count, 1)
                block = wrap(segment, segment.base + segment.used, nbytes, out)
                segment.used += padded
        block.stamp = report_allocation(out.data, nbytes, CPU, <PyObject*>self)
        tx_add_fetch_relaxed(&bytes_in_use, nbytes)
        return 0


def shared_bytes():
    """Return how many bytes of blocks in use are shared memory, and count as `memory_allocated`."""
    return bytes_in_use


cdef int teach_multiprocessing() except -1:
    """Load what sends tensors to other processes, before there is one in shared memory: by value it would be a copy."""
    import_module(f"{__name__.partition('.')[0]}.files.shared_memory")  # a floor above, as soon as it is there
    return 0


cdef shared_segment_t* segment_to_fill(SharedMemoryAllocator self, size_t padded) except NULL:
    """Return a segment with enough space, which the allocator owns; another one if this process did not make it."""
    cdef shared_segment_t* full = self.filling
    cdef int process_id = tx_process_id()
    if full == NULL or self.process_id != process_id or SEGMENT_BYTES - full.used < padded:
        self.filling = new_segment(SEGMENT_BYTES)
        self.process_id = process_id
        if full != NULL:
            disown(full)
    return self.filling


cdef shared_segment_t* new_segment(size_t nbytes) except NULL:
    """Return a segment with a count of one."""
    cdef int fd
    if nbytes >> 62:
        refuse(nbytes)
    fd = tx_shared_file(nbytes)
    if fd < 0:
        raise OSError(errno, f"no shared memory of {nbytes:,} bytes could be made: {os.strerror(errno)}")
    return map_segment(fd, 0, nbytes, False)


cdef int refuse(size_t nbytes, int error=ENOMEM, bint is_readonly=False) except -1:
    """Raise for the reason why memory could not be allocated."""
    if error == ENOMEM:
        refuse_memory(nbytes, ALIGNMENT_BYTES)
    hint = ""
    if error in (EACCES, EPERM) and not is_readonly:
        hint = ": its descriptor does not allow that. Attach it with readonly=True, or open it for reading and writing"
    purpose = "reading" if is_readonly else "reading and writing"
    raise OSError(error, f"cannot map {nbytes:,} bytes of a file for {purpose}{hint}: {os.strerror(error)}")


cdef shared_segment_t* map_segment(int fd, size_t offset, size_t nbytes, bint is_readonly) except NULL:
    """Map a part of a file and take over its descriptor, also on failure."""
    global segments
    cdef shared_segment_t* segment = <shared_segment_t*>calloc(1, sizeof(shared_segment_t))
    if segment != NULL:
        segment.base = <char*>tx_map_file(fd, offset, nbytes, TX_MAP_READ_ONLY if is_readonly else TX_MAP_SHARED)
    if segment == NULL or segment.base == NULL:
        error = errno if segment != NULL else ENOMEM
        free(segment)
        tx_close(fd)
        refuse(nbytes, error, is_readonly)
    segment.fd, segment.file_offset, segment.nbytes, segment.count = fd, offset, nbytes, 1
    tx_lock_take(&LOCK)
    segment.next, segments = segments, segment
    tx_lock_release(&LOCK)
    return segment


cdef shared_block_t* wrap(shared_segment_t* segment, char* data, size_t nbytes, data_ptr_t* out) except NULL:
    """Make a block that takes over a count of its segment, also on failure."""
    cdef shared_block_t* block = <shared_block_t*>malloc(sizeof(shared_block_t))
    if block == NULL:
        disown(segment)
        raise MemoryError("no memory for the context of a shared block.")
    block.segment, block.data, block.nbytes, block.stamp = segment, data, nbytes, 0
    data_ptr_init(out, data, block, &shared_operations)
    return block


cdef void free_shared(void* ctx) noexcept nogil:
    """Free a block; the deleter of them all."""
    cdef shared_block_t* block = <shared_block_t*>ctx
    if block.nbytes:
        report_free(block.data, block.nbytes, CPU, block.stamp, holds_gil())
        tx_add_fetch_relaxed(&bytes_in_use, -<uint64_t>block.nbytes)
    disown(block.segment)
    free(block)


cdef void disown(shared_segment_t* segment) noexcept nogil:
    """Drop a count of a segment; the last one unmaps it, unless the process is ending and does that itself."""
    cdef shared_segment_t** place = &segments
    if tx_fetch_sub_acq_rel(&segment.count, 1) != 1 or not (may_run_python() or holds_gil_at_exit()):
        return
    tx_lock_take(&LOCK)
    while place[0] != segment:
        place = &place[0].next
    place[0] = segment.next
    tx_lock_release(&LOCK)
    cdef void* begun = tx_begin_long_free(segment.nbytes)
    tx_unmap_file(segment.base, segment.nbytes)
    tx_end_long_free(begun)
    tx_close(segment.fd)
    free(segment)


cdef dict shared_block_facts(void* ctx):
    return {"nbytes": (<shared_block_t*>ctx).nbytes, "descriptor": (<shared_block_t*>ctx).segment.fd}


cdef data_ptr_operations_t shared_operations = data_ptr_operations_t(
    free_shared, NULL, b"free_shared", b"block of shared memory", shared_block_facts)


take_at_forks(&LOCK)
