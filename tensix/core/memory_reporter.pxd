"""Private: telling whoever listens about every allocation and free."""
from libc.stdint cimport int8_t, int64_t

cdef int reporter_count  # read without a lock before every report; 0 nearly always

cdef class MemoryReporter:
    pass

cdef void report_memory_usage(void* data, int64_t nbytes, int64_t total, int8_t device_type) noexcept nogil
cdef void report_out_of_memory(size_t nbytes, int64_t total, int8_t device_type) noexcept nogil
