"""NumPy's arrays in tensix's memory.

Note [NumPy's handler]
~~~~~~~~~~~~~~~~~~~~~~
NumPy asks a handler for the memory of arrays: a struct of four functions, in a capsule that each array keeps, so that
its block goes back to whom it came from (NEP 49). Which handler that is stands in a context variable. A thread does
not inherit the variables of the one that started it (before CPython 3.14), so a handler that is set reaches no other
thread. What all threads share is the variable's default: the capsule `PyDataMem_DefaultHandler`. Hence `serve_numpy`
does not set the variable, but lets that capsule point to a struct of tensix, permanently: arrays with its blocks keep
the same capsule as those that have NumPy's, and may live as long as the process. A block that is not ours is passed on
to NumPy's own functions, and so is every request while no scope is open (``numpy_scope.py``).

Where NumPy computes for tensix (``loops/numpy_results.pyx``), the variable is set to a capsule of our own.

Note [Blocks by address]
~~~~~~~~~~~~~~~~~~~~~~~~
NumPy gives back an address and nothing else. A block that comes straight from a `CachingAllocator` needs no more: its
header names the cache that keeps it, see Note [CPU block header]. All others have a record in a table by address
(``block_records.pyx``), as PyTorch's blocks have.
The table is asked first, for an adaptor hands out the address of the block below it; it is nearly always empty. Of
NumPy's own blocks the 32 bytes in front are read only where they are sure to be mapped: on the page of an address that
is aligned as ours are, and is not the first of its page. So a block that begins a page has a record as well.

NumPy allocates and frees with the GIL held: it reads the handler from its capsule right before, with a function that
needs it. It reallocates without the GIL where it reads numbers from text, for however many there will be. While it
reallocates or frees, an array may still have the old address, and other threads the array: `tx_keeps_gil` says so to
frees that would let them run.

Note [Small arrays]
~~~~~~~~~~~~~~~~~~~
NumPy keeps a few freed blocks below 1 KiB itself, at 36 instructions for an allocation and a free of the 2,200 that
`np.empty(1)` takes. So those are served at once, in two functions that call no other: 96 instructions, where going
through the allocator's methods took 360. Their shape is what makes them short: what is rare is a call at their end, for
which no register needs to be saved; the allocator is found through `ctx`; and small blocks are in no order, see Note
[Size classes].

What an allocator raises cannot pass through NumPy, which raises a MemoryError of its own: it is kept until then, and
named by that one (``numpy_scope.py``); where NumPy computes for tensix, it is raised in place of that one.
"""
from cpython.object cimport PyTypeObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New, PyCapsule_SetPointer
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint8_t
from libc.string cimport memcpy
from numpy cimport import_array
from tensix.core.allocator cimport Allocator, Allocator_allocate, current_allocator, scopes_were_used, serving
from tensix.core.cpu_allocator cimport CPUBlock_zero, may_be_read_in_front
from tensix.core.data_ptr cimport data_ptr_destroy_with_gil, data_ptr_move, data_ptr_t
from tensix.core.device cimport CPU
from tensix.core.free_threading cimport stolen, tx_exchange, tx_take_reference
from tensix.core.memory_reports cimport (
    NUMPY_ARRAY, TENSIX_BLOCK, exchange_kind, given_out, kind_t, listener_count, tell_allocation,
)
from tensix.core.python_reference cimport decref_with_gil, pending_exception_t, restore_exception, save_exception
from tensix.core.usage cimport high_water_add, high_water_remove
from tensix.memory.block_records cimport kept_block_at, record_count, record_find, record_put, record_t, record_take
from tensix.memory.caching_allocator cimport (
    MAX_SMALL_BYTES, STEP_BYTES, CachingAllocator, CachingAllocator_allocate, cache_keep_in_front, cache_take,
    cache_take_in_front, kept_block_free, kept_block_give_out, kept_block_keep, kept_block_point, kept_block_t,
)

import_array()

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyDataMemAllocator:
        void* ctx
        void* (*malloc)(void* ctx, size_t size) noexcept
        void* (*calloc)(void* ctx, size_t count, size_t size) noexcept
        void* (*realloc)(void* ctx, void* data, size_t size) noexcept nogil
        void (*free)(void* ctx, void* data, size_t size) noexcept
    ctypedef struct PyDataMem_Handler:
        char name[127]
        uint8_t version
        PyDataMemAllocator allocator
    PyObject* PyDataMem_DefaultHandler

cdef extern from "Python.h":
    PyTypeObject* type_of "Py_TYPE" (PyObject* reference)

cdef extern from "tensix/core/gil.h":
    """
    TX_THREAD_LOCAL int tx_keeps_gil = 0;
    """
    int tx_keeps_gil

cdef dict FAILURES = {}                             # thread -> (nbytes, what was raised, for results)
cdef PyDataMem_Handler results                      # of arrays that become tensors
cdef PyDataMem_Handler served                       # of the program's arrays
cdef PyDataMem_Handler numpys                       # NumPy's own functions
cdef object SERVER = None                           # the allocator of arrays; None: the current one
cdef PyObject* server = NULL                        # the same, NULL while NumPy serves itself
cdef PyObject* in_use = <PyObject*>None             # the allocator of results: always the current one


