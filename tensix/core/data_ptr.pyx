"""Memory with two pointers: where the bytes are, and what has to be freed.

``data`` is the address of the bytes and is not owned. ``ctx`` is owned and handed to ``deleter``, a plain C
function, when the owner dies. The two may differ: guard zones, parts of larger blocks, Python objects, shared
contexts. The facts are those of PyTorch's ``UniqueVoidPtr`` and ``DataPtr``, except that a moved-from pointer here
reads as empty.

Note [Operations of a block]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A deleter is an address; its author knows more. All that is known of a kind of block stands in one static struct, to
which its blocks point, as objects point to their type: its deleter, what that is called, what the contexts are and
what can be seen in one. Two blocks are of one kind if they have the same operations.

A deleter whose structures the GIL protects has to find out whether it holds it, which takes CPython 3.11 longer than
the rest of its work. Nearly all code that frees a block knows that it does. It frees by `data_ptr_destroy_with_gil`,
which calls the operation for that case, if there is one.

Other packages know deleters only. A package that sets its own deleter on one of our blocks leaves our operations in
place, so they count only while they belong to the deleter: ask `data_ptr_operations`. A block that is made of addresses
has none. It is freed as any other, but its context is never read: it may be any number. Of deleters without operations
the system's loader knows the name, if they are exported, or else the library.

Note [Long chains]
~~~~~~~~~~~~~~~~~~
A block may belong to an array that views a tensor, whose block belongs to another array, and so on; a tensor may
hold a record of gradients that holds the tensor it was made from. Freeing the last one frees all of them, one inside
the other, and a long chain would overflow the C stack. So a block that is freed inside too many others is put aside,
and freed by the outermost one of its thread when that is done: CPython does the same with its containers, and calls it
the trashcan. Without memory to put it aside it is freed at once.
"""
cimport cython
import os
import sys

from cpython.number cimport PyIndex_Check, PyNumber_Index
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from cpython.ref cimport Py_INCREF, Py_XINCREF, PyObject
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc
from tensix.core.assertions cimport TX_ASSERT, TX_ASSERT_GIL
from tensix.core.device cimport Device, Device_from_any, Device_get
from tensix.core.python_reference cimport (
    restore_exception, drop_python_reference, may_run_python, pending_exception_t, save_exception,
)

__all__ = ["DataPtr"]

cdef extern from *:
    """
    #include "tensix/core/thread_local.h"
    typedef struct { int depth; void *aside; } tx_chain_t;
    static tx_chain_t *tx_this_thread(void) { static TX_THREAD_LOCAL tx_chain_t chain; return &chain; }
    """
    ctypedef struct chain_t "tx_chain_t":
        int depth    # how many blocks are being freed one inside the other
        void* aside  # a list of aside_t
    chain_t* this_thread "tx_this_thread"() nogil

cdef extern from "tensix/core/symbols.h" nogil:
    void tx_find_symbol(void* address, const char** name, const char** library)

cdef enum:
    MAX_DESTROY_DEPTH = 24  # a thread's stack may be small, and each level may be a few hundred bytes of others' frames

cdef struct aside_t:
    data_ptr_t block
    aside_t* next

cdef struct closure_t:
    PyObject* function  # owned
    void* data


