# cython: language_level=3
"""A shelf that keeps strong counts of targets in a C array, and gives them back without the GIL."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from tensix cimport IntrusivePtr, IntrusiveTarget, decref, incref, steal_from_new, use_count

cdef enum:
    CAPACITY = 8


cdef class Counter(IntrusiveTarget):
    """A target with a C field; `destroy` is its destructor and needs no GIL."""

    cdef public long value


cdef class Shelf:
    """Own up to 8 targets by raw counts."""

    cdef PyObject* targets[CAPACITY]
    cdef int count

    def put(self, IntrusiveTarget target not None):
        if self.count == CAPACITY:
            raise IndexError("the shelf is full.")
        incref(target)  # the count keeps the Python object too
        self.targets[self.count] = <PyObject*>target
        self.count += 1

    def clear(self):
        with nogil:
            Shelf_clear(self)

    def __dealloc__(self):
        Shelf_clear(self)


cdef void Shelf_clear(Shelf self) noexcept nogil:
    while self.count > 0:
        self.count -= 1
        decref(<IntrusiveTarget>self.targets[self.count])


def make_counter(long value):
    """Return the first owner of a new target."""
    cdef Counter counter = Counter()
    counter.value = value
    cdef IntrusivePtr pointer = steal_from_new(counter)
    return pointer


def count_of(IntrusiveTarget target):
    cdef uint32_t count
    with nogil:
        count = use_count(target)
    return count
