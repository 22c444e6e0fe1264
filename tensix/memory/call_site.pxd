"""Private: which lines of Python called, taken cheaply and looked up later."""
from libc.stdint cimport int32_t, uint32_t
from tensix.memory.block_table cimport block_table_t

cdef extern from "Python.h":
    ctypedef struct PyCodeObject:
        pass


cdef struct code_position_t:
    PyCodeObject* code  # its owner is the table, or the running frame
    int32_t offset      # of the instruction, in bytes; or the line, as ~line


cdef enum found_user_t:
    NOT_KNOWN
    FOUND
    MISSING


cdef struct call_site_t:
    uint32_t first     # position of its innermost frame
    uint32_t length
    uint32_t number    # which site has the same lines; the site itself if it has no instructions
    found_user_t user  # whether the user's program is in it; asked for those that were cut off


cdef class CallSites:
    cdef readonly int depth
    cdef object origins        # CodeOrigins
    cdef uint32_t site_count, frame_count
    cdef size_t site_capacity, frame_capacity
    cdef call_site_t* sites    # site 0 has no frames
    cdef code_position_t* positions
    cdef block_table_t of_hash  # hash of positions -> their site

# Return the number of the current thread's stack, 0 if it has none or memory runs out; with the GIL.
cdef uint32_t CallSites_capture(CallSites self) noexcept
