"""A line of JSON for every allocation, free and failure."""
cimport cython
import os
import threading
import time

from libc.stdint cimport uintptr_t
from tensix.core.data_ptr cimport data_ptr_destroy, data_ptr_operations_t, data_ptr_t
from tensix.core.python_reference cimport holds_gil, may_run_python
from tensix.memory.adaptor cimport Adaptor, Adaptor_take, adapted_block_facts, adapted_block_free, adapted_block_t

__all__ = ["LoggingAdaptor"]


@cython.no_gc_clear  # blocks that are left, and __dealloc__, still need the file
cdef class LoggingAdaptor(Adaptor):
    """Write a line of JSON for every allocation, free and failure.

    Parameters
    ----------
    upstream : Allocator or None
        Who makes the blocks; None means the allocator that serves the CPU now.
    file : str, path or text file
        Where to write. A path is written anew, line by line, and closed with the last block; a file stays open.

    Raises
    ------
    OSError
        If the file cannot be opened or, from `allocate`, written; nothing is allocated then.

    Notes
    -----
    Lines have ``event`` (``"allocate"``, ``"free"`` or ``"fail"``), ``time`` in seconds since the epoch, ``thread``
    (`threading.get_ident`), ``nbytes``, and ``address`` unless it failed. If a free cannot be written, the error goes
    to `sys.unraisablehook`. Nothing is written any more once Python is being finalized.

    Lifetime: every block keeps the adaptor alive, and the adaptor the file.

    Thread-safety: lines are whole if the file's ``write`` is. A free is written before the address can be given out
    again.

    Examples
    --------
    >>> import io, json, tensix
    >>> from tensix.memory import LoggingAdaptor
    >>> log = io.StringIO()
    >>> LoggingAdaptor(None, log).allocate(100).clear()
    >>> [(line["event"], line["nbytes"]) for line in map(json.loads, log.getvalue().splitlines())]
    [('allocate', 100), ('free', 100)]
    """

    cdef object write
    cdef object own_file   # to be closed by us, or None

    def __cinit__(self):
        self.operations = &logging_operations

    def __dealloc__(self):
        if self.own_file is not None:
            self.own_file.close()

    def __init__(self, upstream, file):
        super().__init__(upstream)
        if isinstance(file, (str, os.PathLike)):
            self.own_file = file = open(file, "w", buffering=1, encoding="utf-8")
        if not hasattr(file, "write"):
            raise TypeError(f"LoggingAdaptor() writes to a path or to a file, found {type(file).__name__}.")
        self.write = file.write

    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef adapted_block_t* node
        try:
            node = Adaptor_take(self, nbytes, nbytes, out)
        except MemoryError:
            write_line(self, "fail", 0, nbytes)
            raise
        if node == NULL:
            return 0
        try:
            write_line(self, "allocate", <uintptr_t>out.data, nbytes)
        except BaseException:
            data_ptr_destroy(out)
            raise
        node.note = <void*>self  # not owned: it says that there is a line for the allocation
        return 0


cdef int write_line(LoggingAdaptor self, str event, uintptr_t address, size_t nbytes) except -1:
    place = f'"address": {address}, ' if address else ""
    self.write(
        f'{{"event": "{event}", "time": {time.time():.6f}, "thread": {threading.get_ident()}, {place}'
        f'"nbytes": {nbytes}}}\n'
    )
    return 0


cdef void logging_free(void* ctx) noexcept nogil:
    """Write a line before the block goes, so that its address is not given out before."""
    cdef adapted_block_t* node = <adapted_block_t*>ctx
    if node.note != NULL and may_run_python():
        with gil:
            log_free(node)
    adapted_block_free(node, holds_gil())


cdef int log_free(adapted_block_t* node) noexcept:
    # noexcept: Cython hands what is raised to sys.unraisablehook
    write_line(<LoggingAdaptor>node.adaptor, "free", <uintptr_t>node.block.data, node.nbytes)
    return 0


cdef data_ptr_operations_t logging_operations = data_ptr_operations_t(
    logging_free, NULL, b"logging_free", b"block of a LoggingAdaptor", adapted_block_facts)
