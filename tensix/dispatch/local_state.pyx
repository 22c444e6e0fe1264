"""Guards: scopes in which a thread includes dispatch keys in every call, or excludes them.

A call's keys are those of its arguments, with the included ones, without the excluded ones. Exclusion wins. It takes
functionalities away and leaves the backends, for without its own a tensor would meet the kernel of another one.
"""
from libc.stdint cimport uint64_t
from tensix.core.free_threading cimport TX_COUNT
from tensix.core.memory_reports cimport call_when_watched
from tensix.tensors.dispatch_key cimport BACKEND_BITS, bits_of_key

from importlib import import_module

__all__ = ["exclude_keys", "include_keys"]

cdef extern from *:
    """
    #include "tensix/core/thread_local.h"
    static TX_THREAD_LOCAL uint64_t tx_included = 0, tx_excluded = 0;
    """
    uint64_t tx_included
    uint64_t tx_excluded

active_hooks = 0


cdef void count_hooks(int change) noexcept:
    """Count a guard or listener that comes or goes."""
    TX_COUNT(active_hooks, change)


cdef void watch_calls(bint on) noexcept:
    """Have calls pass where they are noted. See Note [Watching uses]."""
    count_hooks(1 if on else -1)

call_when_watched(watch_calls)


cdef uint64_t local_keys(uint64_t keys) noexcept nogil:
    """Return the keys of a call as this thread sees them."""
    return (keys | tx_included) & ~tx_excluded


cdef class Guard:
    """Guard(*keys)\n--\n
    Change the keys of this thread's calls within a scope; undo only what the scope changed.
    """

    cdef uint64_t wanted
    cdef list changed  # bits that were absent before, one entry per scope that is open

    def __init__(self, *keys, **kwargs):
        if kwargs:
            raise import_module("tensix._support.argument_errors").error_of_arguments(type(self), (), kwargs)
        self.changed = []
        for key in keys:
            self.wanted |= bits_of_key(key)

    cdef uint64_t* state(self) noexcept:
        return &tx_included

    def __enter__(self):
        cdef uint64_t* state = self.state()
        cdef uint64_t absent = self.wanted & ~state[0]
        self.changed.append(absent)
        state[0] |= absent
        count_hooks(1)
        return self

    def __exit__(self, *exc_info):
        cdef uint64_t absent = self.changed.pop()
        self.state()[0] &= ~absent
        count_hooks(-1)


cdef class include_keys(Guard):
    """Include dispatch keys in every call of this thread, within a scope.

    Parameters
    ----------
    *keys : DispatchKey or str
        Aliases add nothing.

    Notes
    -----
    Thread-safety: a guard belongs to the thread that enters it; leave it on the same thread. Scopes nest.

    Examples
    --------
    >>> from tensix.dispatch import include_keys
    >>> with include_keys("AutogradCPU"):  # nothing records gradients here, so the calls fall through to the CPU
    ...     tensix.ones(2) + tensix.ones(2)
    tensor([2., 2.])
    """


cdef class exclude_keys(Guard):
    """Exclude dispatch keys from every call of this thread, within a scope; wins over `include_keys`.

    Parameters
    ----------
    *keys : DispatchKey or str
        Of a key with a backend the functionality goes, on every backend. Aliases take nothing away.

    Notes
    -----
    Thread-safety: as for `include_keys`.
    """

    def __init__(self, *keys, **kwargs):
        super().__init__(*keys, **kwargs)
        self.wanted = self.wanted >> BACKEND_BITS << BACKEND_BITS

    cdef uint64_t* state(self) noexcept:
        return &tx_excluded
