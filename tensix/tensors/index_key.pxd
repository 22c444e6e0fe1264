"""What stands between the brackets of ``x[...]``."""
from cpython.slice cimport PySlice_Check
from cpython.tuple cimport PyTuple_Check


cdef bint is_position(object key) except -1


cdef inline bint selects_view(object key) except -1:
    """Return whether one part of an index is basic: an int, a slice, Ellipsis or None."""
    return type(key) is int or PySlice_Check(key) or key is None or key is Ellipsis or is_position(key)


cdef inline bint is_basic(object index) except -1:
    """Return whether an index has basic parts only, so that a view shows what it selects."""
    if not PyTuple_Check(index):
        return selects_view(index)
    for key in <tuple>index:
        if not selects_view(key):
            return False
    return True
