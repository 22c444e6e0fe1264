"""What other people's Cython may use: ``from tensix cimport incref``. No C header is needed.

The classes are opaque: use the functions. See docs/cython.md for what is promised.
"""
from tensix.core.allocator cimport Allocator
from tensix.core.intrusive_ptr cimport (
    IntrusivePtr,
    IntrusiveTarget,
    WeakIntrusivePtr,
    decref,
    incref,
    lock,
    steal_from_new,
    use_count,
    weak_decref,
    weak_incref,
    weak_use_count,
)
from tensix.core.storage cimport Storage
