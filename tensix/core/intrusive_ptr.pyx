"""Objects that carry their own counts, and the strong and weak handles that own them.

A target is owned by handles, never by a bare Python reference. The counts together own exactly one Python
reference, taken when the first handle is made and given back when the weak count reaches zero: a bare reference
is what a raw pointer is in C++, safe to touch but possibly expired. That single reference is also why ``incref``
and ``decref`` need no GIL.

Note [Cycles of strong pointers]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A cycle of strong pointers leaks in C++. Here Python's collector finds it when every owner is a handle that it
can see. ``IntrusivePtr`` holds a Python reference of its own, which its traversal reports. What the collector
cannot see is the one reference that the counts own; so a target whose strong counts all belong to handles
(``handle_count``) reports it by visiting itself. If any count belongs to C code, the target does not, looks
referenced from outside, and stays. Tensors and storages hold no Python objects, take no part, and pay nothing.

A dead target that only weak handles keep reports it too. Its attributes may then be cleared: nobody can lock it any
more, and a ring of a strong pointer and a weak one back, which leaks in C++ unless release_resources() breaks it,
is freed.

The counts and their costs: Note [The combined reference count] in ``combined_refcount.pxd``. Facts about the
original are those of PyTorch 2.13's ``c10/util/intrusive_ptr.h``.
"""
cimport cython
from cpython.object cimport Py_TPFLAGS_HAVE_GC, PyTypeObject, traverseproc, visitproc
from cpython.ref cimport Py_INCREF, PyObject
from cpython.type cimport PyType_Modified
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from tensix.core.combined_refcount cimport (
    ADAPTED_COUNT,
    DELETE,
    NOT_OWNED,
    RELEASE,
    STILL_ALIVE,
    Death,
    decref_word,
    drop_strong_side_unit,
    incref_word,
    is_dead,
    lock_word,
    strong_of,
    unique_word,
    weak_decref_word,
    weak_incref_word,
    weak_of,
    weak_unit,
)
from tensix.core.atomics cimport tx_load_acquire, tx_load_relaxed, tx_store_relaxed
from tensix.core.handle cimport drop
from tensix.core.python_reference cimport drop_python_reference, may_run_python

cdef extern from "Python.h":
    ctypedef struct type_object_t "PyTypeObject":
        PyObject* tp_dict

__all__ = ["IntrusivePtr", "IntrusiveTarget", "WeakIntrusivePtr", "make_intrusive"]


@cython.freelist(64)
cdef class IntrusiveTarget:
    """Carry a strong and a weak count; the base of everything that handles can own.

    Subclass it in Python or in Cython. An instance starts without owners; `make_intrusive` or
    `IntrusivePtr.unsafe_steal_from_new` gives it its first. A bare Python reference owns nothing: it may outlive
    the last handle and then refers to an expired target, which is safe to touch but cannot be owned again.

    Notes
    -----
    Lifetime: the Python object lives at least while the weak count is above zero. A subclass's ``__del__`` runs
    when the last bare reference goes.

    Thread-safety: the counts are atomic; what a subclass adds is its own business.

    Examples
    --------
    >>> from tensix.core import IntrusiveTarget, make_intrusive
    >>> class Node(IntrusiveTarget):
    ...     pass
    >>> first = make_intrusive(Node)
    >>> second = first.copy()
    >>> first.use_count()
    2
    """

    cdef void destroy(self, bint holds_gil) noexcept nogil:
        """Be the destructor: free what C owns. Called once, after release_resources() if that ran at all.

        `holds_gil` says that the GIL is held for certain; without it, take the GIL for what needs it.
        """

    cpdef release_resources(self):
        """Free early what weak handles do not need; override it, the default frees nothing.

        Called when the last strong handle goes while weak ones are left, and only then: with no weak handle the
        target is destroyed directly. An exception that it raises goes to `sys.unraisablehook`. In a cycle that the
        collector breaks, attributes may be gone by then; ``__del__`` runs before that and finds them.
        """

    def __copy__(self):
        """Copy the attributes; counts belong to the address and never travel with a copy."""
        cls = type(self)
        twin = cls.__new__(cls)
        state = object.__getstate__(self)
        attributes, slots = state if isinstance(state, tuple) else (state, None)
        if attributes:
            twin.__dict__.update(attributes)
        for name, value in (slots or {}).items():
            setattr(twin, name, value)
        return twin


