"""What other people's Cython may use: ``from tensix cimport incref``. No C header is needed.

The classes are opaque: use the functions. See docs/cython.md for what is promised.
"""
from tensix.core.allocator cimport Allocator
from tensix.core.intrusive_ptr cimport IntrusivePtr, steal_from_new
from tensix.core.intrusive_target cimport (
    IntrusiveTarget,
    decref,
    incref,
    lock,
    use_count,
    weak_decref,
    weak_incref,
    weak_use_count,
)
from tensix.core.storage cimport Storage
from tensix.core.weak_intrusive_ptr cimport WeakIntrusivePtr
