"""Owned memory: an address, a context and the function that frees the context."""
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, uintptr_t

# Called with the context, from any thread, with or without the GIL. See Note [GIL and finalisation].
ctypedef void (*deleter_t)(void* ctx) noexcept nogil


cdef struct data_ptr_t:
    void* data             # where the bytes are; not owned
    void* ctx              # what the deleter gets; owned unless NULL
    deleter_t deleter      # NULL: nothing to do
    PyObject* keep_alive   # owned reference to whatever the deleter needs, or NULL
    int8_t device_type
    int8_t device_index


cdef class DataPtr:
    cdef data_ptr_t own
    cdef data_ptr_t* seen    # &own, or that of `lender`
    cdef object lender       # None, or who owns what is only looked at


# Private to tensix.
cdef struct closure_t:
    PyObject* function  # owned
    void* data

cdef void run_closure(void* ctx) noexcept nogil
cdef void data_ptr_init(data_ptr_t* self, void* data, void* ctx, deleter_t deleter) noexcept nogil
cdef void data_ptr_clear(data_ptr_t* self) noexcept nogil
cdef void data_ptr_destroy(data_ptr_t* self) noexcept nogil
cdef void destroy_reference(PyObject* reference) noexcept nogil
cdef void data_ptr_destroy_with_gil(data_ptr_t* self) noexcept nogil
cdef int add_deleter_with_gil(deleter_t deleter, deleter_t with_gil) except -1
cdef void data_ptr_move(data_ptr_t* self, data_ptr_t* source) noexcept nogil
cdef DataPtr DataPtr_wrap(data_ptr_t* source)
cdef DataPtr DataPtr_borrow(data_ptr_t* source, object lender)
cdef int DataPtr_move_out(DataPtr self, data_ptr_t* target) except -1
cdef uintptr_t address_from_any(object address, str what) except? 0
cdef void* c_function_from_any(object function, str role, str hint) except? NULL
