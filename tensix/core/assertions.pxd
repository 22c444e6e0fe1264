"""Private: the assertions of debug builds, of tensix/core/assert.h; in other builds they compile to nothing.

What callers from outside may do wrong is checked in every build and raises. What tensix's own code must not do wrong is
asserted, in the words of an error message: ``TX_ASSERT(uses > 0, "a use that was begun", uses)``.
"""
from libc.stdint cimport int64_t, uint64_t


cdef extern from "tensix/core/assert.h" nogil:
    void TX_ASSERT(bint condition, const char* expected, int64_t found)
    void TX_ASSERT_GIL()
    uint64_t TX_CHECKSUM(const void* bytes, size_t nbytes)
