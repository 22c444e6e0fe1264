"""Private: the one place where an allocation, a free, a failure and a copy are counted and told to the listeners."""
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint32_t, uint64_t
from tensix.core.usage cimport high_water_add, high_water_remove, high_water_t


cdef struct new_block_t:
    void* data
    size_t nbytes
    uint64_t stamp          # see Note [Stamps]
    PyObject* allocator     # who made it; borrowed

cdef enum:
    EPOCH_BITS = 40         # of a stamp; above them is the thread's number

# What is done with a block that a storage has. See Note [Watching uses].
ctypedef enum use_t:
    OWNED           # a storage got it, and no one else has it
    READ
    WRITTEN
    EXPORTED        # somebody outside has its address, until that is
    RETURNED
    OUT_OF_SIGHT    # from now on it may be used in ways that no one sees

# Whose array or tensor a block is for.
ctypedef enum kind_t:
    TENSIX_BLOCK
    NUMPY_ARRAY
    TORCH_TENSOR
    NATIVE_BLOCK    # of another library, which asked for it itself

cdef extern from *:
    """
    typedef struct { PyObject *operator; uint64_t number; int depth; } tx_operation_t;
    """
    ctypedef struct operation_t "tx_operation_t":  # the operator call in which a thread is
        PyObject* operator  # borrowed; NULL if it is in none
        uint64_t number     # of the call, from 1
        int depth           # of calls inside that one

ctypedef void (*switch_t)(bint on) noexcept


# The base class of listeners in C. See Note [Listening].
cdef class MemoryListener:
    cdef uint64_t since         # the epoch that began with it, 0 before
    cdef bint is_listening
    cdef bint needs_lock        # whether freed() asks for the lock also where the GIL is held; set before it listens
    cdef bint watches_uses      # whether it is called for uses; set before it listens
    # What a subclass overrides: what it does about each event, and what it says if it is to begin a second time.
    cdef void allocated(self, const new_block_t* block) noexcept
    cdef void allocated_without_python(self, const new_block_t* block) noexcept nogil
    cdef void freed(self, void* data, size_t nbytes, uint64_t stamp) noexcept nogil
    cdef void failed(self, size_t nbytes) noexcept
    cdef void copied(self, size_t nbytes) noexcept
    cdef void used(self, void* data, use_t use) noexcept
    cdef str only_once(self)

cdef int start_listening(MemoryListener listener) except -1
cdef void stop_listening(MemoryListener listener) noexcept
cdef void lock_listeners() noexcept nogil
cdef void unlock_listeners() noexcept nogil
cdef uint32_t current_thread_number() noexcept nogil
cdef bint python_knows_thread() noexcept nogil


cdef class MemoryReporter:
    pass

cdef high_water_t* given_out  # what is in use of each device type. See Note [A peak for one branch]
cdef int listener_count       # reporters are among them; read without a lock before every report; 0 nearly always

cdef uint64_t tell_allocation(void* data, size_t nbytes, int8_t device_type, PyObject* allocator) noexcept
cdef void tell_free(void* data, size_t nbytes, int8_t device_type, uint64_t stamp, bint has_gil) noexcept nogil


# For code that makes memory. See Note [Who reports].
cdef inline uint64_t report_allocation(
        void* data, size_t nbytes, int8_t device_type, PyObject* allocator) noexcept:
    """Count a block that is given out with the GIL, and return its stamp."""
    if high_water_add(&given_out[device_type], nbytes, True) or listener_count != 0:
        return tell_allocation(data, nbytes, device_type, allocator)
    return 0


cdef uint64_t report_allocation_without_gil(
    void* data, size_t nbytes, int8_t device_type, PyObject* allocator) noexcept nogil


cdef inline void report_free(
        void* data, size_t nbytes, int8_t device_type, uint64_t stamp, bint has_gil) noexcept nogil:
    """Count a block that comes back, while its bytes are still there."""
    high_water_remove(&given_out[device_type], nbytes, has_gil)
    if listener_count != 0:
        tell_free(data, nbytes, device_type, stamp, has_gil)


cdef void report_out_of_memory(size_t nbytes, int8_t device_type) noexcept
cdef void report_copy(size_t nbytes) noexcept
cdef uint64_t bytes_given_out(int8_t device_type) noexcept nogil
cdef kind_t current_kind() noexcept nogil
cdef kind_t exchange_kind(kind_t kind) noexcept nogil

# All of it with the GIL. See Note [Watching uses].
cdef int use_watchers  # listeners that watch uses; nearly always 0
cdef void call_when_watched(switch_t switch) noexcept
cdef void report_use(void* data, use_t use) noexcept
cdef void begin_operation(PyObject* operator) noexcept
cdef void end_operation() noexcept
cdef const operation_t* current_operation() noexcept


cdef inline uint32_t thread_of_stamp(uint64_t stamp) noexcept nogil:
    """Return the number of the thread that allocated a block, from 1."""
    return <uint32_t>(stamp >> EPOCH_BITS)
