"""Private: what takes the place of the GIL in free-threaded CPython.

Note [Without the GIL]
~~~~~~~~~~~~~~~~~~~~~~
In a free-threaded build all threads that are attached to the interpreter run at once. "With the GIL" then means
attached, and "without the GIL" means that CPython does not wait for this thread. What the GIL protects elsewhere is of
one of five kinds here:

* Counts, such as those of handles and uses, are atomic: `TX_COUNT`.
* What every call reads and few change (the kernels of an operator, listeners, the block of a storage, the geometry of a
  tensor, allocators that are registered) changes while all other attached threads are stopped: `tx_while_stopped`. A
  thread is stopped only where it could lose the GIL in other builds. So code that relies on "nothing happens in
  between" is right in both, and readers need neither locks nor counts.
* What threads keep for reuse belongs to one thread (a cache's blocks in front), or is not kept (Note [Free lists]).
* What is computed once and kept is written by one thread, under a lock (`change_lock`), and never replaced.
* What many threads change often has a lock: recordings, tables of call sites, records of blocks.

A change that is made while others are stopped is a few stores. It allocates and frees nothing, drops no reference,
calls nothing of Python, and checks again what it relies on, for to stop others is itself a moment at which others may
run. None of the locks of ``lock.h`` is held when it is asked for. While other threads run it takes up to a millisecond,
so frequent changes go other ways: Note [Blocks that others may read] in ``cow_context.pyx``.

The public function of CPython that visits all objects stops the other threads, as it must, until it has ended. It is
left at the first object.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t


cdef extern from "tensix/core/free_threading.h" nogil:
    ctypedef void (*tx_change_t)(void* what) noexcept nogil
    void tx_while_stopped(tx_change_t change, void* what)
    int TX_COUNT(int count, int amount)  # adds to a field of 32 bits and returns it
    uint64_t tx_add_with_gil(uint64_t* word, uint64_t amount)  # the same of 64 bits that are loaded and stored relaxed
    bint GIL_EXISTS "TX_GIL_EXISTS"
    PyObject* tx_exchange(PyObject* owner, PyObject** field, PyObject* value)
    void tx_swap(PyObject** one, PyObject** other)
    void tx_keep_for_ever(object)
    bint tx_is_unshared(PyObject* reference)
    bint tx_take_reference(PyObject* reference)
    void tx_allow_taking(PyObject* reference)

cdef extern from *:
    object stolen "(PyObject *)" (PyObject* reference)  # a new reference, from here on Cython's