def serve(bint wanted, Allocator allocator=None):
    """Let NumPy's arrays come from an allocator, from the one in use if it is None, or from NumPy's own functions.

    See Note [NumPy's handler].
    """
    global SERVER, numpys
    cdef PyDataMem_Handler* speaker = &results if wanted else &numpys
    cdef PyObject* wanted_server = <PyObject*>allocator if wanted else NULL
    if numpys.version == 0:
        numpys = (<PyDataMem_Handler*>PyCapsule_GetPointer(<object>PyDataMem_DefaultHandler, "mem_handler"))[0]
        PyCapsule_SetPointer(<object>PyDataMem_DefaultHandler, &served)
    tx_exchange(NULL, &server, wanted_server)
    SERVER = allocator  # last: the one before may go with it
    memcpy(served.name, speaker.name, sizeof(served.name))  # what NumPy says when it is asked for its handler


def failure_of(nbytes):
    """Return what an allocator raised for an array of so many bytes of this thread, once; None if nothing."""
    cdef object thread = PyThread_get_thread_ident()
    size, error, is_for_results = FAILURES.get(thread, (None, None, False))
    if size != nbytes:
        return None
    if not is_for_results:  # else `take_failure` is about to ask for it
        del FAILURES[thread]
    return error


# ---- what NumPy calls; ctx points to the allocator


