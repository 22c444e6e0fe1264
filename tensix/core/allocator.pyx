"""The allocator interface, the registry per device type, and overrides for a scope.

Which allocator serves a request: the innermost `use_allocator` scope of this context, else the one registered for
the device type with the highest priority. Every storage keeps its allocator alive and every block remembers its
own deleter, so swapping allocators never frees with the wrong function.

Note [Who is asked]
~~~~~~~~~~~~~~~~~~~
An allocator has most methods twice, for Python and in C, and either may be overridden: in Cython usually the one in C,
in Python the other, also in a class over one of Cython. So tensix calls neither but `Allocator_allocate` and its
siblings. They ask the public method if a Python class overrides it, else the one in C, whose default asks the public
one. No allocator need search its subclasses.

Note [Allocating without the GIL]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
`allocate_without_gil` serves any thread, also one that Python does not know. Such a thread has no context: the
registered allocator serves it. One that Python knows takes the GIL to look for its scope while any scope is open.

An allocator's ``c_try_allocate`` does not tell the listeners that there is no memory. A thread that Python knows then
asks once more with the GIL: this tells them, runs callbacks and raises the error that says why. An allocator that runs
Python returns NEEDS_GIL to such a thread, so that all of it runs once. A thread that Python does not know gets no
second turn: the default of ``c_try_allocate`` takes the GIL for it.

The registry may let go of an allocator that such a thread is using, and a reference of Python cannot be counted without
the GIL. So a thread enters one of two counts before it reads the registry, and leaves it when it has its block. A
former allocator is kept until both counts were 0 once after it left the registry. New threads enter the other count
meanwhile, so that this ends. The wait adds 0 to a count and does not only load it: then a thread that enters the count
later sees what was registered before. A thread that registers an allocator while it is itself in a count leaves the
former one to the next registration.
``tests/models/registry.pml`` is a model of this.
"""
from contextvars import ContextVar

cimport cython
from cpython.number cimport PyIndex_Check, PyNumber_Index
from cpython.object cimport PyTypeObject
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport int8_t, uint64_t, uintptr_t
from libc.string cimport memcpy
from tensix.core.data_ptr cimport (
    DataPtr, DataPtr_borrow, DataPtr_move_out, DataPtr_wrap, address_from_any, data_ptr_destroy, data_ptr_t, deleter_t,
    function_of,
)
from tensix.core.atomics cimport tx_add_fetch_acq_rel, tx_exchange_acq_rel, tx_fetch_sub_acq_rel, tx_load_acquire
from tensix.core.free_threading cimport TX_COUNT, tx_exchange
from tensix.core.device cimport CPU, DEVICE_TYPE_COUNT, device_type_from_any, device_type_name
from tensix.core.lock cimport tx_at_fork, tx_let_others_run
from tensix.core.memory_reports cimport python_knows_thread
from tensix.core.python_reference cimport (
    may_run_python, pass_on, pending_exception_t, restore_exception, save_exception,
)

from tensix.core.free_threading import change_lock
from tensix.core.memory_reports import remarks

__all__ = ["Allocator", "OutOfMemoryError", "get_allocator", "set_allocator", "use_allocator"]

cdef extern from *:
    """
    #include "tensix/core/thread_local.h"
    static TX_THREAD_LOCAL int tx_allocations = 0;
    """
    int tx_allocations  # without the GIL, in which this thread is


