"""Private: what is alive, by the line that allocated it."""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint32_t
from tensix.core.memory_reporter cimport memory_listener_t
from tensix.memory.block_table cimport block_table_t
from tensix.memory.call_site cimport CallSites


cdef struct line_numbers_t:
    char* text              # "train.py:12 in step"; owned
    int64_t current_bytes
    int64_t current_count
    int64_t peak_bytes
    int64_t total_bytes
    int64_t total_count


cdef struct line_table_t:
    memory_listener_t listener
    PyObject* owner         # the `Profile`; borrowed
    block_table_t living    # address -> position of its line
    line_numbers_t* lines   # the first one is the sum of all
    uint32_t line_count
    uint32_t line_capacity
    uint32_t* line_of_site  # 0: not looked up yet
    uint32_t site_capacity


cdef class Profile:
    cdef line_table_t table
    cdef CallSites sites
    cdef list places        # Frame of each line but the first
    cdef dict positions     # Frame -> position of its line
    cdef bint was_entered
    cdef readonly bint quiet
