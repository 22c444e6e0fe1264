"""Objects that carry their own counts.

A target is owned by handles, never by a bare Python reference. The counts together own exactly one Python
reference, taken when the first handle is made and given back when the weak count reaches zero: a bare reference
is what a raw pointer is in C++, safe to touch but possibly expired. That single reference is also why ``incref``
and ``decref`` need no GIL. Facts about the original are those of PyTorch 2.13's ``c10/util/intrusive_ptr.h``.

Note [The combined reference count]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
::

    bit 63    bit 62    bits 61..32    bits 31..0
    alive     dead      weak count     strong count

* The weak count is the number of weak handles, plus one while the strong count is above zero.
* A word of 0 belongs to a target that no handle has owned yet. Both counts are 0 after death too, so the dead
  bit keeps the two apart: a dead target can never be taken for a new one.
* The alive bit is set while the strong count is above 0. It is the sign bit, so an increment that leaves the word
  positive was misuse and is taken back: the test costs a jump on a flag that the locked instruction sets anyway.
* Birth is a plain store and the death of a uniquely owned target a plain load and a plain store: no other thread
  can see the target then, so nothing has to be ordered against anything.
* Increments are relaxed: code that adds a count already holds one, so the target cannot die meanwhile. Decrements
  are acquire-release: everything done through a handle happens before the clean-up that the last one starts.
* ``lock`` adds a strong count only to a word whose strong count is not 0, by compare-and-swap, so the strong
  count never rises from 0. The decrement that is inlined into other packages compares too, and leaves the last count
  to `decref_word`: taken and put back, it would be 0 for a moment, in which a weak pointer expires that can be locked
  later.
* That holds on ARM as on x86. The loads that find the only owner, or the last weak count of a dead target, acquire:
  they read what the last decrement released, since increments read and write the word at once and hand on what they
  find. A relaxed load that is stale leads to nothing but a compare-and-swap of the same word, which then fails.

``tests/models/counts.pml`` is a model of this, in which loads may be as stale as ARM permits.

Locked instructions on x86-64, per path:

==========================================  ======
make, first handle                          0
copy a strong or weak handle                1
drop a strong handle, not the last          1
drop the last strong handle, no weak ones   0
drop the last strong handle, weak ones left 2
drop a weak handle                          1
drop the last weak handle of a dead target  0
lock                                        1
==========================================  ======

Note [Cycles of strong pointers]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A cycle of strong pointers leaks in C++. Here Python's collector finds it when every owner is a handle that it
can see. ``IntrusivePtr`` holds a Python reference of its own, which its traversal reports. What the collector
cannot see is the one reference that the counts own; so a target whose strong counts all belong to handles
(``handle_count``) reports it by visiting itself. If any count belongs to C code, the target does not, counts
as referenced from outside, and stays. Tensors and storages hold no Python objects, take no part, and pay nothing.

A dead target that only weak handles keep reports it too. Its attributes may then be cleared: no handle can lock it
any more, and a ring of a strong pointer and a weak one back, which leaks in C++ unless release_resources() breaks it,
is freed.
"""
cimport cython
from cpython.object cimport Py_TPFLAGS_HAVE_GC, PyTypeObject, traverseproc, visitproc
from cpython.ref cimport Py_INCREF, PyObject
from cpython.type cimport PyType_Modified
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from tensix.core.assertions cimport TX_ASSERT, TX_ASSERT_GIL
from tensix.core.atomics cimport tx_load_relaxed, tx_store_relaxed
from tensix.core.combined_refcount cimport (
    DELETE, NOT_OWNED, RELEASE, STILL_ALIVE, Death, decref_word, drop_weak_unit, incref_word, is_dead, lock_word,
    strong_of, unique_word, weak_decref_word, weak_incref_word, weak_of,
)
from tensix.core.free_threading cimport TX_COUNT, tx_while_stopped
from tensix.core.python_reference cimport (
    restore_exception, drop_python_reference, may_run_python, pending_exception_t, save_exception,
)

__all__ = ["IntrusiveTarget"]

cdef extern from "Python.h":
    ctypedef struct type_object_t "PyTypeObject":
        PyObject* tp_dict


@cython.freelist(64)
cdef class IntrusiveTarget:
    """IntrusiveTarget()\n--\n
    Carry a strong and a weak count; the base of everything that handles can own.

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
        """Free what C owns, as the destructor. Called once, after release_resources() if that ran at all.

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


cdef first_owner_listener_t first_owner_listener = NULL


