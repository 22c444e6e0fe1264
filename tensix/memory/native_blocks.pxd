"""Private: which library and which lines of Python asked for a block, read inside `malloc`."""
from libc.stdint cimport uint32_t, uint64_t

cdef extern from "tensix/memory/running_code.h" nogil:
    ctypedef struct tx_position_t:
        pass

cdef extern from "tensix/memory/preloaded.h" nogil:
    enum:
        TX_SHARED_MAPPING
    ctypedef struct tx_native_hooks_t:
        void (*made)(void* data, size_t nbytes, int is_mapping, void* caller) noexcept nogil
        size_t (*gone)(void* data) noexcept nogil
        size_t (*unmapped)(void* begin, size_t nbytes, bint is_own) noexcept nogil
        const char* begin
        const char* end
    ctypedef struct tx_preloaded_t:
        void (*lock)() noexcept nogil
        void (*unlock)() noexcept nogil
        void (*ignore)(int change) noexcept nogil
        void (*listen)(const tx_native_hooks_t* hooks) noexcept nogil

cdef enum:
    PYTHON_LIBRARY = 1      # numbers of libraries; 0 is one that is not known
    PYTHON_ARENAS = 2
    MOST_POSITIONS = 256

cdef struct origin_t:
    uint32_t library
    uint32_t length
    uint64_t hash
    uint64_t thread             # its ident, 0 for one without Python
    tx_position_t positions[256]  # MOST_POSITIONS

cdef const tx_preloaded_t* preloaded  # NULL: it is not there

cdef bint listen(tx_native_hooks_t* hooks) noexcept
# Say who asks now, without the lock; then give that a number, with it: 0 if there is no memory.
cdef void take_origin(origin_t* out, void* caller, bint is_mapping) noexcept nogil
cdef uint32_t number_of_origin(const origin_t* origin) noexcept nogil
