"""What other people's Cython does with `from tensix cimport ...`: no header, no include directory."""
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from tensix cimport (
    Allocator,
    IntrusivePtr,
    IntrusiveTarget,
    Storage,
    WeakIntrusivePtr,
    allocate_block,
    data_ptr_t,
    decref,
    incref,
    lock,
    steal_from_new,
    use_count,
    weak_decref,
    weak_incref,
    weak_use_count,
)

from tensix.core import CPUAllocator


cdef class Plain(IntrusiveTarget):
    """A target with C fields only, which the collector need not know."""
    cdef public int value


cdef class Recorder(IntrusiveTarget):
    """Write down what happens to it."""
    cdef object events

    def __init__(self, events):
        self.events = events

    cdef void destroy(self, bint holds_gil) noexcept nogil:
        with gil:
            self.events.append("destroy")

    cpdef release_resources(self):
        self.events.append("release_resources")

    def __dealloc__(self):
        self.events.append("__dealloc__")


cdef class Link(IntrusiveTarget):
    """A target that can be part of a cycle."""
    cdef object __weakref__
    cdef public object next


cdef class CountingAllocator(Allocator):
    """An allocator over the default one."""
    cdef readonly list sizes
    cdef object upstream

    def __init__(self):
        self.sizes = []
        self.upstream = CPUAllocator()

    def allocate(self, nbytes):
        self.sizes.append(nbytes)
        return self.upstream.allocate(nbytes)


cdef class FieldAllocator(Allocator):
    """An allocator that writes the fields of its blocks itself."""

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        out.data = out.ctx = malloc(nbytes)
        out.deleter, out.keep_alive = free, NULL
        out.device_type, out.device_index = 0, -1
        return 0


cdef class NullAllocator(Allocator):
    """An allocator without memory that does not say so; its blocks have a context all the same."""
    cdef readonly int contexts

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        self.contexts += 1
        out.data, out.ctx = NULL, malloc(1)
        out.deleter, out.keep_alive = free, NULL
        out.device_type, out.device_index = 0, -1
        return 0

    cdef int c_try_allocate(self, size_t nbytes, data_ptr_t* out) noexcept nogil:
        out.data, out.ctx = NULL, malloc(1)
        out.deleter, out.keep_alive = free, NULL
        out.device_type, out.device_index = 0, -1
        return 0


def allocate_without_gil(size_t nbytes):
    """Ask the registered allocator for a block, and return the status and whether there is anything in the block."""
    cdef data_ptr_t block
    cdef int status
    with nogil:
        status = allocate_block(nbytes, &block)
    return status, block.data != NULL or block.ctx != NULL


cdef int wrapped_blocks = 0


cdef void free_wrapped(void* ctx) noexcept nogil:
    global wrapped_blocks
    wrapped_blocks -= 1
    cdef data_ptr_t* block = <data_ptr_t*>ctx
    block.deleter(block.ctx)
    free(block)


cdef class WrappingAllocator(Allocator):
    """An allocator that puts a context and a deleter of its own into the blocks of another one."""
    cdef Allocator upstream

    def __init__(self, upstream):
        self.upstream = upstream

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        global wrapped_blocks
        cdef data_ptr_t* block = <data_ptr_t*>malloc(sizeof(data_ptr_t))
        self.upstream.c_allocate(nbytes, out)
        block[0] = out[0]
        out.ctx, out.deleter = block, free_wrapped
        wrapped_blocks += 1
        return 0


def wrapped_block_count():
    return wrapped_blocks


def counts_of_null():
    """Call every function that takes a null pointer; return what those that return something say."""
    cdef IntrusiveTarget null = None
    with nogil:
        incref(null)
        decref(null)
        weak_incref(null)
        weak_decref(null)
    return lock(null), use_count(null), weak_use_count(null)


def steal(IntrusiveTarget target):
    cdef IntrusivePtr pointer = steal_from_new(target)
    return pointer


def counts(IntrusiveTarget target):
    cdef uint32_t strong, weak
    with nogil:
        strong = use_count(target)
        weak = weak_use_count(target)
    return strong, weak


def incref_and_decref(IntrusiveTarget target, int rounds):
    cdef int _
    with nogil:
        for _ in range(rounds):
            incref(target)
            decref(target)


def weak_incref_and_decref(IntrusiveTarget target, int rounds):
    cdef int _
    with nogil:
        for _ in range(rounds):
            weak_incref(target)
            weak_decref(target)


def lock_and_decref(IntrusiveTarget target, int rounds):
    """Return how often the target could be locked."""
    cdef int _, locked = 0
    with nogil:
        for _ in range(rounds):
            if lock(target):
                locked += 1
                decref(target)
    return locked


def take_strong(IntrusiveTarget target, int count=1):
    cdef int _
    with nogil:
        for _ in range(count):
            incref(target)


def take_weak(IntrusiveTarget target, int count=1):
    cdef int _
    with nogil:
        for _ in range(count):
            weak_incref(target)


def drop_strong(IntrusiveTarget target, int count=1):
    cdef int _
    with nogil:
        for _ in range(count):
            decref(target)


def drop_weak(IntrusiveTarget target, int count=1):
    cdef int _
    with nogil:
        for _ in range(count):
            weak_decref(target)


def bytes_of(Storage storage):
    return storage.nbytes()


def lock_weak(WeakIntrusivePtr weak):
    return weak.lock()
