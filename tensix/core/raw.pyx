"""Counts on bare targets, as C code keeps them: the functions own nothing, every call is a promise.

C and Cython code calls the functions of the same names in ``tensix/core/intrusive_target.pxd``, which need no GIL, or
keeps a count in a `StrongCount`. From Python each call checks what C++ leaves undefined. None is a null pointer.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from tensix.core.combined_refcount cimport lock_word, weak_incref_word
from tensix.core.intrusive_target cimport (
    IntrusiveTarget, IntrusiveTarget_check_unclaimed, IntrusiveTarget_check_weak_unclaimed, IntrusiveTarget_no_owner,
)
from tensix.core cimport intrusive_target

__all__ = ["decref", "incref", "lock", "make_weak", "use_count", "weak_decref", "weak_incref"]


def incref(IntrusiveTarget target):
    """Add a strong count.

    Raises
    ------
    RuntimeError
        If the target has no owner: a strong count never rises from zero.

    Examples
    --------
    >>> from tensix.core import IntrusiveTarget, make_intrusive, raw
    >>> pointer = make_intrusive(IntrusiveTarget)
    >>> raw.incref(pointer.get())
    >>> raw.use_count(pointer.get())
    2
    >>> raw.decref(pointer.get())
    """
    # By compare-and-swap, not by the faster fetch-and-add of C code: a mistaken call must not be seen by others.
    if target is not None and not lock_word(&target.combined_refcount):
        raise RuntimeError(IntrusiveTarget_no_owner(target, "incref"))


def decref(IntrusiveTarget target):
    """Take away a strong count that no handle holds.

    Raises
    ------
    RuntimeError
        If there is no such count.
    """
    if target is not None:
        IntrusiveTarget_check_unclaimed(target, "decref")
        intrusive_target.decref(target)


def use_count(IntrusiveTarget target):
    """Return the strong count, 0 for None or an expired target."""
    return intrusive_target.use_count(target)


def make_weak(IntrusiveTarget target):
    """Add a weak count and return the target, for `weak_decref()` or `WeakIntrusivePtr.reclaim()` to take.

    Raises
    ------
    RuntimeError
        If the target has no owner.
    """
    weak_incref(target)
    return target


def weak_incref(IntrusiveTarget target):
    """Add a weak count.

    Raises
    ------
    RuntimeError
        If the target has no count of either kind.
    """
    if target is not None and not weak_incref_word(&target.combined_refcount):
        raise RuntimeError(IntrusiveTarget_no_owner(target, "weak_incref"))


def weak_decref(IntrusiveTarget target):
    """Take away a weak count.

    Raises
    ------
    RuntimeError
        If there is none.
    """
    if target is not None:
        IntrusiveTarget_check_weak_unclaimed(target, "weak_decref")
        intrusive_target.weak_decref(target)


def lock(IntrusiveTarget target):
    """Add a strong count if one is left.

    Returns
    -------
    IntrusiveTarget or None
        The target, now with one more strong count that the caller must drop; None if it has expired.
    """
    return target if intrusive_target.lock(target) else None


cdef class StrongCount:
    """Own one strong count of a target, or nothing, for Cython code that has no GIL; Python has `IntrusivePtr`.

    Notes
    -----
    Lifetime: the count goes with the object. As a raw count it is nothing that the collector could follow.

    Thread-safety: several threads may own counts of one target; one object is for one thread at a time.
    """

    def __dealloc__(self):
        StrongCount.reset(self)

    cdef PyObject* get(self) noexcept nogil:
        """Return the target, borrowed, or None."""
        return <PyObject*>None if self.target == NULL else self.target

    cdef PyObject* release(self) noexcept nogil:
        """Return the target with its count, or None, and own nothing."""
        cdef PyObject* target = self.get()
        self.target = NULL
        return target

    cdef void reset(self) noexcept nogil:
        """Drop the count."""
        intrusive_target.decref(<IntrusiveTarget>self.release())

    cdef void reclaim(self, IntrusiveTarget target) noexcept nogil:
        """Own a count that somebody left with a target, in place of what was owned."""
        self.reset()
        self.target = NULL if target is None else <PyObject*>target

    cdef void reclaim_copy(self, IntrusiveTarget target) noexcept nogil:
        """Own a further count of a target that somebody owns."""
        intrusive_target.incref(target)
        self.reclaim(target)

    cdef void swap(self, StrongCount other) noexcept nogil:
        self.target, other.target = other.target, self.target

    cdef uint32_t use_count(self) noexcept nogil:
        """Return the strong count of the target, 0 without one."""
        return intrusive_target.use_count(<IntrusiveTarget>self.get())
