"""PyTorch's CPU tensors in tensix's memory.

Note [PyTorch's allocator]
~~~~~~~~~~~~~~~~~~~~~~~~~~
PyTorch asks one allocator of the process for the memory of its CPU tensors: an object of C++ whose class has six
virtual functions. ``torch_allocator.h`` makes such an object by hand, so neither PyTorch's headers nor a compiler are
needed, and first tries with PyTorch's own allocator whether everything lies where it is expected. The object is given
to PyTorch once and stays for as long as the process lives, for its blocks may live as long. While no scope is open
(``torch_scope.py``), it passes requests on to the allocator that was there before.

PyTorch allocates and frees without the GIL, in threads of its own, and after Python was finalized. So all of this is
without the GIL: Note [Allocating without the GIL] in ``core/allocator.pyx``. Data and context of a block are the same
address, as for PyTorch's own blocks: only then can they be shared copy-on-write, or freed by address. So a block is
found by its address: Note [Blocks by address] in ``numpy_memory.pyx``.
"""
from cpython.ref cimport Py_DECREF, PyObject
from libc.stdint cimport uint64_t
from libc.stdio cimport snprintf
from tensix.core.allocator cimport Allocator, allocate_without_gil, let_go_of
from tensix.core.atomics cimport tx_store_release
from tensix.core.data_ptr cimport data_ptr_destroy, data_ptr_init, data_ptr_operations, data_ptr_t
from tensix.core.device cimport CPU
from tensix.core.memory_reports cimport TORCH_TENSOR, bytes_given_out, exchange_kind, kind_t
from tensix.core.python_reference cimport pending_exception_t, restore_exception, save_exception
from tensix.memory.block_records cimport kept_block_at, record_put, record_t, record_take
from tensix.memory.caching_allocator cimport caching_operations, kept_block_free, kept_block_t

cdef extern from "tensix/memory/torch_allocator.h" nogil:
    enum:
        TX_TORCH_TEXT_BYTES
    int (*tx_torch_take)(size_t nbytes, void** data, char* text) noexcept nogil
    int (*tx_torch_free_block)(void* data, size_t* nbytes) noexcept nogil
    size_t (*tx_torch_in_use)() noexcept nogil
    const char* tx_torch_find()
    bint tx_torch_install()
    const char* tx_torch_name_in_use()

cdef bint is_serving = False    # read without a lock: a scope that begins or ends may be seen a moment later
cdef uint64_t server = 0        # the Allocator of the scope; 0: the one in use
cdef object SERVER = None       # the same, kept alive


def serve(bint wanted, Allocator allocator=None):
    """Let PyTorch's tensors come from an allocator, from the one in use if it is None, or from PyTorch's own.

    Returns
    -------
    str or None
        Why PyTorch is not served; None if all is as wanted.
    """
    global is_serving, server, SERVER
    cdef const char* problem = NULL
    if wanted:
        problem = tx_torch_find()
        if problem == NULL and not tx_torch_install():
            other = tx_torch_name_in_use().decode()
            return f"it asks {other}, which was installed with a higher priority"
    if problem != NULL:
        return problem.decode()
    former = SERVER  # `let_go_of` keeps it as long as it has to be
    tx_store_release(&server, 0 if allocator is None else <uint64_t><PyObject*>allocator)
    SERVER = allocator
    is_serving = wanted
    if former is not None:
        let_go_of(former)
    return None


cdef int take(size_t nbytes, void** data, char* text) noexcept nogil:
    """Return 0 and a block, -1 and a text that says why there is no memory, or 1 if PyTorch serves itself."""
    cdef data_ptr_t block
    cdef PyObject* error = NULL
    cdef kind_t before
    cdef bint is_kept, has_header
    cdef int status
    if not is_serving:
        return 1
    data_ptr_init(&block, NULL, NULL, NULL)
    if nbytes != 0:
        before = exchange_kind(TORCH_TENSOR)
        status = allocate_without_gil(&server, nbytes, &block, &error)
        exchange_kind(before)
        is_kept = status == 0 and data_ptr_operations(&block) == &caching_operations
        has_header = is_kept and (<kept_block_t*>block.ctx).has_header
        if status == 0 and not has_header and not record_put(NULL, nbytes, &block):  # to be found by its address
            data_ptr_destroy(&block)
            status = -1
        if status != 0:
            say_why(nbytes, error, text)
            return -1
    data[0] = block.data
    return 0


cdef int free_block(void* data, size_t* nbytes) noexcept nogil:
    """Free a block of tensix's; return whether it is one, and how many bytes were asked for."""
    cdef record_t record
    cdef kept_block_t* kept
    if record_take(data, &record):
        nbytes[0] = record.nbytes
        data_ptr_destroy(&record.block)
        return True
    kept = kept_block_at(data)
    if kept == NULL:
        return False
    nbytes[0] = kept.nbytes
    kept_block_free(kept, False)
    return True


cdef size_t in_use() noexcept nogil:
    return bytes_given_out(CPU)


cdef void say_why(size_t nbytes, PyObject* error, char* text) noexcept nogil:
    """Write why there is no memory; takes the reference to the error, if there is one."""
    snprintf(
        text, TX_TORCH_TEXT_BYTES, b"cannot allocate %zu bytes: the allocator has no memory, in use %zu.", nbytes,
        in_use())
    if error != NULL:
        say_why_with_gil(error, text)


cdef void say_why_with_gil(PyObject* error, char* text) noexcept with gil:
    cdef pending_exception_t pending = save_exception()
    cdef bytes encoded
    try:
        encoded = str(<object>error).encode("utf-8", "backslashreplace")
        snprintf(text, TX_TORCH_TEXT_BYTES, b"%s", <const char*>encoded)
    except BaseException:  # there is no memory for words: those that are there already will do
        pass
    Py_DECREF(<object>error)
    restore_exception(pending)


tx_torch_take, tx_torch_free_block, tx_torch_in_use = take, free_block, in_use