@cython.freelist(16)
@cython.no_gc_clear  # __dealloc__ still needs the owner
cdef class DataPtr:
    """DataPtr(data=0, ctx=0, deleter=None, device='cpu')\n--\n
    Own memory through a context and a deleter.

    Parameters
    ----------
    data : int, optional
        Address of the bytes; not owned.
    ctx : int, optional
        Address handed to the deleter; 0 owns nothing.
    deleter : ctypes function, PyCapsule named ``"tensix.deleter"``, int or None, optional
        A C function ``void (*)(void *)``; it must not raise, and is called from any thread with or without the
        GIL. A function object or capsule is kept alive with the memory.
    device : str or Device, optional
        Where the bytes are.

    Notes
    -----
    Lifetime: the deleter runs once, with `ctx`, when the pointer, or the owner it was handed to, dies; only if `ctx`
    is not 0. Handing a `DataPtr` to an owner moves it: it is empty afterwards.

    Thread-safety: as any Python object; the deleter may run on another thread than the one that made it.

    Examples
    --------
    >>> from tensix.core import DataPtr
    >>> freed = []
    >>> pointer = DataPtr.from_callable(0x1000, freed.append)
    >>> pointer.get() == 0x1000, bool(pointer)
    (True, True)
    >>> pointer.clear()
    >>> freed
    [4096]
    """

    def __cinit__(self):
        self.seen = &self.own

    def __init__(self, data=0, ctx=0, deleter=None, device="cpu"):
        cdef uintptr_t data_address = address_from_any(data, "data")
        cdef uintptr_t ctx_address = address_from_any(ctx, "ctx")
        cdef Device where = Device_from_any(device)
        cdef PyObject* keep_alive = NULL
        cdef deleter_t function = deleter_from_any(deleter, &keep_alive)
        if self.borrowed_from is not None or self.own.ctx != NULL or self.own.data != NULL or self.own.deleter != NULL:
            drop_python_reference(keep_alive, True)
            raise RuntimeError("a DataPtr is filled once: make a new one instead of calling __init__ again.")
        data_ptr_init(&self.own, <void*>data_address, NULL, NULL)
        self.own.ctx, self.own.deleter, self.own.keep_alive = <void*>ctx_address, function, keep_alive
        self.own.device_type, self.own.device_index = where.type_code, where.index

    def __dealloc__(self):
        data_ptr_destroy(&self.own)

    @staticmethod
    @cython.binding(True)
    def from_callable(data, function, device="cpu"):
        """Make a pointer whose memory is freed by any Python callable.

        Parameters
        ----------
        data : int
            Address of the bytes, handed to `function` when the owner dies.
        function : callable
            Called once with `data`. What it raises goes to `sys.unraisablehook`. It is not called after
            finalisation has begun.
        device : str or Device, optional
            Where the bytes are.

        Returns
        -------
        DataPtr
            Its context is a closure; that costs one small block more than a C function does.

        Raises
        ------
        TypeError
            If `function` is not callable.
        """
        if not callable(function):
            raise TypeError(f"from_callable() needs a callable, found {type(function).__name__}.")
        cdef DataPtr made = DataPtr(data, 0, None, device)
        cdef closure_t* closure = <closure_t*>malloc(sizeof(closure_t))
        if closure == NULL:
            raise MemoryError("no memory for the context of a DataPtr.")
        closure.function = <PyObject*>function
        Py_INCREF(function)
        closure.data = made.own.data
        data_ptr_own(&made.own, closure, &closure_operations)
        return made

    @property
    def device(self):
        """The device that the pointer is labelled with."""
        return Device_get(self.seen.device_type, self.seen.device_index)

    def get(self):
        """Return the address of the bytes, 0 for none."""
        return <uintptr_t>self.seen.data

    def get_context(self):
        """Return the address that the deleter will get, 0 for none."""
        return <uintptr_t>self.seen.ctx

    def get_deleter(self):
        """Return the address of the deleter, 0 for none."""
        return <uintptr_t>self.seen.deleter

    def clear(self):
        """Free the context and forget the address; the deleter stays attached."""
        DataPtr_check_owner(self, "clear")
        cdef data_ptr_t taken
        with cython.critical_section(self):
            taken = self.own
            self.own.data = self.own.ctx = NULL
        data_ptr_clear(&taken)

    def release_context(self):
        """Give the context out without freeing it; the address stays readable.

        Returns
        -------
        int
            The context; freeing it is now the caller's work.
        """
        DataPtr_check_owner(self, "release the context of")
        cdef void* ctx
        with cython.critical_section(self):
            ctx = self.own.ctx
            self.own.ctx = NULL
        return <uintptr_t>ctx

    def cast_context(self, deleter):
        """Return the context if `deleter` is the one attached, else 0."""
        return <uintptr_t>self.seen.ctx if self.seen.deleter == function_of(deleter) else 0

    def compare_exchange_deleter(self, expected, new):
        """Attach another deleter if `expected` is the one attached.

        Parameters
        ----------
        expected, new : ctypes function, PyCapsule, int or None
            As in the constructor.

        Returns
        -------
        bool
            Whether the deleter was exchanged.
        """
        DataPtr_check_owner(self, "exchange the deleter of")
        cdef PyObject* keep_alive = NULL
        cdef deleter_t before = function_of(expected), after = deleter_from_any(new, &keep_alive)
        cdef bint is_exchanged
        with cython.critical_section(self):
            is_exchanged = self.own.deleter == before
            if is_exchanged:
                self.own.deleter, self.own.operations = after, NULL
                keep_alive, self.own.keep_alive = self.own.keep_alive, keep_alive
        drop_python_reference(keep_alive, False)
        return is_exchanged

    def unsafe_reset_data_and_ctx(self, address):
        """Point both address and context to `address`, if no deleter is attached.

        Returns
        -------
        bool
            Whether it was done. The old context is not freed.
        """
        DataPtr_check_owner(self, "reset")
        cdef uintptr_t number = address_from_any(address, "address")
        if self.own.deleter != NULL:
            return False
        self.own.data = self.own.ctx = <void*>number
        return True

    def unsafe_set_device(self, device):
        """Change the device label; no byte moves."""
        DataPtr_check_owner(self, "relabel")
        cdef Device where = Device_from_any(device)
        self.own.device_type, self.own.device_index = where.type_code, where.index

    def __bool__(self):
        return self.seen.data != NULL or self.seen.ctx != NULL

    def __repr__(self):
        return (
            f"DataPtr(data={<uintptr_t>self.seen.data:#x}, ctx={<uintptr_t>self.seen.ctx:#x}, "
            f"deleter={<uintptr_t>self.seen.deleter:#x}, device='{self.device}')"
        )


