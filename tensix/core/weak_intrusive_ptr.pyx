"""The weak pointer to an intrusive target."""
cimport cython
from types import GenericAlias

from cpython.object cimport PyObject_RichCompare
from cpython.ref cimport PyObject
from libc.stdint cimport uintptr_t
from tensix.core.combined_refcount cimport lock_word, weak_incref_word
from tensix.core.free_threading cimport TX_COUNT, tx_exchange, tx_swap
from tensix.core.intrusive_ptr cimport IntrusivePtr
from tensix.core.intrusive_target cimport (
    IntrusiveTarget, IntrusiveTarget_check_weak_unclaimed, IntrusiveTarget_describe, IntrusiveTarget_no_owner,
    use_count, weak_decref, weak_use_count,
)

__all__ = ["WeakIntrusivePtr"]


@cython.freelist(64)
cdef class WeakIntrusivePtr:
    """WeakIntrusivePtr(strong=None)\n--\n
    Point to a target without keeping it alive.

    Parameters
    ----------
    strong : IntrusivePtr or None, optional
        The pointer whose target to watch; null makes a null weak pointer. Unlike C++'s it can be made without
        one, so that a cycle can be built and broken.

    Notes
    -----
    Lifetime: the target's resources go with its last strong handle; the Python object stays until the last weak
    one is gone. Comparison and hash use the address and stay valid after expiry.

    Thread-safety: as for `IntrusivePtr`.

    Examples
    --------
    >>> from tensix.core import IntrusiveTarget, WeakIntrusivePtr, make_intrusive
    >>> strong = make_intrusive(IntrusiveTarget)
    >>> weak = WeakIntrusivePtr(strong)
    >>> strong.reset()
    >>> weak.expired(), weak.lock().defined()
    (True, False)
    """

    __class_getitem__ = classmethod(GenericAlias)  # WeakIntrusivePtr[Node], for annotations

    def __init__(self, strong=None):
        if strong is not None and not isinstance(strong, IntrusivePtr):
            raise TypeError(f"WeakIntrusivePtr() watches the target of an IntrusivePtr, found {type(strong).__name__}.")
        cdef IntrusiveTarget target = None if strong is None else (<IntrusivePtr>strong).target
        if target is None:
            self.reset()
        else:
            WeakIntrusivePtr_watch(self, target)

    def __dealloc__(self):
        drop_weak_handle(self.target)

    @classmethod
    def reclaim(cls, IntrusiveTarget target):
        """Take over a weak count that `release()` or C code left with a bare target.

        Raises
        ------
        RuntimeError
            If the target has no weak count that could be taken over.
        """
        cdef WeakIntrusivePtr pointer = cls.__new__(cls)
        if target is None:
            return pointer
        IntrusiveTarget_check_weak_unclaimed(target, "reclaim")
        TX_COUNT(target.weak_handle_count, 1)
        pointer.target = <PyObject*>target
        return pointer

    @classmethod
    def reclaim_copy(cls, IntrusiveTarget target):
        """Make a weak pointer to a target whose weak count the caller keeps.

        Raises
        ------
        RuntimeError
            If the target has no count of either kind.
        """
        cdef WeakIntrusivePtr pointer = cls.__new__(cls)
        if target is not None:
            WeakIntrusivePtr_watch(pointer, target)
        return pointer

    def lock(self):
        """Return a strong pointer to the target, null if it has expired (one locked instruction)."""
        cdef IntrusivePtr strong = IntrusivePtr.__new__(IntrusivePtr)
        cdef PyObject* target = self.target
        if target != NULL and lock_word(&(<IntrusiveTarget>target).combined_refcount):
            strong.target = <IntrusiveTarget>target
            TX_COUNT(strong.target.handle_count, 1)
        return strong

    def __bool__(self):
        """Return whether the pointer is not null; ask `expired` whether the target is alive."""
        return self.target != NULL

    def expired(self):
        """Return whether no strong handle is left; True for null."""
        return self.use_count() == 0

    def use_count(self):
        """Return the number of strong counts, 0 for null or expired."""
        return 0 if self.target == NULL else use_count(<IntrusiveTarget>self.target)

    def weak_use_count(self):
        """Return the number of weak handles, plus one while a strong one is left; 0 for null."""
        return 0 if self.target == NULL else weak_use_count(<IntrusiveTarget>self.target)

    def reset(self):
        """Become null; frees the target object if it was dead and this the last weak handle."""
        drop_weak_handle(tx_exchange(<PyObject*>self, &self.target, NULL))

    def release(self):
        """Give out the bare target with its weak count and become null; None when null."""
        cdef PyObject* target = tx_exchange(<PyObject*>self, &self.target, NULL)
        if target == NULL:
            return None
        TX_COUNT((<IntrusiveTarget>target).weak_handle_count, -1)
        return <IntrusiveTarget>target

    def swap(self, WeakIntrusivePtr other not None):
        """Exchange targets with another weak pointer; no count changes."""
        tx_swap(&self.target, &other.target)

    def copy(self):
        """Return a further weak pointer to the same target (one locked instruction)."""
        cls = type(self)
        cdef WeakIntrusivePtr twin = cls.__new__(cls)
        if self.target != NULL:
            WeakIntrusivePtr_watch(twin, <IntrusiveTarget>self.target)
        return twin

    __copy__ = copy

    def move(self):
        """Return a weak pointer that takes the target over; this one becomes null."""
        cls = type(self)
        cdef WeakIntrusivePtr heir = cls.__new__(cls)
        heir.target = tx_exchange(<PyObject*>self, &self.target, NULL)
        return heir

    def unsafe_get_target(self):
        """Return the bare target even if it has expired; None when null."""
        return None if self.target == NULL else <IntrusiveTarget>self.target

    def __richcmp__(self, other, int op):
        if other is not None and not isinstance(other, WeakIntrusivePtr):
            return NotImplemented
        return PyObject_RichCompare(WeakIntrusivePtr_address(self), WeakIntrusivePtr_address(other), op)

    def __hash__(self):
        return hash(<uintptr_t>self.target)

    def __repr__(self):
        if self.target == NULL:
            return f"{type(self).__name__}(null)"
        return f"{type(self).__name__}({IntrusiveTarget_describe(<IntrusiveTarget>self.target)})"


cdef uintptr_t WeakIntrusivePtr_address(object pointer) noexcept:
    return 0 if pointer is None else <uintptr_t>(<WeakIntrusivePtr>pointer).target


cdef int WeakIntrusivePtr_watch(WeakIntrusivePtr self, IntrusiveTarget target) except -1:
    """Take a weak count of a target, in place of what the pointer has."""
    if not weak_incref_word(&target.combined_refcount):
        raise RuntimeError(IntrusiveTarget_no_owner(target, "watch"))
    TX_COUNT(target.weak_handle_count, 1)
    drop_weak_handle(tx_exchange(<PyObject*>self, &self.target, <PyObject*>target))
    return 0


cdef void drop_weak_handle(PyObject* target) noexcept:
    """Drop the weak count that a handle had, if it had one."""
    if target != NULL:
        TX_COUNT((<IntrusiveTarget>target).weak_handle_count, -1)
        weak_decref(<IntrusiveTarget>target)
