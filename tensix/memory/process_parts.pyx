"""What the C library and Python manage of the memory of this process; from ``process_parts.h``."""

from libc.stdint cimport int64_t, uintptr_t
from tensix.core.pages cimport tx_resident_bytes

cdef extern from "tensix/memory/process_parts.h":
    ctypedef struct tx_resident_t:
        size_t now, most, files, shared
        int64_t at_ns
    tx_resident_t tx_resident_now() nogil
    void tx_heap_bytes(size_t* used, size_t* unused) nogil
    void tx_count_arenas()
    size_t tx_arena_bytes

cdef bint are_counted = False


def resident_now():
    """Return the bytes in main memory now, the most that ever were, the time in nanoseconds, and how many of the bytes
    are pages of files, pages of shared memory, in use in the C library's heaps, and free but kept there.

    What is unknown is 0. All are read without the GIL, for which other threads would make this one wait in between.
    """
    cdef tx_resident_t found
    cdef size_t used, unused
    with nogil:
        found = tx_resident_now()
        tx_heap_bytes(&used, &unused)
    return found.now, found.most, found.at_ns, found.files, found.shared, used, unused


def resident_in(uintptr_t begin, uintptr_t end):
    """Return how many bytes of a region are in main memory."""
    cdef size_t nbytes = 0
    if begin != end:  # else the GIL stays here, for which another thread would make this one wait
        with nogil:
            nbytes = tx_resident_bytes(<void*>begin, end - begin)
    return nbytes


def arena_bytes():
    """Return the bytes of the interpreter's arenas, which have its small objects; from now on they are counted."""
    global are_counted
    if not are_counted:
        are_counted = True
        tx_count_arenas()
    return tx_arena_bytes
