"""Private: which dispatch keys the running thread adds to every call and takes from it."""
from libc.stdint cimport uint64_t

cdef int active_hooks  # guards, listeners and watchers of the process; while 0, calls read nothing else

cdef void count_hooks(int change) noexcept
cdef uint64_t local_keys(uint64_t keys) noexcept nogil
