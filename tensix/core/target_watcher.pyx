"""List the targets that are made in a scope and are still owned at its end.

Note [Watching targets]
~~~~~~~~~~~~~~~~~~~~~~~
Python's collector does not know tensors and storages, so nothing can list them. A watcher is called when a target gets
its first owner, and keeps a Python reference to it, which is safe to use and keeps no storage alive. Releases are not
reported; the counts show them later. Without a watcher the cost is one load and one branch per target. The references
keep objects from being reused, so released targets are dropped from the list whenever it has doubled.

A target that the collector may have to free is watched by a weak reference, because the collector frees no cycle that
is referenced from outside. If its class does not support weak references, the Python reference is dropped before the
collection; afterwards the target, if it is left, is found among the collector's objects.
"""
import gc

cimport cython
from cpython.weakref cimport PyWeakref_CheckRef, PyWeakref_NewRef
from libc.stdint cimport int64_t, uint64_t
from tensix.core.atomics cimport tx_load_relaxed
from tensix.core.combined_refcount cimport strong_of, weak_of
from tensix.core cimport intrusive_target
from tensix.core.free_threading cimport TX_COUNT, tx_change_t, tx_while_stopped
from tensix.core.intrusive_target cimport IntrusiveTarget

from tensix.core.free_threading import change_lock

cdef extern from "Python.h":
    bint PyObject_IS_GC(object o)

cdef enum:
    FIRST_BOUND = 1024

cdef tuple WATCHERS = ()  # replaced whole
cdef object CHANGES = change_lock()  # of them


cdef class TargetWatcher:
    """Record targets that get their first owner, in all threads, while used as a context manager.

    Notes
    -----
    Lifetime: it holds Python references. So the ``__del__`` of a target may run late, if its class does not support
    weak references.

    Thread-safety: any thread may make and drop targets meanwhile.
    """

    cdef list watched      # targets and weak references to targets
    cdef Py_ssize_t bound  # the length at which released targets are dropped

    def __cinit__(self):
        self.watched, self.bound = [], FIRST_BOUND

    def __enter__(self):
        with CHANGES:
            exchange_watchers((*WATCHERS, self))
        return self

    def __exit__(self, *exc_info):
        with CHANGES:
            exchange_watchers(tuple([watcher for watcher in WATCHERS if watcher is not self]))

    def survivors(self):
        """Return the targets of the scope that are still owned; the collector runs first if there are any."""
        cdef dict unfollowed
        TargetWatcher_drop_released(self)
        if self.watched:
            unfollowed = TargetWatcher_drop_collectable(self)
            gc.collect()
            if unfollowed:
                self.watched += [each for each in gc.get_objects() if unfollowed.get(id(each)) is type(each)]
            TargetWatcher_drop_released(self)
        return [target_of(entry) for entry in self.watched]


cdef int exchange_watchers(tuple watchers) except -1:
    before = WATCHERS  # goes last
    tx_while_stopped(<tx_change_t>set_watchers, <void*>watchers)
    del before
    return 0


cdef void set_watchers(void* watchers) noexcept:
    global WATCHERS
    WATCHERS = <tuple>watchers
    intrusive_target.first_owner_listener = NULL
    if len(WATCHERS) != 0:
        intrusive_target.first_owner_listener = notify_all


cdef void notify_all(IntrusiveTarget target) noexcept:
    """Enter a target in every open list."""
    for watcher in WATCHERS:
        TargetWatcher_enter(watcher, target)


cdef int TargetWatcher_enter(TargetWatcher self, IntrusiveTarget target) except -1:
    if len(self.watched) >= self.bound:
        with cython.critical_section(self):
            TargetWatcher_drop_released(self)
    has_weak_references = (<object>type(target)).__weakrefoffset__ != 0 if PyObject_IS_GC(target) else False
    self.watched.append(<object>PyWeakref_NewRef(target, None) if has_weak_references else target)
    return 0


cdef int TargetWatcher_drop_released(TargetWatcher self) except -1:
    """Drop released targets. That may run Python code, so it comes last."""
    before = self.watched
    self.watched = [entry for entry in before if is_owned(entry)]
    self.bound = max(<Py_ssize_t>FIRST_BOUND, 2 * len(self.watched))
    before.clear()
    return 0


cdef dict TargetWatcher_drop_collectable(TargetWatcher self):
    """Drop the collector's objects that are not watched by weak references; return their types by their ids."""
    dropped = {
        id(entry): type(entry) for entry in self.watched
        if isinstance(entry, IntrusiveTarget) and PyObject_IS_GC(entry)
    }
    if dropped:
        self.watched = [entry for entry in self.watched if id(entry) not in dropped]
    return dropped


cdef bint is_owned(object entry) except -1:
    """Return whether a target has a strong owner, or weak counts that no handle holds."""
    cdef IntrusiveTarget target = target_of(entry)
    if target is None:
        return False
    cdef uint64_t word = tx_load_relaxed(&target.combined_refcount)
    return strong_of(word) > 0 or <int64_t>weak_of(word) > TX_COUNT(target.weak_handle_count, 0)


cdef IntrusiveTarget target_of(object entry):
    """Return the target of an entry, None if Python has freed it."""
    if not PyWeakref_CheckRef(entry):
        return entry
    return entry()