@cython.freelist(64)
@cython.no_gc_clear  # clearing would drop the target before __dealloc__ can give its count back
cdef class IntrusivePtr:
    """Own a target with one strong count; null when made without arguments.

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
        if self.target is not None:
            self.target.handle_count -= 1
            drop(self.target)

    @classmethod
    def singleton(cls):
        """Return the target that stands for null in this class, or None."""
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
            If nobody owns the target.
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
            raise RuntimeError(IntrusiveTarget_not_newborn(target))
        if expected_decrefs > <uint32_t>1 << 31:
            raise ValueError(f"expected_decrefs must be at most 2**31, found {expected_decrefs}.")
        tx_store_relaxed(
            &target.combined_refcount, ADAPTED_COUNT * weak_unit() + ADAPTED_COUNT + <uint64_t>expected_decrefs
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
        target = self.target
        if target is None:
            return self.singleton()
        target.handle_count -= 1
        self.target = None
        return target

    def reset(self):
        """Drop the target and become null."""
        cdef IntrusiveTarget target = self.target
        if target is not None:
            self.target = None
            target.handle_count -= 1
            drop(target)

    def swap(self, IntrusivePtr other not None):
        """Exchange targets with another pointer; no count changes."""
        self.target, other.target = other.target, self.target

    def copy(self):
        """Return a further pointer to the same target (one locked instruction)."""
        cdef IntrusivePtr twin
        cls = type(self)
        if cls is IntrusivePtr:
            twin = IntrusivePtr.__new__(IntrusivePtr)
        else:
            twin = cls.__new__(cls)
        if self.target is not None:
            if not incref_word(&self.target.combined_refcount):
                raise RuntimeError(IntrusiveTarget_no_owner(self.target, "copy a pointer to"))
            self.target.handle_count += 1
            twin.target = self.target
        return twin

    __copy__ = copy

    def move(self):
        """Return a pointer that takes the target over; this one becomes null."""
        cls = type(self)
        cdef IntrusivePtr heir = cls.__new__(cls)
        heir.target, self.target = self.target, None
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

    def __eq__(self, other):
        if other is not None and not isinstance(other, IntrusivePtr):
            return NotImplemented
        return IntrusivePtr_address(self) == IntrusivePtr_address(other)

    def __lt__(self, other):
        if other is not None and not isinstance(other, IntrusivePtr):
            return NotImplemented
        return IntrusivePtr_address(self) < IntrusivePtr_address(other)

    def __gt__(self, other):
        if other is not None and not isinstance(other, IntrusivePtr):
            return NotImplemented
        return IntrusivePtr_address(self) > IntrusivePtr_address(other)

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


@cython.freelist(64)
cdef class WeakIntrusivePtr:
    """Point to a target without keeping it alive.

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

    def __init__(self, strong=None):
        if strong is not None and not isinstance(strong, IntrusivePtr):
            raise TypeError(
                f"WeakIntrusivePtr() watches the target of an IntrusivePtr, found {type(strong).__name__}."
            )
        WeakIntrusivePtr_reset(self)
        if strong is None:
            return
        if (<IntrusivePtr>strong).target is not None:
            WeakIntrusivePtr_watch(self, (<IntrusivePtr>strong).target)

    def __dealloc__(self):
        WeakIntrusivePtr_reset(self)

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
        target.weak_handle_count += 1
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
        if self.target != NULL and lock_word(&(<IntrusiveTarget>self.target).combined_refcount):
            strong.target = <IntrusiveTarget>self.target
            strong.target.handle_count += 1
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
        WeakIntrusivePtr_reset(self)

    def release(self):
        """Give out the bare target with its weak count and become null; None when null."""
        if self.target == NULL:
            return None
        target = <IntrusiveTarget>self.target
        target.weak_handle_count -= 1
        self.target = NULL
        return target

    def swap(self, WeakIntrusivePtr other not None):
        """Exchange targets with another weak pointer; no count changes."""
        self.target, other.target = other.target, self.target

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
        heir.target, self.target = self.target, NULL
        return heir

    def unsafe_get_target(self):
        """Return the bare target even if it has expired; None when null."""
        return None if self.target == NULL else <IntrusiveTarget>self.target

    def __eq__(self, other):
        if other is not None and not isinstance(other, WeakIntrusivePtr):
            return NotImplemented
        return WeakIntrusivePtr_address(self) == WeakIntrusivePtr_address(other)

    def __lt__(self, other):
        if other is not None and not isinstance(other, WeakIntrusivePtr):
            return NotImplemented
        return WeakIntrusivePtr_address(self) < WeakIntrusivePtr_address(other)

    def __gt__(self, other):
        if other is not None and not isinstance(other, WeakIntrusivePtr):
            return NotImplemented
        return WeakIntrusivePtr_address(self) > WeakIntrusivePtr_address(other)

    def __hash__(self):
        return hash(<uintptr_t>self.target)

    def __repr__(self):
        if self.target == NULL:
            return f"{type(self).__name__}(null)"
        return f"{type(self).__name__}({IntrusiveTarget_describe(<IntrusiveTarget>self.target)})"


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