@cython.binding(True)
class OutOfMemoryError(MemoryError):
    """Say that memory could not be allocated, in numbers or, as ``OutOfMemoryError("the pool is full")``, in words.

    Attributes
    ----------
    nbytes : int or None
        Bytes asked for; this and the others are None where words were given.
    alignment : int or None
        Alignment asked for, in bytes.
    in_use : int or None
        Bytes that the allocator had given out and not yet got back.
    limit : int or None
        The limit that was reached, if tensix set it and not the system.
    cached : int or None
        Bytes that a cache below the allocator keeps for reuse, if there is one.
    remarks : str
        While a profile or a recording runs, which lines hold most; part of the text.

    Examples
    --------
    >>> from tensix.core import OutOfMemoryError
    >>> print(OutOfMemoryError(4096, 64, 1024))
    cannot allocate 4,096 bytes (alignment 64): in use 1,024. Free tensors or ask for less.
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    def __init__(self, nbytes, alignment=None, in_use=None, limit=None, cached=None):
        self.words = nbytes if isinstance(nbytes, str) else None
        if self.words is not None:
            super().__init__(self.words)  # what pickle calls the class with
            nbytes = None
        elif alignment is None or in_use is None:
            raise TypeError("OutOfMemoryError() takes words, or nbytes, alignment and in_use.")
        else:
            super().__init__(nbytes, alignment, in_use, limit, cached)
        self.remarks = remarks()
        self.nbytes, self.alignment, self.in_use, self.limit, self.cached = nbytes, alignment, in_use, limit, cached

    def __str__(self):
        if self.words is not None:
            return self.words + self.remarks
        bound = "" if self.limit is None else f"limit {self.limit:,}, "
        kept = "" if self.cached is None else f", cached {self.cached:,}"
        remedy = "Free tensors or ask for less." if self.limit is None else "Free tensors or raise the limit."
        return (
            f"cannot allocate {self.nbytes:,} bytes (alignment {self.alignment}): "
            f"{bound}in use {self.in_use:,}{kept}. {remedy}{self.remarks}"
        )


cdef class Allocator:
    """Allocator()\n--\n
    Give out memory; subclass it and override `allocate`.

    The other methods have defaults that fit an allocator whose blocks are plain CPU memory with ``data == ctx``. A
    subclass in Cython overrides ``c_allocate`` in place of `allocate`, which then asks that.

    Notes
    -----
    Lifetime: a storage keeps the allocator that made it alive, and the collector does not visit storages: an
    allocator that keeps its own storages is never freed. What a block's deleter needs, the block's `DataPtr`
    has to keep alive itself; a bound method handed to `DataPtr.from_callable` does.

    Thread-safety: `allocate` is called with the GIL held, deleters with or without it. A thread that allocates without
    the GIL takes it for an allocator that is written in Python.

    Examples
    --------
    >>> from tensix.core import Allocator, CPUAllocator, Storage
    >>> class Counting(Allocator):
    ...     count = 0
    ...     upstream = CPUAllocator()
    ...     def allocate(self, nbytes):
    ...         self.count += 1
    ...         return self.upstream.allocate(nbytes)
    >>> counting = Counting()
    >>> storage = Storage(100, counting)
    >>> counting.count, storage.allocator is counting
    (1, True)
    """

    def allocate(self, nbytes):
        """Return a `DataPtr` to at least `nbytes` bytes; a null one is right for 0.

        Raises
        ------
        OutOfMemoryError
            If there is no memory.
        """
        cdef data_ptr_t block
        if is_of_python_class(self) and overrides(self, "allocate") and is_written_in_python(type(self)):
            Allocator_refuse(self)  # c_allocate() would come back here, by way of the override
        cdef size_t size = nbytes_from_any(nbytes)
        block.operations = NULL
        self.c_allocate(size, &block)
        if is_null(&block, size):
            refuse_null(self, "allocate", size, &block)
        return DataPtr_wrap(&block)

    def clone(self, address, nbytes):
        """Return a new block holding a copy of `nbytes` bytes at `address`.

        Parameters
        ----------
        address : int
            Any address inside memory that this allocator made.
        nbytes : int
            Bytes to copy.

        Returns
        -------
        DataPtr
            Only bytes are cloned: its context is a new one.
        """
        cdef data_ptr_t copy
        allocate_copy(self, <void*>address_from_any(address, "address"), nbytes_from_any(nbytes), &copy)
        return DataPtr_wrap(&copy)

    def is_simple_data_ptr(self, DataPtr data_ptr not None):
        """Return whether the context is nothing but the allocation, so that it can be wrapped in another one."""
        return data_ptr.seen.data == data_ptr.seen.ctx

    def raw_deleter(self):
        """Return the C function that frees any of our blocks, in a form that `DataPtr` takes; 0 if there is none."""
        return 0

    def raw_allocate(self, nbytes):
        """Return the address of a block that the caller frees with `raw_deallocate`.

        Raises
        ------
        RuntimeError
            If this allocator's blocks need more than an address to be freed.
        """
        cdef data_ptr_t block
        if not self.raw_deleter():
            raise RuntimeError(
                f"{type(self).__name__} has no raw_deleter(), so an address alone could not be freed. Use allocate()."
            )
        Allocator_allocate(self, nbytes_from_any(nbytes), &block)
        if block.data != block.ctx:
            data_ptr_destroy(&block)
            raise RuntimeError(
                f"{type(self).__name__} keeps a context apart from the data, so an address alone could not be freed. "
                "Use allocate()."
            )
        address, block.ctx = <uintptr_t>block.ctx, NULL
        data_ptr_destroy(&block)
        return address

    def raw_deallocate(self, address):
        """Free a block by its address alone; 0 is accepted.

        Raises
        ------
        RuntimeError
            If this allocator has no `raw_deleter`.
        """
        deleter = self.raw_deleter()  # held while its function runs
        cdef deleter_t free_block = function_of(deleter)
        cdef void* block = <void*>address_from_any(address, "address")
        if free_block == NULL:
            raise RuntimeError(f"{type(self).__name__} has no raw_deleter(): it cannot free by address alone.")
        if block != NULL:
            free_block(block)

    def copy_data(self, dst, src, nbytes):
        """Copy bytes between two blocks, which must not overlap.

        Parameters
        ----------
        dst, src : int
            Addresses to copy to and from.
        nbytes : int
            Bytes to copy.
        """
        copy_bytes(<void*>address_from_any(dst, "dst"), <void*>address_from_any(src, "src"), nbytes_from_any(nbytes))

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        if type(self).allocate is Allocator.allocate:  # which calls this method: neither is overridden
            Allocator_refuse(self)
        tx_check_stack("an allocator")
        return Allocator_take(self, "allocate", self.allocate(nbytes), nbytes, out)

    cdef int c_try_allocate(self, size_t nbytes, data_ptr_t* out) noexcept nogil:
        if python_knows_thread():
            return NEEDS_GIL
        if not may_run_python():
            return NO_MEMORY
        with gil:
            return try_with_gil(self, nbytes, out, NULL)

    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1:
        if type(self).is_simple_data_ptr is Allocator.is_simple_data_ptr:
            return pointer.data == pointer.ctx
        cdef DataPtr borrowed = DataPtr_borrow(<data_ptr_t*>pointer, self)
        try:
            return self.is_simple_data_ptr(borrowed)
        finally:
            borrowed.seen = &borrowed.own  # if it is kept, it must not refer to a pointer that may be gone

    cdef int c_copy_data(self, void* dst, const void* src, size_t nbytes) except -1:
        if type(self).copy_data is Allocator.copy_data:
            return copy_bytes(dst, src, nbytes)
        self.copy_data(<uintptr_t>dst, <uintptr_t>src, nbytes)
        return 0


@cython.binding(True)
class use_allocator:
    """Serve every request made in a scope by one allocator.

    Parameters
    ----------
    allocator : Allocator
        The allocator that serves instead of the registered one.
    device : str or Device, optional
        The device type served.

    Notes
    -----
    The scope follows the context (`contextvars`): other asyncio tasks do not see it, nor do other threads, except those
    that inherit it, as all do that are started in the scope in free-threaded CPython 3.14. Scopes nest. Blocks made
    inside stay valid after it.

    Examples
    --------
    >>> from tensix.core import CPUAllocator, Storage, get_allocator, use_allocator
    >>> aligned = CPUAllocator(alignment=4096)
    >>> with use_allocator(aligned):
    ...     storage = Storage(10)
    >>> storage.data_ptr() % 4096, get_allocator("cpu") is aligned
    (0, False)
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    def __init__(self, allocator, device="cpu"):
        global scopes_were_used
        if not isinstance(allocator, Allocator):
            raise TypeError(f"use_allocator() needs an Allocator, found {type(allocator).__name__}.")
        self.allocator = allocator
        self._type_code = device_type_from_any(device)
        scopes_were_used = True

    def __enter__(self):
        scopes = SCOPED.get()
        TX_COUNT(open_scopes, 1)
        SCOPED.set({**scopes, self._type_code: (*scopes.get(self._type_code, ()), (self, self.allocator))})
        return self.allocator

    def __exit__(self, *exc_info):
        scopes = SCOPED.get()
        left = list(scopes.get(self._type_code, ()))
        for position in reversed(range(len(left))):
            if left[position][0] is self:  # wherever it is: generators may end their scopes in any order
                del left[position]
                SCOPED.set({**scopes, self._type_code: tuple(left)})
                TX_COUNT(open_scopes, -1)
                return
        raise RuntimeError("use_allocator() is left in a context, such as a task or thread, that did not enter it.")

    def __repr__(self):
        return f"use_allocator({self.allocator!r}, device={device_type_name(self._type_code)!r})"


