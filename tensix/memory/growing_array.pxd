"""Private: arrays in C that grow."""
from libc.stdlib cimport realloc


cdef inline bint grow(void** items, size_t* capacity, size_t item_bytes) noexcept nogil:
    """Make an array twice as long, and 64 items at least; return whether there was memory."""
    cdef size_t longer = 2 * capacity[0] + 64
    cdef void* larger = realloc(items[0], longer * item_bytes)
    if larger != NULL:
        items[0], capacity[0] = larger, longer
    return larger != NULL