cdef void* allocate(void* ctx, size_t size) noexcept:
    """Return a block, at once if it is a small one that a `CachingAllocator` keeps. See Note [Small arrays]."""
    cdef PyObject* asked = asked_for(ctx)
    cdef kept_block_t* kept
    if may_be_kept(asked) and size - 1 < MAX_SMALL_BYTES:
        kept = cache_take_in_front((<CachingAllocator>asked).cache, (size - 1) // STEP_BYTES)
        if kept != NULL:
            return give_out(kept, size)
    return allocate_any(ctx, size, False)


cdef void* allocate_zeros(void* ctx, size_t count, size_t size) noexcept:
    if count != 0 and size > <size_t>-1 // count:
        return NULL
    size *= count
    if size > MAX_SMALL_BYTES:
        return allocate_any(ctx, size, True)
    cdef void* data = allocate(ctx, size)
    if data != NULL:
        CPUBlock_zero(data, size)  # not memset(): for so few bytes C compilers take instructions that start slowly
    return data


cdef void* allocate_any(void* ctx, size_t size, bint zeroed) noexcept:
    cdef PyObject* asked = asked_for(ctx)
    cdef kept_block_t* kept
    if asked == NULL and (<PyObject**>ctx)[0] == NULL:
        if zeroed:
            return numpys.allocator.calloc(numpys.allocator.ctx, 1, size)
        return numpys.allocator.malloc(numpys.allocator.ctx, size)
    size += size == 0
    if may_be_kept(asked) and size >> 62 == 0:
        kept = cache_take((<CachingAllocator>asked).cache, size, True)
        if kept != NULL:
            if zeroed:
                CPUBlock_zero(kept.block.data, size)
            return give_out(kept, size)
    return take_slowly(ctx, size, zeroed)


cdef void* reallocate(void* ctx, void* data, size_t size) noexcept with gil:
    global tx_keeps_gil
    cdef size_t nbytes = nbytes_of_block(data)
    cdef void* moved
    if nbytes == 0 and data != NULL:
        return numpys.allocator.realloc(numpys.allocator.ctx, data, size)
    tx_keeps_gil += 1
    moved = allocate(ctx, size)
    if moved != NULL and data != NULL:
        memcpy(moved, data, min(size, nbytes))
        release(ctx, data, nbytes)
    tx_keeps_gil -= 1
    return moved


cdef void release(void* ctx, void* data, size_t size) noexcept:
    cdef kept_block_t* kept
    if data == NULL:
        return
    if listener_count != 0 or record_count != 0:
        release_slowly(data, size)
        return
    kept = kept_block_at(data)
    if kept == NULL:
        numpys.allocator.free(numpys.allocator.ctx, data, size)
        return
    high_water_remove(&given_out[<int>CPU], kept.nbytes, True)
    if not cache_keep_in_front(kept.cache, kept):
        keep_with_gil(kept)


cdef void keep_with_gil(kept_block_t* kept) noexcept:
    global tx_keeps_gil
    tx_keeps_gil += 1
    kept_block_keep(kept, True)
    tx_keeps_gil -= 1


cdef inline PyObject* asked_for(void* ctx) noexcept:
    """Return the allocator of a block; NULL if it takes longer to find, or if NumPy's own memory serves."""
    cdef PyObject* asked = (<PyObject**>ctx)[0]
    if asked == <PyObject*>None:
        return NULL if scopes_were_used else serving[<int>CPU]
    return asked


cdef inline bint may_be_kept(PyObject* asked) noexcept:
    """Return whether nothing more is to be done than to take out a block that is kept."""
    return asked != NULL and listener_count == 0 and type_of(asked) == <PyTypeObject*>CachingAllocator


cdef inline void* give_out(kept_block_t* kept, size_t size) noexcept:
    """Count a block while there are no listeners, and return its address."""
    kept.nbytes, kept.stamp = size, 0
    if not kept.has_header or high_water_add(&given_out[<int>CPU], size, True):
        return give_out_slowly(kept)
    return kept.block.data


cdef void* give_out_slowly(kept_block_t* kept) noexcept:
    cdef data_ptr_t block
    if kept.has_header:
        tell_allocation(kept.block.data, kept.nbytes, CPU, kept.cache.allocator)
        return kept.block.data
    kept_block_give_out(kept, kept.nbytes)
    kept_block_point(kept, &block)
    try:
        enter_record(<Allocator>kept.cache.allocator, kept.nbytes, &block)
    except MemoryError:
        return NULL
    return block.data


cdef void* take_slowly(void* ctx, size_t size, bint zeroed) noexcept:
    cdef data_ptr_t block
    cdef kind_t before = exchange_kind(NUMPY_ARRAY if ctx == &server else TENSIX_BLOCK)
    try:
        ask(ctx, size, zeroed, &block)
    except BaseException as error:
        error.__traceback__ = None  # it would keep what the allocator's frames hold
        FAILURES[PyThread_get_thread_ident()] = size, error, ctx != &server
        return NULL
    finally:
        exchange_kind(before)
    return block.data


cdef int ask(void* ctx, size_t size, bint zeroed, data_ptr_t* out) except -1:
    """Allocate a block, and make a record of it if it needs one."""
    cdef PyObject* asked = (<PyObject**>ctx)[0]
    cdef Allocator allocator = current_allocator(CPU) if asked == <PyObject*>None else <Allocator>asked
    if type(allocator) is CachingAllocator and (<CachingAllocator>allocator).is_over_cpu:
        CachingAllocator_allocate(allocator, size, zeroed, out)
        if may_be_read_in_front(out.data):
            return 0
    else:
        Allocator_allocate(allocator, size, out)
        if zeroed:
            CPUBlock_zero(out.data, size)
    return enter_record(allocator, size, out)


cdef int enter_record(Allocator allocator, size_t nbytes, data_ptr_t* block) except -1:
    """Make a record of a block, or free it."""
    if not record_put(<PyObject*>allocator, nbytes, block):
        data_ptr_destroy_with_gil(block)
        raise MemoryError("no memory to keep track of a block.")
    Py_INCREF(allocator)
    return 0


cdef void release_slowly(void* data, size_t size) noexcept:
    global tx_keeps_gil
    cdef pending_exception_t pending = save_exception()  # an array may go while an error is on its way
    cdef record_t record
    cdef kept_block_t* kept
    tx_keeps_gil += 1
    if record_take(data, &record):
        data_ptr_destroy_with_gil(&record.block)
        decref_with_gil(record.allocator)
    else:
        kept = kept_block_at(data)
        if kept != NULL:
            kept_block_free(kept, True)
        else:
            numpys.allocator.free(numpys.allocator.ctx, data, size)
    tx_keeps_gil -= 1
    restore_exception(pending)


cdef size_t nbytes_of_block(void* data) noexcept:
    """Return how many bytes were asked for, 0 if the block is not ours."""
    cdef record_t record
    if record_find(data, &record):
        return record.nbytes
    cdef kept_block_t* kept = kept_block_at(data)
    return kept.nbytes if kept != NULL else 0


# ---- for where NumPy computes for tensix


cdef object allocator_of_block(void* data):
    """Return the allocator of a block that NumPy has from us; None if it is gone."""
    cdef record_t record
    if record_find(data, &record):
        return <object>record.allocator
    cdef kept_block_t* kept = kept_block_at(data)
    cdef PyObject* found = NULL if kept == NULL else kept.cache.allocator
    return stolen(found) if found != NULL and tx_take_reference(found) else None


cdef void take_block(void* data, data_ptr_t* out) noexcept:
    """Move a block that NumPy has from us out of its hands."""
    cdef record_t record
    if record_take(data, &record):
        data_ptr_move(out, &record.block)
        decref_with_gil(record.allocator)
    else:
        kept_block_point(kept_block_at(data), out)


cdef object take_failure():
    """Return what an allocator raised in this thread where NumPy could only raise its own error; None if nothing."""
    return FAILURES.pop(PyThread_get_thread_ident(), (0, None))[1]


cdef int fill_in(PyDataMem_Handler* handler, PyObject** who) except -1:
    handler.name[:7] = b"tensix\0"
    handler.version = 1
    handler.allocator.ctx = who
    handler.allocator.malloc, handler.allocator.calloc = allocate, allocate_zeros
    handler.allocator.realloc, handler.allocator.free = reallocate, release
    return 0


fill_in(&served, &server)
fill_in(&results, &in_use)
RESULTS_HANDLER = PyCapsule_New(&results, "mem_handler", NULL)