def set_allocator(device_type, Allocator allocator, priority=0):
    """Register the allocator of a device type.

    Parameters
    ----------
    device_type : str or Device
        Such as ``"cpu"``.
    allocator : Allocator or None
        Kept alive while it is registered. None takes the registration back; not that of the CPU.
    priority : int, 0 to 255, optional
        A registration is kept unless a later one has the same priority or a higher one; a lower one is ignored.
    """
    cdef int8_t type_code = device_type_from_any(device_type)
    priority = PyNumber_Index(priority)
    if not 0 <= priority <= 255:
        raise ValueError(f"a priority must be from 0 to 255, found {priority}.")
    if allocator is None and type_code == CPU:
        raise TypeError("the CPU always needs an Allocator, found None.")
    cdef PyObject* wanted = NULL if allocator is None else <PyObject*>allocator
    with CHANGES:
        registered = REGISTRY[type_code]
        if registered is not None and priority < registered[1]:
            return
        REGISTRY[type_code] = None if allocator is None else (allocator, priority)
        tx_exchange(NULL, &serving[type_code], wanted)
    let_go_of(registered)


def get_allocator(device_type="cpu"):
    """Return the allocator that serves a device type in this context.

    Raises
    ------
    RuntimeError
        If none is registered.
    """
    return current_allocator(device_type_from_any(device_type))


