"""A file's bytes as memory, lent out to storages."""
cimport cython
import os

from cpython.exc cimport PyErr_SetFromErrno
from libc.stdlib cimport free, malloc
from tensix.core.allocator cimport nbytes_from_any
from tensix.core.data_ptr cimport DataPtr, data_ptr_destroy, data_ptr_init, data_ptr_operations_t, data_ptr_t
from tensix.core.python_reference cimport tx_begin_long_free, tx_end_long_free
from tensix.core.pages cimport TX_MAP_PRIVATE, TX_MAP_READ_ONLY, TX_MAP_SHARED, tx_map_file, tx_unmap_file
from tensix.core.shared_context cimport (
    shared_context_decrement, shared_context_facts, shared_context_increment, shared_context_is_unique,
    shared_context_point, shared_context_t, shared_context_new, shared_context_wrap,
)

from tensix._support.format_size import format_size
from tensix.core.storage import Storage

__all__ = ["FileMap"]

cdef dict KINDS = {"r": TX_MAP_READ_ONLY, "c": TX_MAP_PRIVATE, "r+": TX_MAP_SHARED}


@cython.no_gc  # it holds no objects
@cython.final
cdef class FileMap:
    """FileMap(descriptor, nbytes, mode="r")\n--\n
    Map an open file into memory, and lend parts of it to storages.

    Parameters
    ----------
    descriptor : int
        Of a regular file; it may be closed as soon as the map is made.
    nbytes : int
        How much of the file to map, from its start: 1 or more, and no more than the file has.
    mode : str, optional
        As NumPy's: ``"r"`` makes read-only storages; ``"c"`` writable ones, whose writes stay in memory and are
        seen by no one else; ``"r+"`` writable ones, whose writes go to the file.

    Raises
    ------
    ValueError
        If the file is shorter.
    OSError
        If the system cannot map the file, or has no addresses left for it.

    Notes
    -----
    Lifetime: the pages are mapped as long as this object or a storage over them lives. No descriptor is kept.

    Thread-safety: as any Python object; storages may die on any thread, with or without the GIL.

    Examples
    --------
    >>> import tempfile
    >>> from tensix.files import FileMap
    >>> with tempfile.TemporaryFile() as file:
    ...     _ = file.write(b"Ithaca")
    ...     file.flush()
    ...     pages = FileMap(file.fileno(), 6)
    >>> storage = pages.storage(2, 4)
    >>> storage.nbytes(), storage.readonly
    (4, True)
    >>> pages.close()
    Traceback (most recent call last):
    BufferError: cannot close the map: storages still refer to it, found 1. Drop their tensors first.
    >>> storage.reset()
    >>> pages.close()
    """

    cdef shared_context_t* context  # with one count; NULL when closed
    cdef readonly size_t nbytes
    cdef readonly str mode

    def __init__(self, int descriptor, nbytes, mode="r"):
        kind = KINDS.get(mode)
        if kind is None:
            raise ValueError(f"a map's mode is one of {', '.join(map(repr, KINDS))}, found {mode!r}.")
        cdef size_t size = nbytes_from_any(nbytes)
        if size == 0:
            raise ValueError("a map has 1 byte or more, found nbytes=0.")
        if self.mode is not None:  # asked after the numbers, which may call this, too
            raise RuntimeError("a FileMap is filled once: make a new one instead of calling __init__ again.")
        found = os.fstat(descriptor).st_size
        if found < size:  # touching what is beyond the end would be a bus error
            raise ValueError(f"cannot map {size:,} bytes of a file that has {found:,}.")
        cdef data_ptr_t block
        map_pages(descriptor, size, kind, &block)
        try:
            self.context = shared_context_new()
            shared_context_wrap(self.context, &block, &share_operations)
        except BaseException:
            data_ptr_destroy(&block)
            raise
        self.nbytes, self.mode = size, mode

    def __dealloc__(self):
        if self.context != NULL:
            shared_context_decrement(self.context)

    @property
    def closed(self):
        """Whether this object has let go of the pages."""
        return self.context == NULL

    def storage(self, offset, nbytes):
        """Return a storage over a part of the file.

        Parameters
        ----------
        offset, nbytes : int
            Where it begins and how long it is, in bytes.

        Returns
        -------
        Storage
            Without an allocator, so not resizable; read-only if the mode is ``"r"``. Each call makes a new one.

        Raises
        ------
        ValueError
            If it would not lie within the map, or the map is closed.
        """
        cdef size_t start = nbytes_from_any(offset)
        cdef size_t size = nbytes_from_any(nbytes)
        cdef DataPtr part = DataPtr()
        cdef shared_context_t* context
        if start > self.nbytes or size > self.nbytes - start:
            raise ValueError(f"the map has {self.nbytes:,} bytes: none from {start:,} to {start + size:,}.")
        with cython.critical_section(self):
            context = self.context
            if context == NULL:
                raise ValueError("the map is closed.")
            shared_context_increment(context)
        shared_context_point(context, &part.own, &share_operations)
        part.own.data = <char*>part.own.data + start
        made = Storage.from_data_ptr(size, part)
        if self.mode == "r":
            made.readonly = True
        return made

    def close(self):
        """Unmap the pages now; nothing happens if it was done.

        Raises
        ------
        BufferError
            If a storage still refers to them. Nothing changes then.
        """
        if self.context == NULL:
            return
        if not shared_context_is_unique(self.context):
            raise BufferError(
                f"cannot close the map: storages still refer to it, found {self.context.count - 1}. "
                "Drop their tensors first."
            )
        self.release()

    def release(self):
        """Let go of the pages; they are unmapped when the last storage over them dies."""
        cdef shared_context_t* context
        with cython.critical_section(self):
            context = self.context
            self.context = NULL
        if context != NULL:
            shared_context_decrement(context)

    def __repr__(self):
        state = "closed" if self.context == NULL else format_size(self.nbytes)
        return f"FileMap({state}, mode={self.mode!r})"


cdef struct pages_t:
    void* address
    size_t nbytes


cdef void unmap_pages(void* ctx) noexcept nogil:
    cdef void* begun = tx_begin_long_free((<pages_t*>ctx).nbytes)
    tx_unmap_file((<pages_t*>ctx).address, (<pages_t*>ctx).nbytes)
    tx_end_long_free(begun)
    free(ctx)


cdef int map_pages(int descriptor, size_t nbytes, int kind, data_ptr_t* block) except -1:
    """Fill `block`, which owns nothing, with the pages of a file."""
    cdef void* address
    with nogil:
        address = tx_map_file(descriptor, 0, nbytes, kind)
    if address == NULL:
        PyErr_SetFromErrno(OSError)
    cdef pages_t* pages = <pages_t*>malloc(sizeof(pages_t))
    if pages == NULL:
        tx_unmap_file(address, nbytes)
        raise MemoryError("no memory for the context of a map.")
    pages.address, pages.nbytes = address, nbytes
    data_ptr_init(block, address, pages, &pages_operations)
    return 0


cdef dict pages_facts(void* ctx):
    return {"nbytes": (<pages_t*>ctx).nbytes}


cdef data_ptr_operations_t share_operations = data_ptr_operations_t(
    shared_context_decrement, NULL, b"return_share", b"map of a file", shared_context_facts)
cdef data_ptr_operations_t pages_operations = data_ptr_operations_t(
    unmap_pages, NULL, b"unmap_pages", b"mapped pages", pages_facts)
