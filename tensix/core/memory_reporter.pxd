"""Private: the one place where an allocation, a free, a failure and a copy are counted and told to whoever listens."""
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint32_t, uint64_t


# What a listener in C is. See Note [Listening in C].
cdef struct memory_listener_t:
    void* state
    void (*allocated)(void* state, const new_block_t* block) noexcept
    void (*freed)(void* state, void* data, size_t nbytes, uint64_t birth, bint holds_gil) noexcept nogil
    void (*failed)(void* state, size_t nbytes) noexcept
    void (*copied)(void* state, size_t nbytes) noexcept
    uint64_t since          # births of blocks made before it began to listen are lower


cdef struct new_block_t:
    void* data
    size_t nbytes
    uint64_t birth          # see Note [Births]
    uint32_t thread         # number of the thread, from 1
    PyObject* allocator     # who made it; borrowed

cdef enum:
    EPOCH_BITS = 40         # of a birth; above them is the thread's number

cdef int listener_count  # of Python's and C's; read without a lock before every report; 0 nearly always

cdef class MemoryReporter:
    pass

# For whoever makes memory. See Note [Who reports]. All but report_free() with the GIL.
cdef uint64_t report_allocation(void* data, size_t nbytes, int8_t device_type, PyObject* allocator) noexcept
cdef void report_free(void* data, size_t nbytes, int8_t device_type, uint64_t birth, bint has_gil) noexcept nogil
cdef void report_out_of_memory(size_t nbytes, int8_t device_type) noexcept
cdef void report_copy(size_t nbytes) noexcept
cdef uint64_t bytes_given_out(int8_t device_type) noexcept nogil

# Their second halves. Declared here, the C compiler does not fold them into the first ones, which nearly always suffice
# and then save no registers.
cdef uint64_t tell_allocation(void* data, size_t nbytes, int8_t device_type, PyObject* allocator) noexcept
cdef void tell_free(void* data, size_t nbytes, int8_t device_type, uint64_t birth, bint has_gil) noexcept nogil
cdef void tell_reporters(void* data, int64_t nbytes, uint64_t total, int8_t device_type) noexcept

# For listeners, which have to stop before they die.
cdef int start_listening(memory_listener_t* listener) except -1
cdef void stop_listening(memory_listener_t* listener) noexcept
cdef uint32_t current_thread_number() noexcept
cdef void lock_listeners() noexcept nogil
cdef void unlock_listeners() noexcept nogil


cdef inline bint is_born_since(uint64_t birth, const memory_listener_t* listener) noexcept nogil:
    """Whether a block was made after a listener began to listen. See Note [Births]."""
    return (birth & ((<uint64_t>1 << EPOCH_BITS) - 1)) >= listener.since


cdef inline uint32_t thread_of_birth(uint64_t birth) noexcept nogil:
    return <uint32_t>(birth >> EPOCH_BITS)