cdef object CHANGES = change_lock()  # of the registry
cdef list FORMER = []  # registrations whose allocators threads without the GIL may still use
cdef list REGISTRY = [None] * DEVICE_TYPE_COUNT  # device type -> (allocator, priority) or None
cdef PyObject* served[DEVICE_TYPE_COUNT]
serving = served
SCOPED = ContextVar("tensix_allocators", default={})


cdef Allocator allocator_in_scope(int8_t device_type):
    """Return the allocator of a device type, by the innermost scope of this context."""
    if scopes_were_used:
        scoped = <tuple>(<dict>SCOPED.get()).get(device_type)
        if scoped:
            return <Allocator?>(<tuple>scoped[len(scoped) - 1])[1]  # its attribute may have been set
    if serving[device_type] == NULL:
        raise RuntimeError(
            f"Allocator for {device_type_name(device_type)} is not set. Register one with set_allocator()."
        )
    return <Allocator>serving[device_type]


cdef int allocate_without_gil(
        uint64_t* chosen, size_t nbytes, data_ptr_t* out, PyObject** error) noexcept nogil:
    """Make a block of main memory in any thread. See Note [Allocating without the GIL].

    At `chosen` stands the address of the allocator that serves; if it is NULL or there is 0, the one in use does. It
    changes only with the GIL, and what stood there goes to `let_go_of`. Returns 0 or NO_MEMORY; then `error`, unless it
    is NULL, gets a new reference to what was raised. It is not written in a thread that Python does not know.
    """
    cdef uint64_t* entered
    cdef PyObject* asked
    cdef int status = NEEDS_GIL
    if open_scopes == 0 or chosen_at(chosen) != NULL or not python_knows_thread():
        entered = enter_users()
        asked = chosen_at(chosen)
        if asked == NULL:
            asked = chosen_at(<uint64_t*>&serving[<int>CPU])
        status = Allocator_try_allocate(<Allocator>asked, nbytes, out)
        leave_users(entered)
    if status != 0 and python_knows_thread():
        with gil:
            asked = chosen_at(chosen)
            return try_with_gil(current_allocator(CPU) if asked == NULL else <Allocator>asked, nbytes, out, error)
    return 0 if status == 0 else NO_MEMORY