cdef void incref(IntrusiveTarget target) noexcept nogil:
    if target is not None and not incref_word(&target.combined_refcount):
        IntrusiveTarget_report(target, "incref")


cdef void decref(IntrusiveTarget target) noexcept nogil:
    if target is None:
        return
    cdef Death death = decref_word(&target.combined_refcount)
    if death != STILL_ALIVE:
        IntrusiveTarget_on_death(target, death, False)


cdef bint lock(IntrusiveTarget target) noexcept nogil:
    return target is not None and lock_word(&target.combined_refcount)


cdef uint32_t use_count(IntrusiveTarget target) noexcept nogil:
    return 0 if target is None else strong_of(tx_load_relaxed(&target.combined_refcount))


cdef uint32_t weak_use_count(IntrusiveTarget target) noexcept nogil:
    return 0 if target is None else weak_of(tx_load_relaxed(&target.combined_refcount))


cdef void weak_incref(IntrusiveTarget target) noexcept nogil:
    if target is not None and not weak_incref_word(&target.combined_refcount):
        IntrusiveTarget_report(target, "weak_incref")


cdef void weak_decref(IntrusiveTarget target) noexcept nogil:
    if target is None:
        return
    cdef Death death = weak_decref_word(&target.combined_refcount)
    if death == NOT_OWNED:
        IntrusiveTarget_report(target, "weak_decref")
    elif death != STILL_ALIVE:
        IntrusiveTarget_on_death(target, death, False)


cdef IntrusivePtr steal_from_new(IntrusiveTarget target):
    cdef IntrusivePtr pointer = IntrusivePtr.__new__(IntrusivePtr)
    IntrusiveTarget_start_unique(target)
    target.handle_count = 1
    pointer.target = target
    return pointer


cdef int IntrusiveTarget_start_unique(IntrusiveTarget self) except -1:
    """Store the unique word, without a locked instruction, and take the counts' Python reference."""
    if self is None:
        raise TypeError("cannot own None: an IntrusiveTarget is needed.")
    if self.combined_refcount != 0:
        raise RuntimeError(IntrusiveTarget_not_newborn(self))
    tx_store_relaxed(&self.combined_refcount, unique_word())
    Py_INCREF(self)
    return 0


cdef void IntrusiveTarget_on_death(IntrusiveTarget self, int death, bint holds_gil) noexcept nogil:
    """Do what a decrement found out, with or without the GIL. See Note [GIL and finalisation]."""
    if death == NOT_OWNED:
        IntrusiveTarget_report(self, "decref")
        return
    if death == RELEASE:
        if may_run_python():
            with gil:
                IntrusiveTarget_call_release_resources(self)
        if drop_strong_side_unit(&self.combined_refcount) != DELETE:
            return
    self.destroy(holds_gil)
    drop_python_reference(<PyObject*>self, holds_gil)


cdef int IntrusiveTarget_call_release_resources(IntrusiveTarget self) noexcept:
    self.release_resources()  # noexcept: Cython hands what it raises to sys.unraisablehook
    return 0


cdef void IntrusiveTarget_report(IntrusiveTarget self, const char* function) noexcept nogil:
    """Report misuse from code that cannot raise; nothing was changed."""
    if may_run_python():
        with gil:
            IntrusiveTarget_raise_unraisable(self, function)


cdef int IntrusiveTarget_raise_unraisable(IntrusiveTarget self, const char* function) noexcept:
    raise RuntimeError(IntrusiveTarget_no_owner(self, function.decode()))


cdef int IntrusiveTarget_check_unclaimed(IntrusiveTarget self, str function) except -1:
    """Check that at least one strong count belongs to no handle, so that it can be taken over or dropped."""
    cdef uint32_t strong = use_count(self)
    if strong == 0:
        raise RuntimeError(IntrusiveTarget_no_owner(self, function))
    if <int64_t>strong <= self.handle_count:
        raise RuntimeError(
            f"cannot {function} {IntrusiveTarget_describe(self)}: every strong count belongs to a handle. "
            "Only a count given out by release(), or added by incref, can be taken, and only once."
        )
    return 0