cdef void run_closure(void* ctx) noexcept nogil:
    """Call the closure's function once and free the closure. See Note [GIL and finalisation]."""
    cdef pending_exception_t pending
    if may_run_python():
        with gil:
            pending = save_exception()
            closure_call(<closure_t*>ctx)
            restore_exception(pending)
        free(ctx)


cdef int closure_call(closure_t* closure) noexcept:
    function = <object>closure.function
    drop_python_reference(closure.function, True)
    function(<uintptr_t>closure.data)  # noexcept: Cython hands what it raises to sys.unraisablehook
    return 0


cdef dict closure_facts(void* ctx):
    return {"function": <object>(<closure_t*>ctx).function}


cdef data_ptr_operations_t closure_operations = data_ptr_operations_t(
    run_closure, NULL, b"run_closure", b"Python callable", closure_facts)


cdef void data_ptr_clear(data_ptr_t* self) noexcept nogil:
    """Free the context; the deleter stays. The fields are emptied first, a deleter may read its owner."""
    cdef void* ctx = self.ctx
    self.data = self.ctx = NULL
    if ctx == NULL or self.deleter == NULL:
        return
    # A deleter with a Python object behind it may be Python code (a ctypes callback): not after finalisation.
    if self.keep_alive == NULL or may_run_python():
        self.deleter(ctx)


cdef void data_ptr_destroy(data_ptr_t* self) noexcept nogil:
    """Free the context and whatever the deleter needed. See Note [Long chains]."""
    cdef chain_t* chain
    if self.ctx == NULL and self.keep_alive == NULL:
        self.data = NULL
        self.deleter = NULL
        return
    chain = this_thread()
    if chain.depth >= MAX_DESTROY_DEPTH and put_aside(chain, self):
        return
    chain.depth += 1
    destroy_now(self)
    TX_ASSERT(chain.depth > 0, "a block that is being freed inside others", chain.depth)
    chain.depth -= 1
    if chain.depth == 0 and chain.aside != NULL:
        free_aside(chain)


cdef inline void destroy_now(data_ptr_t* self) noexcept nogil:
    cdef PyObject* keep_alive = self.keep_alive
    data_ptr_clear(self)
    self.deleter = NULL
    self.keep_alive = NULL
    if keep_alive != NULL:
        drop_python_reference(keep_alive, False)


cdef bint put_aside(chain_t* chain, data_ptr_t* self) noexcept nogil:
    """Move a block to those that the outermost one of this thread frees; False without memory for that."""
    cdef aside_t* aside = <aside_t*>malloc(sizeof(aside_t))
    if aside == NULL:
        return False
    data_ptr_move(&aside.block, self)
    aside.next = <aside_t*>chain.aside
    chain.aside = aside
    return True


cdef void free_aside(chain_t* chain) noexcept nogil:
    """Free what was put aside, and what is put aside meanwhile."""
    cdef aside_t* aside
    while chain.aside != NULL:
        aside = <aside_t*>chain.aside
        chain.aside = aside.next
        chain.depth += 1
        destroy_now(&aside.block)
        chain.depth -= 1
        free(aside)


cdef void destroy_reference(PyObject* reference) noexcept nogil:
    """Give back a Python reference that may be a link of a long chain. See Note [Long chains]."""
    cdef data_ptr_t block
    data_ptr_init(&block, NULL, NULL, NULL)
    block.keep_alive = reference
    data_ptr_destroy(&block)


cdef void data_ptr_destroy_with_gil(data_ptr_t* self) noexcept nogil:
    """Do the same as `data_ptr_destroy` where the GIL is held for certain. See Note [Operations of a block]."""
    cdef const data_ptr_operations_t* operations = data_ptr_operations(self)
    cdef void* ctx = self.ctx
    TX_ASSERT_GIL()
    if operations == NULL or operations.free_with_gil == NULL or self.keep_alive != NULL:
        data_ptr_destroy(self)
        return
    self.data = self.ctx = NULL
    self.deleter = NULL
    if ctx != NULL:
        operations.free_with_gil(ctx)


