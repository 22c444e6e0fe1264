"""Private: the positions that a mask selects, and those of values in a tensor that is in order."""
from libc.stdint cimport int64_t
from tensix.loops.item cimport ordered_t
from tensix.tensors.tensor_impl cimport TensorImpl

cdef enum:
    TOGETHER = 32  # values, whose reads overlap


cdef list places_of_mask(TensorImpl x)


cdef inline void find_places(
        const ordered_t* ordered, int64_t length, const ordered_t* values, int64_t count, bint from_right,
        int64_t* places) noexcept nogil:
    """Find how many elements are before each of a few values, by halving what is left for all of them at a time."""
    cdef int64_t left = length
    cdef int64_t half, i
    for i in range(count):
        places[i] = 0
    while left > 0:
        half = (left + 1) // 2
        for i in range(count):  # without branches: which half it is cannot be foreseen
            places[i] += half * is_before(ordered[places[i] + half - 1], values[i], from_right)
        left -= half


cdef inline bint is_before(ordered_t element, ordered_t value, bint from_right) noexcept nogil:
    """Return whether an element is less, or not greater. As in sorting, not-a-numbers come last."""
    if ordered_t is float or ordered_t is double:
        if from_right:
            return (element <= value) | (value != value)
        return (element < value) | ((value != value) & (element == element))
    else:
        return element <= value if from_right else element < value
