"""Watching targets being born: those that are still owned in the end have leaked, or somebody needs them.

Note [Births of targets]
~~~~~~~~~~~~~~~~~~~~~~~~
Tensors and storages are no objects of Python's collector, so nothing can list them. A watcher is told when a target
gets its first owner, and keeps a bare reference to it: safe to touch, and it keeps no byte alive. Deaths are not
reported, they are seen by the counts later. So it costs one load and one branch at birth while there is no watcher,
and nothing at death. Bare references keep bodies from being used again, so the dead are let go when the list has
doubled.

What the collector may have to free is watched by a weak reference: it frees no cycle that is referenced from outside.
A class without a place for weak references is watched by a bare one, which is let go for the collection. What is left
of those afterwards is among the collector's objects.
"""
import gc

from cpython.weakref cimport PyWeakref_CheckRef, PyWeakref_NewRef
from libc.stdint cimport int64_t, uint64_t
from tensix.core.atomics cimport tx_load_relaxed
from tensix.core.combined_refcount cimport strong_of, weak_of
from tensix.core cimport intrusive_target
from tensix.core.intrusive_target cimport IntrusiveTarget

__all__ = []

cdef extern from "Python.h":
    bint PyObject_IS_GC(object o)

cdef enum:
    FIRST_BOUND = 1024

cdef tuple WATCHERS = ()  # replaced whole under the GIL


cdef class Births:
    """Watch targets get their first owner, on all threads, while used as a context manager.

    Notes
    -----
    Lifetime: as long as it lives it holds bare references. A target's ``__del__`` may run late for that, if its class
    has no place for weak references.

    Thread-safety: any thread may make and drop targets meanwhile.
    """

    cdef list watched      # targets and weak references to targets
    cdef Py_ssize_t bound  # how many there may be before the dead are let go

    def __cinit__(self):
        self.watched, self.bound = [], FIRST_BOUND

    def __enter__(self):
        global WATCHERS
        WATCHERS = WATCHERS + (self,)
        intrusive_target.birth_listener = tell_all
        return self

    def __exit__(self, *exc_info):
        global WATCHERS
        WATCHERS = tuple([watcher for watcher in WATCHERS if watcher is not self])
        if not WATCHERS:
            intrusive_target.birth_listener = NULL

    def survivors(self):
        """Return the targets born inside that are still owned; the collector runs first if there are any."""
        cdef dict unfollowed
        Births_let_the_dead_go(self)
        if self.watched:
            unfollowed = Births_hide(self)
            gc.collect()
            if unfollowed:
                self.watched += [each for each in gc.get_objects() if unfollowed.get(id(each)) is type(each)]
            Births_let_the_dead_go(self)
        return [target_of(entry) for entry in self.watched]


cdef void tell_all(IntrusiveTarget target) noexcept:
    """Note a birth in every open list."""
    for watcher in WATCHERS:
        Births_note(watcher, target)


cdef int Births_note(Births self, IntrusiveTarget target) except -1:
    if len(self.watched) >= self.bound:
        Births_let_the_dead_go(self)
    has_weak_references = (<object>type(target)).__weakrefoffset__ != 0 if PyObject_IS_GC(target) else False
    self.watched.append(<object>PyWeakref_NewRef(target, None) if has_weak_references else target)
    return 0


cdef int Births_let_the_dead_go(Births self) except -1:
    """Keep the living only. Letting go may run Python code, so it comes last."""
    everybody = self.watched
    self.watched = [entry for entry in everybody if is_owned(entry)]
    self.bound = max(<Py_ssize_t>FIRST_BOUND, 2 * len(self.watched))
    everybody.clear()
    return 0


cdef dict Births_hide(Births self):
    """Let go of the collector's objects that are not watched by weak references; return their types by their ids."""
    hidden = {id(entry): type(entry) for entry in self.watched
              if isinstance(entry, IntrusiveTarget) and PyObject_IS_GC(entry)}
    if hidden:
        self.watched = [entry for entry in self.watched if id(entry) not in hidden]
    return hidden


cdef bint is_owned(object entry) except -1:
    """Return whether a target lives, or weak counts that no handle holds keep what is left of it."""
    cdef IntrusiveTarget target = target_of(entry)
    if target is None:
        return False
    cdef uint64_t word = tx_load_relaxed(&target.combined_refcount)
    return strong_of(word) > 0 or <int64_t>weak_of(word) > target.weak_handle_count


cdef IntrusiveTarget target_of(object entry):
    """Return the target that an entry of the list is for, None if Python has freed it."""
    if not PyWeakref_CheckRef(entry):
        return entry
    return entry()
