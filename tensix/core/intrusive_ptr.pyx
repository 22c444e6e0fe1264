"""The strong pointer to an intrusive target, and how a target and its first pointer are made."""
cimport cython
from types import GenericAlias

from cpython.object cimport PyObject_RichCompare
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t, uint64_t, uintptr_t
from tensix.core.atomics cimport tx_load_acquire, tx_store_relaxed
from tensix.core.combined_refcount cimport ADAPTED_COUNT, alive_bit, incref_word, lock_word, unique_word, weak_unit
from tensix.core.free_threading cimport TX_COUNT
from tensix.core.handle cimport drop_handle
from tensix.core.intrusive_target cimport (
    IntrusiveTarget, IntrusiveTarget_check_unclaimed, IntrusiveTarget_no_owner, IntrusiveTarget_owned_already,
    IntrusiveTarget_start_unique, use_count, weak_use_count,
)

__all__ = ["IntrusivePtr", "make_intrusive"]

cdef extern from "tensix/core/free_threading.h":
    object exchange_target "TX_EXCHANGE_TARGET" (IntrusivePtr owner, object target)
    void swap_targets "TX_SWAP_TARGETS" (IntrusivePtr one, IntrusivePtr other)


@cython.freelist(64)
@cython.no_gc_clear  # clearing would drop the target before __dealloc__ can give its count back
cdef class IntrusivePtr:
    """IntrusivePtr(other=None)\n--\n
    Own a target with one strong count; null when made without arguments.

    Parameters
    ----------
    other : IntrusivePtr or None, optional
        A pointer to copy; its null becomes this class's null.

    Notes
    -----
    Lifetime: the target lives at least as long as the pointer holds it. A subclass may define a class method
    ``singleton()`` that returns the target standing for null; it is never counted.

    Thread-safety: any thread may use a pointer while it holds the GIL; different pointers to one target need no
    care at all.

    Examples
    --------
    >>> from tensix.core import IntrusivePtr, IntrusiveTarget, make_intrusive
    >>> strong = make_intrusive(IntrusiveTarget)
    >>> moved = strong.move()
    >>> bool(strong), moved.unique()
    (False, True)
    """

    __class_getitem__ = classmethod(GenericAlias)  # IntrusivePtr[Node], for annotations

    def __init__(self, other=None):
        if other is not None and not isinstance(other, IntrusivePtr):
            raise TypeError(
                f"IntrusivePtr() copies another IntrusivePtr, found {type(other).__name__}. "
                "Use make_intrusive() to make a target, or a class method such as reclaim() to adopt one."
            )
        if other is None or (<IntrusivePtr>other).target is None:
            self.reset()
        else:
            IntrusivePtr_adopt(self, (<IntrusivePtr>other).target, counted=False)

    def __dealloc__(self):
        drop_handle(self.target)

    @classmethod
    def singleton(cls):
        """Return the target that represents null in this class, or None."""
        return None

    @classmethod
    def reclaim(cls, IntrusiveTarget target):
        """Take over a strong count that `release()` or C code left with a bare target.

        Raises
        ------
        RuntimeError
            If the target has expired, or every count of it belongs to a handle already (reclaimed twice).
        """
        cdef IntrusivePtr pointer = cls.__new__(cls)
        if target is not None and target is not pointer.singleton():
            IntrusiveTarget_check_unclaimed(target, "reclaim")
            IntrusivePtr_adopt(pointer, target, counted=True)
        return pointer

    @classmethod
    def reclaim_copy(cls, IntrusiveTarget target):
        """Make a pointer to a target whose strong count the caller keeps.

        Raises
        ------
        RuntimeError
            If the target has expired.
        """
        return cls.unsafe_reclaim_from_nonowning(target)

    @classmethod
    def unsafe_steal_from_new(cls, IntrusiveTarget target not None):
        """Give a target that has no owner yet its first one.

        Raises
        ------
        RuntimeError
            If the target has, or had, an owner.
        """
        cdef IntrusivePtr pointer = cls.__new__(cls)
        if target is not pointer.singleton():
            IntrusiveTarget_start_unique(target)
            IntrusivePtr_adopt(pointer, target, counted=True)
        return pointer

    @classmethod
    def unsafe_reclaim_from_nonowning(cls, IntrusiveTarget target):
        """Make a further owner from a borrowed target.

        Raises
        ------
        RuntimeError
            If nothing owns the target.
        """
        cdef IntrusivePtr pointer = cls.__new__(cls)
        if target is not None and target is not pointer.singleton():
            IntrusivePtr_adopt(pointer, target, counted=False)
        return pointer

    @classmethod
    def unsafe_adapt_non_heap_allocated(cls, IntrusiveTarget target not None, uint32_t expected_decrefs=0):
        """Point to a target that some arena owns: its counts are set so high that it never dies by counting.

        Parameters
        ----------
        target : IntrusiveTarget
            A target without owners. The counts own no Python reference of it: keep it alive yourself.
        expected_decrefs : int, 0 to 2**31, optional
            How many strong counts will be dropped that were never taken.

        Raises
        ------
        RuntimeError
            If the target has, or had, an owner.
        """
        cdef IntrusivePtr pointer = cls.__new__(cls)
        if target is pointer.singleton():
            return pointer
        if target.combined_refcount != 0:
            raise RuntimeError(IntrusiveTarget_owned_already(target))
        if expected_decrefs > <uint32_t>1 << 31:
            raise ValueError(f"expected_decrefs must be at most 2**31, found {expected_decrefs}.")
        tx_store_relaxed(
            &target.combined_refcount,
            alive_bit() + ADAPTED_COUNT * weak_unit() + ADAPTED_COUNT + <uint64_t>expected_decrefs,
        )
        IntrusivePtr_adopt(pointer, target, counted=True)
        return pointer

    def get(self):
        """Return the bare target, or None (a subclass's ``singleton()``) when null; nothing is counted."""
        return self.singleton() if self.target is None else self.target

    def release(self):
        """Give out the bare target with its strong count and become null.

        Returns
        -------
        IntrusiveTarget or None
            Still owned: hand it to `reclaim()`, or it is never freed.
        """
        cdef IntrusiveTarget target = exchange_target(self, None)
        if target is None:
            return self.singleton()
        TX_COUNT(target.handle_count, -1)
        return target

    def reset(self):
        """Drop the target and become null."""
        drop_handle(exchange_target(self, None))

    def swap(self, IntrusivePtr other not None):
        """Exchange targets with another pointer; no count changes."""
        swap_targets(self, other)

    def copy(self):
        """Return a further pointer to the same target (one locked instruction)."""
        cdef IntrusivePtr twin
        cdef IntrusiveTarget target
        cls = type(self)
        if cls is IntrusivePtr:
            twin = IntrusivePtr.__new__(IntrusivePtr)
        else:
            twin = cls.__new__(cls)
        target = self.target
        if target is not None:
            if not incref_word(&target.combined_refcount):
                raise RuntimeError(IntrusiveTarget_no_owner(target, "copy a pointer to"))
            TX_COUNT(target.handle_count, 1)
            twin.target = target
        return twin

    __copy__ = copy

    def move(self):
        """Return a pointer that takes the target over; this one becomes null."""
        cls = type(self)
        cdef IntrusivePtr heir = cls.__new__(cls)
        heir.target = exchange_target(self, None)
        return heir

    def use_count(self):
        """Return the number of strong counts, 0 for null."""
        return use_count(self.target)

    def weak_use_count(self):
        """Return the number of weak handles plus one, 0 for null."""
        return weak_use_count(self.target)

    def unique(self):
        """Return whether this is the only strong count; weak handles do not matter."""
        return use_count(self.target) == 1

    def is_uniquely_owned(self):
        """Return whether this is the only strong count and no weak handle is left."""
        return self.target is not None and tx_load_acquire(&self.target.combined_refcount) == unique_word()

    def defined(self):
        """Return whether the pointer is not null."""
        return self.target is not None

    def __bool__(self):
        return self.target is not None

    def __richcmp__(self, other, int op):
        if other is not None and not isinstance(other, IntrusivePtr):
            return NotImplemented
        return PyObject_RichCompare(IntrusivePtr_address(self), IntrusivePtr_address(other), op)

    def __hash__(self):
        return hash(IntrusivePtr_address(self))

    def __enter__(self):
        if self.target is None:
            raise RuntimeError("cannot enter a null IntrusivePtr as a context: it holds no target.")
        return self.target

    def __exit__(self, *exc_info):
        self.reset()

    def __repr__(self):
        if self.target is None:
            return f"{type(self).__name__}(null)"
        return (
            f"{type(self).__name__}({type(self.target).__name__} at {IntrusivePtr_address(self):#x}, "
            f"use_count={use_count(self.target)}, weak_use_count={weak_use_count(self.target)})"
        )


