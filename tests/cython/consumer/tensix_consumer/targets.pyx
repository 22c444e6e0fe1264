"""A target with memory of its own, counted with and without the GIL."""
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from tensix cimport IntrusivePtr, IntrusiveTarget, StrongCount, decref, incref, lock, steal_from_new, use_count

cdef extern from "<pthread.h>" nogil:
    ctypedef unsigned long pthread_t
    int pthread_create(pthread_t* thread, const void* attributes, void* (*run)(void*) noexcept nogil, void* argument)
    int pthread_join(pthread_t thread, void** result)

cdef int destroyed = 0


cdef class Buffer(IntrusiveTarget):
    """Own a block of C memory."""
    cdef int* numbers

    def __cinit__(self):
        self.numbers = <int*>malloc(100 * sizeof(int))
        if self.numbers == NULL:
            raise MemoryError()

    cdef void destroy(self, bint holds_gil) noexcept nogil:
        global destroyed
        free(self.numbers)
        self.numbers = NULL
        destroyed += 1

    def __dealloc__(self):
        free(self.numbers)  # a target that nobody has owned is never destroyed


cdef class Listed(IntrusiveTarget):
    """Write down what is released."""
    cdef readonly list released

    def __cinit__(self, released):
        self.released = released

    cpdef release_resources(self):
        self.released.append(use_count(self))


def make_buffer():
    """Return the first owner of a new target."""
    cdef IntrusivePtr pointer = steal_from_new(Buffer())
    return pointer


def steal(target):
    return steal_from_new(target)


def destroyed_count():
    return destroyed


def count(IntrusiveTarget target):
    cdef uint32_t found
    with nogil:
        found = use_count(target)
    return found


def incref_and_decref(IntrusiveTarget target, int times):
    cdef int _
    with nogil:
        for _ in range(times):
            incref(target)
            decref(target)


def take(IntrusiveTarget target):
    with nogil:
        incref(target)


def drop(IntrusiveTarget target):
    with nogil:
        decref(target)


def try_lock(IntrusiveTarget target):
    cdef bint is_locked
    with nogil:
        is_locked = lock(target)
    return is_locked


cdef void* count_and_drop(void* target) noexcept nogil:
    """Run in a thread that Python has never seen."""
    cdef int _
    for _ in range(10_000):
        incref(<IntrusiveTarget>target)
        decref(<IntrusiveTarget>target)
    decref(<IntrusiveTarget>target)
    return NULL


def drop_in_foreign_threads(IntrusiveTarget target, int times):
    """Give each of some threads a count, which it drops; the caller's own is the last of them."""
    cdef pthread_t[64] threads
    cdef int i, _
    cdef void* address = <void*>target
    if not 0 < times <= 64:
        raise ValueError("1 to 64 threads")
    for _ in range(times - 1):
        incref(target)
    with nogil:  # else a target that needs the GIL to die would wait for us, and we for it
        for i in range(times):
            pthread_create(&threads[i], NULL, count_and_drop, address)
        for i in range(times):
            pthread_join(threads[i], NULL)


def counts_of_holders(IntrusiveTarget target):
    """Return the count of a target while others own it too, without the GIL."""
    cdef StrongCount first = StrongCount()
    cdef StrongCount second = StrongCount()
    cdef uint32_t[8] found
    cdef int i
    with nogil:
        found[0] = first.use_count()
        first.reclaim_copy(target)
        found[1] = first.use_count()
        second.reclaim_copy(<IntrusiveTarget>first.get())  # a copy
        found[2] = use_count(target)
        second.reclaim(<IntrusiveTarget>first.release())   # a move: the count that `second` had goes
        found[3] = use_count(target)
        first.swap(second)
        found[4] = first.use_count()
        second.reclaim_copy(target)
        first.reset()
        found[5] = use_count(target)
        second.reclaim_copy(<IntrusiveTarget>second.get())  # of itself
        found[6] = use_count(target)
        decref(<IntrusiveTarget>second.release())
        found[7] = second.use_count()
    return [found[i] for i in range(8)]


cdef class Keeper:
    """Own a target by a raw count, with no code of its own to give it back."""
    cdef StrongCount held

    def __init__(self, IntrusiveTarget target):
        self.held = StrongCount()
        self.held.reclaim(target)

    def get(self):
        return <object>self.held.get()

    def reset(self):
        with nogil:
            self.held.reset()


cdef void* reset_holder(void* holder) noexcept nogil:
    """Run in a thread that Python has never seen."""
    (<StrongCount>holder).reset()
    return NULL


def reset_in_a_foreign_thread(Keeper keeper):
    cdef pthread_t thread
    cdef void* holder = <void*>keeper.held
    with nogil:
        pthread_create(&thread, NULL, reset_holder, holder)
        pthread_join(thread, NULL)