cdef inline PyObject* chosen_at(uint64_t* chosen) noexcept nogil:
    return NULL if chosen == NULL else <PyObject*>tx_load_acquire(chosen)


cdef int try_with_gil(Allocator self, size_t nbytes, data_ptr_t* out, PyObject** error) noexcept:
    """Return 0 or NO_MEMORY. Errors go to `error`, or if that is NULL those without memory to `sys.unraisablehook`."""
    cdef pending_exception_t pending = save_exception()
    cdef int status = NO_MEMORY
    try:
        Allocator_allocate(self, nbytes, out)
        status = 0
    except BaseException as raised:
        if error != NULL:
            Py_INCREF(raised)
            error[0] = <PyObject*>raised
        elif not isinstance(raised, MemoryError):
            pass_on(raised)
    restore_exception(pending)
    return status


cdef int open_scopes = 0    # of all contexts
cdef uint64_t users[2]      # threads that may use an allocator of the registry, in two counts
cdef uint64_t count_in_use  # which of them new threads enter


cdef uint64_t* enter_users() noexcept nogil:
    """Enter the count that is in use, and return it."""
    global tx_allocations
    cdef uint64_t* entered = &users[tx_load_acquire(&count_in_use)]
    tx_allocations += 1
    tx_add_fetch_acq_rel(entered, 1)
    return entered


cdef void leave_users(uint64_t* entered) noexcept nogil:
    global tx_allocations
    tx_fetch_sub_acq_rel(entered, 1)
    tx_allocations -= 1


cdef int let_go_of(object former) except -1:
    """Give back what has left the registry, once no thread uses it. See Note [Allocating without the GIL]."""
    with CHANGES:
        FORMER.append(former)
        if tx_allocations == 0:
            former, FORMER[:] = FORMER[:], []
    if tx_allocations == 0:
        with nogil:
            wait_for_users()
    return 0


cdef void wait_for_users() noexcept nogil:
    """Wait until no thread uses an allocator that had left the registry before."""
    cdef uint64_t place = tx_load_acquire(&count_in_use)
    wait_for_zero(&users[1 - place])
    tx_exchange_acq_rel(&count_in_use, 1 - place)
    wait_for_zero(&users[place])


cdef void wait_for_zero(uint64_t* count) noexcept nogil:
    while tx_add_fetch_acq_rel(count, 0) != 0:  # see Note [Allocating without the GIL]
        tx_let_others_run()


cdef void forget_users() noexcept nogil:
    """Forget the threads that are not in the child of a fork; the one that forks is in no allocation, or in one."""
    if tx_allocations == 0:
        users[0] = users[1] = 0