def make_intrusive(cls, *args, **kwargs):
    """Make a target and return the pointer that owns it.

    Parameters
    ----------
    cls : type
        A subclass of `IntrusiveTarget`.
    *args, **kwargs
        For its constructor.

    Returns
    -------
    IntrusivePtr
        The only owner.

    Raises
    ------
    TypeError
        If `cls` is not a subclass of `IntrusiveTarget`.
    RuntimeError
        If the constructor gave the new target an owner.

    Examples
    --------
    >>> from tensix.core import IntrusiveTarget, make_intrusive
    >>> make_intrusive(IntrusiveTarget).is_uniquely_owned()
    True
    """
    if not (isinstance(cls, type) and issubclass(cls, IntrusiveTarget)):
        raise TypeError(f"make_intrusive() makes subclasses of IntrusiveTarget, found {cls!r}.")
    return steal_from_new(cls(*args, **kwargs))


cdef IntrusivePtr steal_from_new(IntrusiveTarget target):
    cdef IntrusivePtr pointer = IntrusivePtr.__new__(IntrusivePtr)
    IntrusiveTarget_start_unique(target)
    target.handle_count = 1
    pointer.target = target
    return pointer


cdef int IntrusivePtr_adopt(IntrusivePtr self, IntrusiveTarget target, bint counted) except -1:
    """Become an owner of `target`, whose count the caller hands over (`counted`) or which is added here."""
    if not counted and not lock_word(&target.combined_refcount):
        raise RuntimeError(IntrusiveTarget_no_owner(target, "own"))
    TX_COUNT(target.handle_count, 1)
    drop_handle(exchange_target(self, target))
    return 0


cdef uintptr_t IntrusivePtr_address(object pointer) noexcept:
    """Return the address of the target of a pointer, 0 for a null one or None."""
    if pointer is None or (<IntrusivePtr>pointer).target is None:
        return 0
    return <uintptr_t><PyObject*>(<IntrusivePtr>pointer).target
