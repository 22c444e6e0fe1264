"""Private: which dispatch keys the running thread adds to every call and takes from it."""
from libc.stdint cimport uint64_t

cdef int interventions  # guards, listeners and watchers in the whole process; while 0, calls read nothing else

cdef void intervene(int change) noexcept
cdef uint64_t local_keys(uint64_t keys) noexcept nogil