cdef int Allocator_clone(Allocator self, const void* src, size_t nbytes, data_ptr_t* out) except -1:
    """Clone as `self` does it, without making a Python object where nothing is overridden."""
    if type(self).clone is Allocator.clone:
        return allocate_copy(self, src, nbytes, out)
    return Allocator_take(self, "clone", self.clone(<uintptr_t>src, nbytes), nbytes, out)


cdef bint overrides(Allocator self, str name) except -1:
    """Return whether a class that is written in Python overrides a method of the classes that are not."""
    cdef PyTypeObject* base = Py_TYPE(self)
    while PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE) and <object>base is not Allocator:
        base = base.tp_base
    return getattr(type(self), name) is not getattr(<object>base, name)


cdef bint is_written_in_python(cls) except -1:
    """Return whether no class between this one and `Allocator` has a C table of methods."""
    return not any(["__pyx_vtable__" in vars(base) for base in cls.__mro__[:cls.__mro__.index(Allocator)]])


cdef int Allocator_refuse(Allocator self) except -1:
    raise NotImplementedError(
        f"{type(self).__name__} must override allocate(nbytes) -> DataPtr and make a block there: Allocator has none."
    )


cdef int Allocator_take(Allocator self, str method, object block, size_t nbytes, data_ptr_t* out) except -1:
    """Move out what an overridden method returned, if it is a block."""
    if not isinstance(block, DataPtr):
        raise TypeError(f"{type(self).__name__}.{method}() must return a DataPtr, found {type(block).__name__}.")
    DataPtr_move_out(block, out)
    return 0 if out.data != NULL or nbytes == 0 else refuse_null(self, method, nbytes, out)


cdef int refuse_null(Allocator self, str method, size_t nbytes, data_ptr_t* out) except -1:
    data_ptr_destroy(out)
    raise RuntimeError(
        f"{type(self).__name__}.{method}() returned a null address for {nbytes:,} bytes. "
        "Raise OutOfMemoryError when there is no memory."
    )


cdef int allocate_copy(Allocator self, const void* src, size_t nbytes, data_ptr_t* out) except -1:
    """Allocate and copy; on failure nothing is left behind."""
    Allocator_allocate(self, nbytes, out)
    try:
        Allocator_copy_data(self, out.data, src, nbytes)
    except BaseException:
        data_ptr_destroy(out)
        raise
    return 0


cdef int copy_bytes(void* dst, const void* src, size_t nbytes) except -1:
    if nbytes == 0:
        return 0
    if dst == NULL or src == NULL:
        raise RuntimeError(f"cannot copy {nbytes:,} bytes from or to a null address: no memory was allocated there.")
    with nogil:
        memcpy(dst, src, nbytes)
    return 0


cdef size_t nbytes_from_any(object nbytes) except? 0xFFFFFFFFFFFFFFFF:
    """Return a size in bytes given as an int, from 0 to 2**64-1."""
    if not PyIndex_Check(nbytes):
        raise TypeError(f"a size in bytes must be an int, found {type(nbytes).__name__}.")
    number = PyNumber_Index(nbytes)
    if number < 0:
        raise ValueError(f"a size in bytes must be 0 or more, found {number}.")
    if number >= 1 << 64:
        raise OverflowError(f"a size in bytes must fit in 64 bits, found {number}.")
    return number


cdef size_t alignment_from_any(object alignment) except 0:
    """Return an alignment in bytes given as an int, a power of two from 1 to 2**30."""
    cdef size_t size = 0 if PyIndex_Check(alignment) and alignment < 0 else nbytes_from_any(alignment)
    if size == 0 or size > 1 << 30 or size & (size - 1):
        raise ValueError(f"alignment must be a power of two from 1 to 2**30 bytes, found {alignment}.")
    return size


if tx_at_fork(NULL, NULL, forget_users):
    raise MemoryError("no memory to register for forks.")