cdef int IntrusiveTarget_start_unique(IntrusiveTarget self) except -1:
    """Store the unique word, without a locked instruction, and take the counts' Python reference."""
    if self is None:
        raise TypeError("cannot own None: an IntrusiveTarget is needed.")
    if self.combined_refcount != 0:
        raise RuntimeError(IntrusiveTarget_owned_already(self))
    TX_ASSERT_GIL()
    tx_store_relaxed(&self.combined_refcount, unique_word())
    Py_INCREF(self)
    if first_owner_listener != NULL:
        first_owner_listener(self)
    return 0


cdef void IntrusiveTarget_on_death(IntrusiveTarget self, int death, bint holds_gil) noexcept nogil:
    """Do what a decrement found out, with or without the GIL. See Note [GIL and finalisation]."""
    cdef pending_exception_t pending
    if death == NOT_OWNED:
        IntrusiveTarget_report(self, "decref")
        return
    if death == RELEASE:
        if may_run_python():
            with gil:
                pending = save_exception()
                IntrusiveTarget_call_release_resources(self)
                restore_exception(pending)
        if drop_weak_unit(&self.combined_refcount) != DELETE:
            return
    TX_ASSERT(is_dead(self.combined_refcount), "a target without owners to be destroyed", self.combined_refcount)
    TX_ASSERT(self.handle_count == 0, "a target that dies to belong to no handle", self.handle_count)
    TX_ASSERT(self.weak_handle_count == 0, "a target that dies to belong to no weak handle", self.weak_handle_count)
    self.destroy(holds_gil)
    drop_python_reference(<PyObject*>self, holds_gil)


cdef int IntrusiveTarget_call_release_resources(IntrusiveTarget self) noexcept:
    self.release_resources()  # noexcept: Cython hands what it raises to sys.unraisablehook
    return 0


cdef void IntrusiveTarget_report(IntrusiveTarget self, const char* function) noexcept nogil:
    """Report misuse from code that cannot raise; nothing was changed."""
    cdef pending_exception_t pending
    if may_run_python():
        with gil:
            pending = save_exception()
            IntrusiveTarget_raise_unraisable(self, function)
            restore_exception(pending)


cdef int IntrusiveTarget_raise_unraisable(IntrusiveTarget self, const char* function) noexcept:
    raise RuntimeError(IntrusiveTarget_no_owner(self, function.decode()))


cdef struct unclaimed_t:
    void* target
    int64_t strong, weak


cdef unclaimed_t unclaimed_of(IntrusiveTarget self) noexcept:
    """Return how many counts belong to no handle, nor to the strong side."""
    cdef unclaimed_t unclaimed
    unclaimed.target = <void*>self
    count_unclaimed(&unclaimed)
    return unclaimed


cdef void count_unclaimed(void* what) noexcept nogil:
    cdef unclaimed_t* unclaimed = <unclaimed_t*>what
    cdef uint64_t word = tx_load_relaxed(&(<IntrusiveTarget>unclaimed.target).combined_refcount)
    unclaimed.strong = <int64_t>strong_of(word) - TX_COUNT((<IntrusiveTarget>unclaimed.target).handle_count, 0)
    unclaimed.weak = <int64_t>weak_of(word) - (strong_of(word) > 0)
    unclaimed.weak -= TX_COUNT((<IntrusiveTarget>unclaimed.target).weak_handle_count, 0)


cdef int IntrusiveTarget_check_unclaimed(IntrusiveTarget self, str function) except -1:
    """Check that at least one strong count belongs to no handle, so that it can be taken over or dropped."""
    if use_count(self) == 0:
        raise RuntimeError(IntrusiveTarget_no_owner(self, function))
    cdef unclaimed_t unclaimed = unclaimed_of(self)
    if unclaimed.strong <= 0:  # another thread may have copied a handle between the two counts
        tx_while_stopped(count_unclaimed, &unclaimed)
    if unclaimed.strong <= 0:
        raise RuntimeError(
            f"cannot {function} {IntrusiveTarget_describe(self)}: every strong count belongs to a handle. "
            "Only a count given out by release(), or added by incref, can be taken, and only once."
        )
    return 0


cdef int IntrusiveTarget_check_weak_unclaimed(IntrusiveTarget self, str function) except -1:
    """Check that a weak count is there that belongs neither to a handle nor to the strong side."""
    cdef unclaimed_t unclaimed = unclaimed_of(self)
    if unclaimed.weak <= 0:
        tx_while_stopped(count_unclaimed, &unclaimed)
    if unclaimed.weak <= 0:
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


cdef str IntrusiveTarget_owned_already(IntrusiveTarget self):
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
