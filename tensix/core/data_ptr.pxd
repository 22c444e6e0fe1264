"""Owned memory: an address, a context and the function that frees the context."""
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, uintptr_t
from tensix.core.device cimport CPU

# Called with the context, from any thread, with or without the GIL. See Note [GIL and finalisation].
ctypedef void (*deleter_t)(void* ctx) noexcept nogil

# Says what a context is, as a dict; with the GIL. Memory inside it comes under "block", by data_ptr_facts.
ctypedef dict (*context_facts_t)(void* ctx)

# What is known of a kind of block; static. See Note [Operations of a block].
cdef struct data_ptr_operations_t:
    deleter_t free           # the deleter
    deleter_t free_with_gil  # does the same while the GIL is held, or NULL
    const char* name         # of the deleter
    const char* context      # what its contexts are
    context_facts_t facts    # reads one; NULL: there is nothing to say


cdef struct data_ptr_t:
    void* data              # where the bytes are; not owned
    void* ctx               # what the deleter gets; owned unless NULL
    deleter_t deleter       # NULL: nothing to do
    PyObject* keep_alive    # owned reference to whatever the deleter needs, or NULL
    int8_t device_type
    int8_t device_index
    const void* operations  # of the deleter, if it is ours; ask data_ptr_operations


cdef class DataPtr:
    cdef data_ptr_t own
    cdef data_ptr_t* seen    # &own, or that of `borrowed_from`
    cdef object borrowed_from  # None, or the owner of a borrowed pointer


# Private to tensix.
cdef inline void data_ptr_init(
        data_ptr_t* self, void* data, void* ctx, const data_ptr_operations_t* operations) noexcept nogil:
    """Fill a struct that owns nothing yet; the device is the CPU."""
    self.data = data
    self.keep_alive = NULL
    self.device_type = CPU
    self.device_index = -1
    data_ptr_own(self, ctx, operations)


cdef inline void data_ptr_own(data_ptr_t* self, void* ctx, const data_ptr_operations_t* operations) noexcept nogil:
    """Fill in what a block that owns nothing is to free, and how; NULL: nothing to do."""
    self.ctx = ctx
    self.deleter = NULL if operations == NULL else operations.free
    self.operations = operations


cdef inline const data_ptr_operations_t* data_ptr_operations(const data_ptr_t* self) noexcept nogil:
    """Return what is known of a block's kind; NULL if nothing is, or if no context is left to read.

    See Note [Operations of a block].
    """
    cdef const data_ptr_operations_t* operations = <const data_ptr_operations_t*>self.operations
    return operations if operations != NULL and operations.free == self.deleter and self.ctx != NULL else NULL


cdef void data_ptr_destroy(data_ptr_t* self) noexcept nogil
cdef void destroy_reference(PyObject* reference) noexcept nogil
cdef void data_ptr_destroy_with_gil(data_ptr_t* self) noexcept nogil
cdef void data_ptr_move(data_ptr_t* self, data_ptr_t* source) noexcept nogil
cdef dict data_ptr_facts(const data_ptr_t* self)
cdef DataPtr DataPtr_wrap(data_ptr_t* source)
cdef DataPtr DataPtr_borrow(data_ptr_t* source, object borrowed_from)
cdef int DataPtr_move_out(DataPtr self, data_ptr_t* target) except -1
cdef uintptr_t address_from_any(object address, str what) except? 0
cdef deleter_t function_of(object deleter) except? NULL
cdef void* c_function_from_any(object function, str role, str hint) except? NULL