cdef void data_ptr_move(data_ptr_t* self, data_ptr_t* source) noexcept nogil:
    """Move `source`, which is empty afterwards, into a struct that owns nothing."""
    self[0] = source[0]
    source.data = source.ctx = NULL
    source.deleter = NULL
    source.keep_alive = NULL


cdef dict data_ptr_facts(const data_ptr_t* self):
    """Return what a block of memory is: its addresses and device, who frees it, and what its context is made of."""
    cdef const data_ptr_operations_t* operations = data_ptr_operations(self)
    cdef const char* name = NULL
    cdef const char* library = NULL
    cdef dict facts = {
        "data": <uintptr_t>self.data,
        "ctx": <uintptr_t>self.ctx,
        "deleter": <uintptr_t>self.deleter,
        "deleter_name": None,
        "library": None,
        "context": None,
        "device": str(Device_get(self.device_type, self.device_index)),
        "keeps_alive": None if self.keep_alive == NULL else <object>self.keep_alive,
    }
    if operations != NULL:
        facts["deleter_name"], facts["context"] = operations.name.decode(), operations.context.decode()
        if operations.facts != NULL:
            facts.update(operations.facts(self.ctx))
    elif self.deleter != NULL:
        tx_find_symbol(<void*>self.deleter, &name, &library)
        facts["deleter_name"] = None if name == NULL else name.decode(errors="replace")
        facts["library"] = None if library == NULL else os.path.basename(os.fsdecode(library))
    return facts


cdef DataPtr DataPtr_wrap(data_ptr_t* source):
    """Return an owner of what `source` owned."""
    cdef DataPtr made = DataPtr.__new__(DataPtr)
    data_ptr_move(&made.own, source)
    return made


cdef DataPtr DataPtr_borrow(data_ptr_t* source, object borrowed_from):
    """Return a borrowed pointer to what `borrowed_from` owns; it stays current and keeps that object alive."""
    cdef DataPtr made = DataPtr.__new__(DataPtr)
    made.seen = source
    made.borrowed_from = borrowed_from
    return made


cdef int DataPtr_move_out(DataPtr self, data_ptr_t* target) except -1:
    """Move the contents into a struct that owns nothing."""
    if self is None:
        raise TypeError("a DataPtr is needed, found None.")
    DataPtr_check_owner(self, "hand over")
    with cython.critical_section(self):
        data_ptr_move(target, &self.own)
    return 0


cdef int DataPtr_check_owner(DataPtr self, str verb) except -1:
    if self.borrowed_from is not None:
        raise RuntimeError(
            f"cannot {verb} a borrowed DataPtr: a {type(self.borrowed_from).__name__} owns it. "
            "Take it out with set_data_ptr() first."
        )
    return 0


cdef uintptr_t address_from_any(object address, str what) except? 0:
    """Return an address given as an int, from 0 to 2**64-1."""
    if not PyIndex_Check(address):
        raise TypeError(f"{what} must be an address given as an int, found {type(address).__name__}.")
    number = PyNumber_Index(address)
    if number < 0:
        raise ValueError(f"{what} must be an address, 0 or more, found {number}.")
    return number  # beyond 64 bits: OverflowError


cdef deleter_t function_of(object deleter) except? NULL:
    return <deleter_t>c_function_from_any(deleter, "deleter", " For a Python callable use DataPtr.from_callable().")


cdef void* c_function_from_any(object function, str role, str hint) except? NULL:
    """Return the address of a C function given in any accepted form, NULL for None; errors end with `hint`."""
    if function is None:
        return NULL
    name = f"tensix.{role}".encode()
    ctypes = sys.modules.get("ctypes")  # without it there are no functions of it, and it need not be loaded
    if ctypes is not None and isinstance(function, ctypes._CFuncPtr):
        # The function's address is the object's one word; ctypes.cast() would leave a reference cycle behind.
        return (<void**><uintptr_t>ctypes.addressof(function))[0]
    if PyCapsule_IsValid(function, name):
        return PyCapsule_GetPointer(function, name)
    if isinstance(function, int):
        return <void*><uintptr_t>address_from_any(function, role)
    raise TypeError(
        f"a {role} is a ctypes function, a PyCapsule named 'tensix.{role}' or the address of a C function, found "
        f"{type(function).__name__}.{hint}"
    )


cdef deleter_t deleter_from_any(object deleter, PyObject** keep_alive) except? NULL:
    """As function_of(), and take a reference to the object that the function needs, if any."""
    cdef deleter_t function = function_of(deleter)
    if function != NULL and not isinstance(deleter, int):
        keep_alive[0] = <PyObject*>deleter
        Py_XINCREF(keep_alive[0])
    return function