cdef int IntrusiveTarget_check_weak_unclaimed(IntrusiveTarget self, str function) except -1:
    """Check that a weak count is there that belongs neither to a handle nor to the strong side."""
    cdef uint64_t word = tx_load_acquire(&self.combined_refcount)
    cdef int64_t weak = <int64_t>weak_of(word) - (strong_of(word) > 0)
    if weak <= self.weak_handle_count:
        raise RuntimeError(
            f"cannot {function} a weak count of {IntrusiveTarget_describe(self)}: every one belongs to a handle. "
            "Take only what WeakIntrusivePtr.release() or raw.make_weak() gave out, and only once."
        )
    return 0


cdef str IntrusiveTarget_no_owner(IntrusiveTarget self, str function):
    return (
        f"cannot {function} {IntrusiveTarget_describe(self)}: it has no owner. "
        "A target gets its first owner from make_intrusive() and can never be owned again after the last one is gone."
    )


cdef str IntrusiveTarget_not_newborn(IntrusiveTarget self):
    return (
        f"cannot make a first owner for {IntrusiveTarget_describe(self)}: its counts are in use. "
        "Does its constructor make a pointer from self? Use reclaim_copy() for a further owner."
    )


cdef str IntrusiveTarget_describe(IntrusiveTarget self):
    cdef uint64_t word = tx_load_relaxed(&self.combined_refcount)
    state = "expired " if is_dead(word) else ""
    return (
        f"{state}{type(self).__name__} at {<uintptr_t><PyObject*>self:#x} "
        f"(use_count={strong_of(word)}, weak_use_count={weak_of(word)})"
    )


cdef int IntrusiveTarget_traverse(PyObject* self, visitproc visit, void* arg) noexcept:
    """Report the counts' own Python reference. See Note [Cycles of strong pointers]."""
    cdef IntrusiveTarget target = <IntrusiveTarget>self
    cdef uint64_t word = tx_load_relaxed(&target.combined_refcount)
    if strong_of(word) > 0:
        is_all_handles = <int64_t>strong_of(word) == target.handle_count
    else:
        is_all_handles = weak_of(word) > 0 and <int64_t>weak_of(word) == target.weak_handle_count
    return visit(self, arg) if is_all_handles else 0


def init_subclass(cls, **kwargs):
    """Let the collector see through a subclass. See Note [Cycles of strong pointers].

    A subclass made in Python is tracked; its traversal calls that of the nearest extension type, which has none of
    its own if it holds no Python objects.
    """
    super(IntrusiveTarget, cls).__init_subclass__(**kwargs)
    for base in cls.__mro__:
        if issubclass(base, IntrusiveTarget) and not base.__flags__ & Py_TPFLAGS_HAVE_GC:
            (<PyTypeObject*>base).tp_traverse = <traverseproc>IntrusiveTarget_traverse


# Cython has no syntax for __init_subclass__ in an extension type, so it is put into the type's namespace.
(<dict>(<type_object_t*>IntrusiveTarget).tp_dict)["__init_subclass__"] = classmethod(init_subclass)
PyType_Modified(IntrusiveTarget)


cdef int IntrusivePtr_adopt(IntrusivePtr self, IntrusiveTarget target, bint counted) except -1:
    """Become an owner of `target`, whose count the caller hands over (`counted`) or which is added here."""
    if not counted and not lock_word(&target.combined_refcount):
        raise RuntimeError(IntrusiveTarget_no_owner(target, "own"))
    self.reset()
    target.handle_count += 1
    self.target = target
    return 0


cdef uintptr_t IntrusivePtr_address(object pointer) noexcept:
    """Return the address of the target of a pointer, 0 for a null one or None."""
    if pointer is None or (<IntrusivePtr>pointer).target is None:
        return 0
    return <uintptr_t><PyObject*>(<IntrusivePtr>pointer).target


cdef uintptr_t WeakIntrusivePtr_address(object pointer) noexcept:
    return 0 if pointer is None else <uintptr_t>(<WeakIntrusivePtr>pointer).target


cdef int WeakIntrusivePtr_watch(WeakIntrusivePtr self, IntrusiveTarget target) except -1:
    """Take a weak count of a target; the pointer must be null."""
    if not weak_incref_word(&target.combined_refcount):
        raise RuntimeError(IntrusiveTarget_no_owner(target, "watch"))
    target.weak_handle_count += 1
    self.target = <PyObject*>target
    return 0


cdef void WeakIntrusivePtr_reset(WeakIntrusivePtr self) noexcept:
    cdef PyObject* target = self.target
    if target != NULL:
        self.target = NULL
        (<IntrusiveTarget>target).weak_handle_count -= 1
        weak_decref(<IntrusiveTarget>target)
