"""An operator and its kernels: from the keys of the arguments to a kernel.

An operator is declared once by its schema and owns a table with a slot per dispatch key. A call is: unite the keys
of the tensor arguments, mask out what falls through, find the slot, jump.

Note [How a slot is resolved]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Slots are filled when something is registered, not when the operator is called. The first that applies wins:

1. the newest kernel registered for the key itself;
2. CompositeExplicitAutograd, in the dense slots of backends and of no tensor at all;
3. CompositeImplicitAutograd, unless an autograd slot stands over a backend that has a kernel of its own;
4. Autograd, in the autograd slots;
5. the fallback registered for the key;
6. fallthrough, in the slots of functionalities that are not a backend's;
7. a kernel that says what is missing.

Note [Kernels that are unregistered while they run]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Slots are borrowed references, and a call takes none, which saves eight instructions and two stores in each. So a kernel
may go while it runs, if it or another thread unregisters it. One that runs a Python callable holds itself. One that is
written in C, of a few words, is never freed: a call may still be in it.

Note [Calls of a table]
~~~~~~~~~~~~~~~~~~~~~~~
Python calls a table. Code in C has all arguments that the schema declares in an array, in its order, and calls
`call_array`; `call1`, `call2` and `call_with` make that array on the stack, of the one or two arguments that are given
and the schema's defaults, and `call` makes it of a tuple and a dict. The table reads from the schema which arguments
are tensors: it unites their keys, and before it runs a kernel in C it refuses those that are undefined and counts a use
of each. See Note [Operands in use] in tensix/tensors/tensor_impl.py.

Note [What comes back from Python]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Callers in C take a result for what the schema says, and read its fields. What kernels and fallbacks in Python return is
therefore checked when it comes back, in `check_returned` and nowhere else; kernels in C are trusted.

* Each result is of its declared type. A Tensor is defined, unless the schema says Tensor?.
* A result that the schema marks as written, as in Tensor(a!), is the argument of that mark.
* Kernels of tensix read and write what ``MEMORY_MAKERS`` return by its address. Such a result has the shape, type,
  device and memory format that the arguments ask for.

Explicit kernels may read strides and storage, as those of views do. Tensors of other layouts have neither, so they
are not reached: their slots want a kernel of their own. (In PyTorch an alias for the dense slots alone exists beside
one for all; here the one that is safe is enough.) Implicit kernels call operators only, so they serve every slot.
"""


import cython
from cython.cimports.cpython.ref import Py_DECREF, Py_INCREF
from cython.cimports.libc.stdint import uint64_t
from cython.cimports.libc.string import memcpy
from cython.cimports.tensix.core.allocator import tx_check_stack
from cython.cimports.tensix.core.device import CPU, Device_from_any, Device_get
from cython.cimports.tensix.core.free_threading import TX_COUNT, stolen, tx_change_t, tx_while_stopped
from cython.cimports.tensix.core.memory_reports import begin_operation, end_operation
from cython.cimports.tensix.dispatch.argument_parser import ArgumentParser
from cython.cimports.tensix.dispatch.kernel import Kernel, Kernel_of, argument_t, arguments_t
from cython.cimports.tensix.dispatch.local_state import active_hooks, count_hooks, local_keys
from cython.cimports.tensix.tensors.dispatch_key import (
    BACKEND_BITS, BACKEND_MASK, FIRST_SLOT, FUNCTIONALITY_COUNT, SLOT_COUNT, dense_keys_of_device,
)
from cython.cimports.tensix.tensors.dtype import default_float_code, dtype_from_any, dtype_of_code
from cython.cimports.tensix.tensors.memory_format import TensorImpl_is_contiguous_in, memory_format_from_any
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, TensorBase
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl_shape, TensorImpl_stride

from tensix.core.free_threading import change_lock
from tensix.dispatch.kernel import fallthrough
from tensix.tensors.dispatch_key import DispatchKeySet, dispatch_keys, name_of_slot, slot_from_any
from tensix.tensors.memory_format import contiguous_format, preserve_format

__all__ = ["OperatorTable"]

FIRST_FUNCTIONALITY_SLOT = cython.declare(cython.int, slot_from_any("BackendSelect"))
FIRST_AUTOGRAD_SLOT = cython.declare(cython.int, slot_from_any("AutogradCPU"))
DENSE = cython.declare(cython.int, 1)  # the first functionality, and its first slot
MEMORY_MAKERS = cython.declare(set, {
    "tensix::empty.memory_format", "tensix::zeros", "tensix::clone", "tensix::contiguous", "tensix::_to_copy",
    "tensix::to.dtype",
})  # fmt: skip


class PythonKernel(Kernel):
    """Run a Python callable, and check what it returns. Arguments equal to their defaults are omitted.

    A fallback serves any operator, and gets its table first.
    """

    def __init__(self, function, is_fallback=False):
        self.function_object, self.is_fallback, self.function = function, is_fallback, run_python
        self.serves_any = self.is_foreign = True

    def __repr__(self):
        name = getattr(self.function_object, "__qualname__", None)
        if self.is_fallback:
            return f"fallback {name or type(self.function_object).__name__}"
        return f"{self.function_object.__module__}.{name}" if name else repr(self.function_object)


def run_python(self, table, args):
    kernel: PythonKernel = self  # held: see Note [Kernels that are unregistered while they run]
    by_position, by_name = cython.cast(OperatorTable, table).parser.unbind(args, False)
    function = kernel.function_object
    tx_check_stack(b"a fallback" if kernel.is_fallback else b"a kernel in Python")
    if kernel.is_fallback:
        by_position = (table, *by_position)
    result = function(*by_position, **by_name) if by_name else function(*by_position)
    check_returned(kernel, table, args, result)
    return result


def check_returned(kernel, table, args, result):
    """Check what a Python callable returned. See Note [What comes back from Python]."""
    if table.returns_tensor and isinstance(result, TensorBase) and is_defined(result):
        return check_memory(kernel, table, args, result) if table.makes_memory else 0
    schema = table.schema
    results = cython.cast(ArgumentParser, schema.results, typecheck=True)
    if result is None and not results.arguments:
        return 0
    values = result if schema.returns_several else (result,)
    if not isinstance(values, (tuple, list)) or len(values) != len(results.arguments):
        refuse_result(kernel, table, TypeError, result, schema.returns)
    for place, value in enumerate(values):
        declared = results.arguments[place]
        if not is_accepted(results, place, value):
            refuse_result(kernel, table, TypeError, value, declared.type)
        if declared.is_write and not is_written(table, args, declared.alias, value):
            refuse_result(kernel, table, ValueError, value, f"its argument Tensor({declared.alias}!) itself")
    if table.makes_memory:
        check_memory(kernel, table, args, result)
    return 0


@cython.cfunc
@cython.exceptval(check=True)
def is_accepted(results: ArgumentParser, place: cython.int, value) -> cython.bint:
    """Return whether a value is of a result's type, and a tensor that must be there is defined."""
    declared = results.arguments[place]
    return declared.type == "Any" or (results.accepts(place, value) and (declared.optional or is_defined(value)))


@cython.cfunc
@cython.exceptval(check=True)
def is_defined(value) -> cython.bint:
    """Return whether a value is not an undefined tensor, and has none in it."""
    if isinstance(value, TensorBase):
        return cython.cast(TensorBase, value).impl is not UNDEFINED
    return not isinstance(value, (tuple, list)) or all([is_defined(item) for item in value])


@cython.cfunc
@cython.exceptval(check=True)
def is_written(table: OperatorTable, args: arguments_t, alias, value) -> cython.bint:
    """Return whether a result is the argument that is written as it says, if a tensor was given for that."""
    for place, declared in enumerate(table.parser.arguments):
        if declared.is_write and declared.alias == alias:
            given = cython.cast(object, args[place])
            if isinstance(given, TensorBase) and isinstance(value, TensorBase):
                return cython.cast(TensorBase, value).impl is cython.cast(TensorBase, given).impl
    return True


@cython.cfunc
@cython.exceptval(-1)
def check_memory(source, table: OperatorTable, args: arguments_t, result: TensorBase) -> cython.int:
    """Check that a tensor has the shape, type, device and format that the arguments ask for, else those of `self`."""
    given = {name: cython.cast(object, args[place]) for name, place in table.parser.places.items()}
    like, made = given.get("self"), result.impl
    dtype, device, memory_format = given.get("dtype"), given.get("device"), given.get("memory_format")
    if like is None:
        shape = tuple(given["size"]) if isinstance(given["size"], (tuple, list)) else (given["size"],)
        code, device = default_float_code(), Device_from_any("cpu" if device is None else device)
    else:
        base = cython.cast(TensorBase, like).impl
        shape, code = TensorImpl_shape(base), base.dtype_code
        device = Device_from_any(device) if device is not None else Device_get(base.device_type, base.device_index)
        if base.storage is None:  # a sparse tensor, which has no address
            return 0
    if dtype is not None:
        code = dtype_from_any(dtype).code
    if memory_format is None:
        memory_format = contiguous_format if like is None else preserve_format
    memory_format = memory_format_from_any(memory_format)
    keys: uint64_t = dense_keys_of_device(device.type_code)
    if not (
        TensorImpl_shape(made) == shape
        and made.dtype_code == code
        and made.key_set & keys == keys
        and (memory_format is preserve_format or TensorImpl_is_contiguous_in(made, memory_format))
    ):
        order = "" if memory_format is preserve_format else f", {memory_format.name}"
        wanted = f"a strided Tensor of shape {shape}, {dtype_of_code(code).name}, {device}{order}"
        refuse_result(source, table, ValueError, result, wanted)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def refuse_result(source, table: OperatorTable, error, value, wanted) -> cython.int:
    """Say what a kernel returned, or what a listener made of it, how that was registered, and what was expected."""
    found = type(value).__name__
    if isinstance(value, TensorBase):
        impl = cython.cast(TensorBase, value).impl
        device = Device_get(impl.device_type, impl.device_index)
        found = f"a Tensor of shape {TensorImpl_shape(impl)}, {dtype_of_code(impl.dtype_code).name}, {device}"
        found += ", without strides" if impl.storage is None else f", strides {TensorImpl_stride(impl)}"
        if impl is UNDEFINED:
            found = "an undefined Tensor"
    did = f"{registration_of(table, source)}, returned" if isinstance(source, Kernel) else "which listens, left"
    raise error(f"{table.schema.qualified_name}(): {source!r}, {did} {found}; expected {wanted}.")


@cython.cfunc
def registration_of(table: OperatorTable, kernel: Kernel):
    """Return for which key a kernel is registered, and by whom."""
    for slot, entries in table.registered.items():
        for its, owner in entries:
            if its is kernel:
                return f"registered for {name_of_slot(slot)} by {owner}"
    for slot, its in FALLBACKS.items():
        if its is kernel:
            return f"the fallback of {name_of_slot(slot)}"
    return "which is no longer registered"


@cython.cfunc
def refuse_keys(self: Kernel, table: object, args: arguments_t):
    """Say that an operator has no kernel for the keys of a call."""
    operator = cython.cast(OperatorTable, table)
    keys = keys_of_call(operator, args)
    if keys == 0:
        raise RuntimeError(
            "There were no tensor arguments to this function, or undefined ones only, but no kernel is registered "
            f"for schema {operator.schema} without them."
        )
    refuse_slot(operator, OperatorTable_slot(operator, local_keys(keys)))


@cython.cfunc
@cython.exceptval(-1)
def refuse_slot(table: OperatorTable, slot: cython.int) -> cython.int:
    name = table.schema.qualified_name
    available = ", ".join(table.registered_keys()) or "no backend at all"
    raise NotImplementedError(
        f"Could not run '{name}' with arguments from the '{name_of_slot(slot)}' backend. "
        f"'{name}' is only available for these backends: [{available}]."
    )


MISSING = cython.declare(Kernel, Kernel_of("missing", refuse_keys))
MISSING.is_foreign = True
REGISTRATION = change_lock()  # of kernels, fallbacks and listeners


@cython.final
@cython.cclass
class OperatorTable:
    """OperatorTable(schema)\n--\n
    Hold the kernels of one operator; calling it dispatches, printing it draws the table.

    Attributes
    ----------
    schema : FunctionSchema
        How it is called.

    Examples
    --------
    >>> from tensix.dispatch import dispatcher
    >>> add = dispatcher.get_op_table("tensix::add.Tensor")
    >>> add(tensix.ones(2), tensix.ones(2))
    tensor([2., 2.])
    """

    def __cinit__(self, schema):
        self.schema = schema
        self.makes_memory = schema.qualified_name in MEMORY_MAKERS
        self.count = UNREAD
        self.registered = {}
        self.resolve()

    def register(self, key, kernel, *, owner="tensix", allow_override=False):
        """Enter a kernel for a dispatch key.

        Parameters
        ----------
        key : DispatchKey or str
            A key, or the alias of many.
        kernel : Kernel or callable
            Called with the operator's arguments; ``fallthrough`` masks the key out.
        owner : str, optional
            Who registers it, for error messages.
        allow_override : bool, optional
            Whether to override a kernel that is there, until this one is unregistered.

        Returns
        -------
        Kernel
            For `unregister`.

        Raises
        ------
        RuntimeError
            If the key has a kernel and `allow_override` is false.
        TypeError
            If the kernel is a C function that was registered for an operator with other arguments.
        """
        slot = slot_from_any(key)
        if not isinstance(kernel, Kernel):
            if not callable(kernel):
                raise TypeError(f"a kernel must be callable, found {type(kernel).__name__}.")
            kernel = PythonKernel(kernel)
        check_same_call(kernel, self.schema)
        with REGISTRATION:
            present = self.registered.get(slot, [])
            if present and not allow_override:
                raise RuntimeError(
                    f"{self.schema.qualified_name} has a kernel for {name_of_slot(slot)} already: {present[0][0]!r}, "
                    f"registered by {present[0][1]}; cannot register {kernel!r} of {owner} as well. Pass "
                    "allow_override=True to override it."
                )
            self.registered[slot] = [(kernel, owner), *present]  # others may read the list that is there
            self.resolve()
        return kernel

    def unregister(self, key, kernel, owner=None):
        """Take a kernel back; the one that it overrode serves again.

        Parameters
        ----------
        key : DispatchKey or str
            What it was registered for.
        kernel : Kernel
            What `register` returned.
        owner : str, optional
            Whose it is, the very object that `register` was given: several may have registered `fallthrough`.
        """
        slot = slot_from_any(key)
        if not isinstance(kernel, PythonKernel):
            UNREGISTERED.append(kernel)  # See Note [Kernels that are unregistered while they run]
        with REGISTRATION:
            left = self.registered[slot].copy()  # others may read the one that is there
            for n, (its, whose) in enumerate(left):
                if its is kernel and (owner is None or whose is owner):
                    del left[n]  # the newest alone: `fallthrough` may be there for many
                    break
            if left:
                self.registered[slot] = left
            else:
                del self.registered[slot]
            self.resolve()

    def registered_keys(self):
        """Return the names of the keys that have a kernel, aliases included."""
        return [name_of_slot(slot) for slot, entries in self.registered.items() if entries]

    def kernel_for(self, key):
        """Return the kernel in the slot of a key; an alias has no slot."""
        slot = slot_from_any(key)
        if slot >= SLOT_COUNT:
            raise ValueError(f"{name_of_slot(slot)} is an alias: it has no slot of its own.")
        return cython.cast(object, self.slots[slot])

    def redispatch(self, keys, *args, **kwargs):
        """Call the kernel for exactly a set of keys: neither arguments nor guards add to it.

        Parameters
        ----------
        keys : DispatchKeySet
            Which kernel.
        args, kwargs : object
            For it.

        Raises
        ------
        NotImplementedError
            If there is none.
        """
        if not isinstance(keys, DispatchKeySet):
            raise TypeError(f"redispatch() takes a DispatchKeySet first, found {type(keys).__name__}.")
        slot: cython.int = OperatorTable_slot(self, keys.bits)
        if cython.cast(object, self.slots[slot]) is MISSING:
            refuse_slot(self, slot)  # the kernel would ask the arguments for keys; here `keys` alone count
        args, kwargs = OperatorTable_bind(self, args, kwargs)
        return call_slot(self, slot, OperatorTable_fill(self, args, kwargs), args, kwargs)

    def resolve(self):
        """Fill every slot. See Note [How a slot is resolved]."""
        kernels: dict = {slot: entries[0][0] for slot, entries in self.registered.items()}
        fallbacks: dict = FALLBACKS.copy()
        resolution: resolution_t
        resolve_slots(resolution.slots, kernels, fallbacks)
        fill_masks(resolution.masks, resolution.slots)
        owned = (kernels, fallbacks)
        resolution.table = cython.cast(kernel_p, self)
        resolution.owned = cython.cast(kernel_p, owned)
        Py_INCREF(owned)
        tx_while_stopped(exchange_slots, cython.address(resolution))
        Py_DECREF(cython.cast(object, resolution.owned))  # the old ones go last, when no slot points to them

    def call1(self, a):
        args: argument_t[6]  # STACK_ARGUMENTS
        args[0] = cython.cast(argument_t, a)
        if active_hooks or self.count > STACK_ARGUMENTS:
            return call_by_tuple(self, args, 1)
        memcpy(args + 1, self.defaults + 1, (STACK_ARGUMENTS - 1) * cython.sizeof(argument_t))
        return run_of_one(self, a, args)

    def call2(self, a, b):
        args: argument_t[6]  # STACK_ARGUMENTS
        args[0], args[1] = cython.cast(argument_t, a), cython.cast(argument_t, b)
        if active_hooks or self.count > STACK_ARGUMENTS:
            return call_by_tuple(self, args, 2)
        memcpy(args + 2, self.defaults + 2, (STACK_ARGUMENTS - 2) * cython.sizeof(argument_t))
        kernel: kernel_p = self.slots[OperatorTable_slot(self, a.impl.key_set | b.impl.key_set)]
        if cython.cast(Kernel, kernel).is_foreign:
            return stolen(call_function(kernel, self, args))
        begin_use_of(a)
        if b.impl is UNDEFINED:
            end_use_of(a)
        begin_use_of(b)
        found = call_function(kernel, self, args)
        end_use_of(b)
        end_use_of(a)
        return stolen(found)

    def call_with(self, a, argument):
        args: argument_t[6]  # STACK_ARGUMENTS
        args[0], args[1] = cython.cast(argument_t, a), cython.cast(argument_t, argument)
        if active_hooks or self.count > STACK_ARGUMENTS:
            return call_by_tuple(self, args, 2)
        memcpy(args + 2, self.defaults + 2, (STACK_ARGUMENTS - 2) * cython.sizeof(argument_t))
        return run_of_one(self, a, args)

    def call_array(self, args):
        if active_hooks or self.count == UNREAD:
            by_position, by_name = OperatorTable_parser(self).unbind(args, False)
            return self.call(by_position, by_name)
        return run_any(self, args)

    def call_empty(self, ndim, sizes, dtype_code, device_type, device_index):
        keys: uint64_t = dense_keys_of_device(device_type)
        kernel: kernel_p = self.slots[OperatorTable_slot(self, keys)]
        if active_hooks or cython.cast(Kernel, kernel).empty_function == cython.NULL:
            options = {}
            if dtype_code != default_float_code():
                options["dtype"] = dtype_of_code(dtype_code)
            if device_type != CPU or device_index != -1:
                options["device"] = Device_get(device_type, device_index)
            return self.call((tuple([sizes[i] for i in range(ndim)]),), options)
        return cython.cast(Kernel, kernel).empty_function(
            cython.cast(Kernel, kernel), ndim, sizes, dtype_code, device_type, device_index
        )

    def call(self, args, kwargs):
        """Call with arguments of the declared types by position and by name."""
        if len(args) == self.count and not active_hooks and not kwargs and self.parser.list_place < 0:
            return run_any(self, PySequence_Fast_ITEMS(args))
        every = OperatorTable_fill(self, args, kwargs)
        keys = local_keys(keys_of_call(self, PySequence_Fast_ITEMS(every)))
        return call_slot(self, OperatorTable_slot(self, keys), every, args, kwargs)

    def __call__(self, *args, **kwargs):
        parser = OperatorTable_parser(self)
        if kwargs or not parser.takes(args):
            args, kwargs = OperatorTable_bind(self, args, kwargs)
        return self.call(args, kwargs)

    def __str__(self):
        """Draw the table: for every key the kernel that runs, and why; neighbours that are equal share a row."""
        said = [(repr(cython.cast(object, self.slots[slot])), self.reason(slot)) for slot in range(SLOT_COUNT)]
        rows = [("key", "kernel", "why")]
        first: cython.int = 0
        for slot in range(SLOT_COUNT):
            if slot + 1 == SLOT_COUNT or said[slot + 1] != said[slot]:
                start, stop = name_of_slot(first), name_of_slot(slot)
                rows.append((start if first == slot else f"{start} .. {stop}", *said[slot]))
                first = slot + 1
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        lines = [f"  {key:<{widths[0]}}  {kernel:<{widths[1]}}  {why}" for key, kernel, why in rows]
        return "\n".join([str(self.schema), *lines])

    def reason(self, slot):
        """Return why a slot's kernel runs there. See Note [How a slot is resolved]."""
        kernel = cython.cast(object, self.slots[slot])
        for key in (slot, EXPLICIT, IMPLICIT, AUTOGRAD):
            entries = self.registered.get(key)
            if entries and entries[0][0] is kernel:
                overridden = "".join(f", overrides {old!r} by {owner}" for old, owner in entries[1:])
                return f"{name_of_slot(key) if key != slot else 'direct'}, by {entries[0][1]}{overridden}"
        return "fallback" if slot in FALLBACKS else "nothing registered"

    def __repr__(self):
        return f"OperatorTable({self.schema})"


def exchange_slots(what):
    resolution = cython.cast(cython.pointer(resolution_t), what)
    table = resolution.table
    memcpy(cython.cast(OperatorTable, table).slots, resolution.slots, cython.sizeof(resolution.slots))
    memcpy(cython.cast(OperatorTable, table).masks, resolution.masks, cython.sizeof(resolution.masks))
    swap_owned(cython.cast(OperatorTable, table), cython.address(resolution.owned))


@cython.cfunc
def call_slot(table: OperatorTable, slot: cython.int, every: tuple, args, kwargs):
    """Run the kernel in a slot; while anybody intervenes, within a note of its operator: Note [Watching uses]."""
    if not active_hooks:
        return run(table, slot, PySequence_Fast_ITEMS(every))
    begin_operation(cython.cast(kernel_p, table))
    try:
        if LISTENERS:
            return call_listened(table, slot, every, args, kwargs)
        return run(table, slot, PySequence_Fast_ITEMS(every))
    finally:
        end_operation()


@cython.cfunc
def call_listened(table: OperatorTable, slot: cython.int, every: tuple, args, kwargs):
    """Run a kernel, and call listeners before and after."""
    listeners = LISTENERS
    tx_check_stack(b"a listener")
    key = dispatch_keys()(slot)
    for listener in listeners:
        listener.before_call(table, key, args, kwargs or {})
    try:
        result = run(table, slot, PySequence_Fast_ITEMS(every))
    except BaseException:
        for listener in listeners:
            listener.failed_call(table, key)
        raise
    for listener in listeners:
        listener.after_call(table, key, result)
        if table.makes_memory:  # a listener is handed it, and may exchange all that it has
            check_memory(listener, table, PySequence_Fast_ITEMS(every), result)
    return result


def OperatorTable_parser(self):
    """Return the schema's parser; the schema is read when the operator is first called."""
    if self.parser is None:
        with REGISTRATION:
            if self.parser is None:
                parser = cython.cast(ArgumentParser, self.schema.parser, typecheck=True)
                for place in range(min(len(parser.defaults), STACK_ARGUMENTS)):
                    self.defaults[place] = PySequence_Fast_ITEMS(parser.defaults)[place]
                self.returns_tensor = self.schema.returns in ("Tensor", "Tensor(a)")
                self.parser = parser
                TX_COUNT(self.count, len(parser.defaults) - UNREAD)  # last: from here on calls read the others
    return self.parser


@cython.cfunc
def OperatorTable_fill(self: OperatorTable, args: tuple, kwargs) -> tuple:
    """Return all arguments in order, several tensors as a plain tuple: lists change, other classes lie."""
    every: tuple = args
    parser = OperatorTable_parser(self)
    if kwargs or len(args) != self.count:
        every = parser.fill(args, kwargs)
        if every is None:
            self.schema.bind(args, kwargs or {})  # says what does not fit
    place: cython.int = parser.list_place
    if place >= 0 and every[place] is not None and type(every[place]) is not tuple:
        tensors = tuple(every[place])
        if not parser.accepts(place, tensors):
            raise TypeError(f"{self.schema.qualified_name}(): {parser.mismatch(place, tensors)}")
        every = (*every[:place], tensors, *every[place + 1 :])
    return every


@cython.cfunc
def OperatorTable_bind(self: OperatorTable, args: tuple, kwargs: dict) -> tuple:
    """Return arguments by position and by name as listeners see them, if the schema takes them."""
    bound = OperatorTable_parser(self).bind(args, kwargs)
    return self.schema.bind(args, kwargs) if bound is None else bound  # the schema says what does not fit


@cython.cfunc
def call_by_tuple(self: OperatorTable, args: arguments_t, given: cython.int):
    """Call as by name: there are listeners, or the schema is not read yet, or has many arguments."""
    parser = OperatorTable_parser(self)
    stop: cython.int = min(given, parser.positional)
    by_position = tuple([cython.cast(object, args[place]) for place in range(stop)])
    by_name = {parser.names[place]: cython.cast(object, args[place]) for place in range(stop, given)}
    return self.call(by_position, by_name)


@cython.cfunc
@cython.inline
@cython.nonecheck(False)
def run_of_one(self: OperatorTable, a: TensorBase, args: arguments_t):
    """Run the kernel for the only tensor among the arguments."""
    kernel: kernel_p = self.slots[OperatorTable_slot(self, a.impl.key_set)]
    if cython.cast(Kernel, kernel).is_foreign:
        return stolen(call_function(kernel, self, args))
    begin_use_of(a)
    found = call_function(kernel, self, args)
    end_use_of(a)
    return stolen(found)


@cython.cfunc
@cython.inline
@cython.nonecheck(False)
def run_any(self: OperatorTable, args: arguments_t):
    """Run the kernel for the tensors among all arguments, which are in order."""
    if self.parser.has_one:
        return run_of_one(self, cython.cast(TensorBase, args[0]), args)
    return run(self, OperatorTable_slot(self, keys_of_call(self, args)), args)


@cython.cfunc
@cython.inline
@cython.nonecheck(False)
def run(self: OperatorTable, slot: cython.int, args: arguments_t):
    """Run the kernel in a slot. See Note [Calls of a table]."""
    kernel: kernel_p = self.slots[slot]
    if cython.cast(Kernel, kernel).is_foreign:
        return stolen(call_function(kernel, self, args))
    parser = self.parser
    items = begin_uses(parser, args)
    found = call_function(kernel, self, args)
    end_uses(parser, args, parser.operand_count, items)
    return stolen(found)


def begin_uses(parser, args):
    """Count a use of each operand and return how many there are in the list of tensors; raise for one undefined."""
    count: cython.Py_ssize_t = 0
    for i in range(parser.operand_count):
        if args[parser.operands[i]] != NONE:
            if is_undefined(args[parser.operands[i]]):
                end_uses(parser, args, i, 0)
            begin_use_of(cython.cast(TensorBase, args[parser.operands[i]]))
    if parser.list_place >= 0:
        tensors = cython.cast(tuple, cython.cast(object, args[parser.list_place]))
        count = len(tensors)
        for i in range(count):
            if is_undefined(PySequence_Fast_ITEMS(tensors)[i]):
                end_uses(parser, args, parser.operand_count, i)
            begin_use_of(cython.cast(TensorBase, PySequence_Fast_ITEMS(tensors)[i]))
    return count


def end_uses(parser, args, operands, count):
    """End a use of so many of the operands, and of so many in the list of tensors."""
    for i in range(operands):
        if args[parser.operands[i]] != NONE:
            end_use_of(cython.cast(TensorBase, args[parser.operands[i]]))
    for i in range(count):
        tensors = cython.cast(tuple, cython.cast(object, args[parser.list_place]))
        end_use_of(cython.cast(TensorBase, PySequence_Fast_ITEMS(tensors)[i]))


@cython.cfunc
@cython.inline
def keys_of_call(self: OperatorTable, args: arguments_t) -> uint64_t:
    """Unite the keys of the tensors among all arguments; without any, return those of the device asked for."""
    parser: ArgumentParser = self.parser
    keys: uint64_t = 0
    for i in range(parser.operand_count):
        if args[parser.operands[i]] != NONE:
            keys |= cython.cast(TensorBase, args[parser.operands[i]]).impl.key_set
    if parser.has_others:
        keys |= keys_of_others(parser, args)
    if keys == 0 and parser.device_place >= 0:
        device = cython.cast(object, args[parser.device_place])
        keys = dense_keys_of_device(CPU if device is None else Device_from_any(device).type_code)
    return keys


@cython.cfunc
def keys_of_others(parser: ArgumentParser, args: arguments_t) -> uint64_t:
    """Unite the keys of the tensors in arguments that are not one tensor: lists of them, indices, anything."""
    keys: uint64_t = 0
    for place in range(len(parser.others)):
        if cython.cast(cython.p_char, parser.others)[place]:
            keys |= keys_of(cython.cast(object, args[place]), 2)  # no deeper: a list may lie in itself
    return keys


@cython.cfunc
def keys_of(value, depth: cython.int) -> uint64_t:
    """Return the keys of a tensor, or unite those of the tensors in a list or tuple, nested up to a depth."""
    keys: uint64_t = 0
    if isinstance(value, TensorBase):
        keys = cython.cast(TensorBase, value).impl.key_set
    elif depth and isinstance(value, (list, tuple)):
        for item in value:
            keys |= keys_of(item, depth - 1)
    return keys


@cython.cfunc
@cython.exceptval(-1)
def check_same_call(kernel: Kernel, schema) -> cython.int:
    """Check that a C function, which takes arguments for what its operator's schema declares, gets no others."""
    if kernel.schema is None:
        kernel.schema = schema
    elif not (kernel.serves_any or kernel.schema is schema or kernel.schema.is_same_call(schema)):
        raise TypeError(f"the kernel {kernel!r} takes the arguments of {kernel.schema}, found those of {schema}.")
    return 0


@cython.cfunc
def resolve_slots(slots: cython.pointer(kernel_p), kernels: dict, fallbacks: dict):
    """Write the kernel of every slot: what wins is written over what it wins against."""
    over_backends: kernel_p[16]  # BACKEND_BITS
    fill(slots, 0, FIRST_FUNCTIONALITY_SLOT, MISSING)
    fill(slots, FIRST_FUNCTIONALITY_SLOT, SLOT_COUNT - FIRST_FUNCTIONALITY_SLOT, fallthrough)
    fill_some(slots, fallbacks)
    if AUTOGRAD in kernels:
        fill(slots, FIRST_AUTOGRAD_SLOT, BACKEND_BITS, kernels[AUTOGRAD])
    if IMPLICIT in kernels:
        for backend in range(BACKEND_BITS):
            over_backends[backend] = slots[FIRST_AUTOGRAD_SLOT + backend]
        fill(slots, 0, SLOT_COUNT, kernels[IMPLICIT])
        for backend in range(BACKEND_BITS):
            if FIRST_SLOT[DENSE] + backend in kernels:
                slots[FIRST_AUTOGRAD_SLOT + backend] = over_backends[backend]
    if EXPLICIT in kernels:
        fill(slots, 0, DENSE + BACKEND_BITS, kernels[EXPLICIT])  # Undefined is the first slot
    fill_some(slots, kernels)


@cython.cfunc
def fill(slots: cython.pointer(kernel_p), first: cython.int, count: cython.int, kernel):
    """Write one kernel into consecutive slots; the table owns it."""
    for slot in range(first, first + count):
        slots[slot] = cython.cast(kernel_p, kernel)


@cython.cfunc
def fill_some(slots: cython.pointer(kernel_p), kernels: dict):
    """Write the kernels that have a slot of their own into it."""
    for key, kernel in kernels.items():
        slot: cython.int = key
        if slot < SLOT_COUNT:
            slots[slot] = cython.cast(kernel_p, kernel)


@cython.cfunc
def fill_masks(masks: cython.pointer(uint64_t), slots: cython.pointer(kernel_p)):
    """Write for each backend the bits that stay in a call on it: all but those of functionalities that fall through."""
    through = cython.cast(kernel_p, fallthrough)
    everywhere: uint64_t = (cython.cast(uint64_t, 1) << BACKEND_BITS) - 1
    for backend in range(BACKEND_BITS):
        masks[backend] = 0
    for functionality in range(1, FUNCTIONALITY_COUNT):
        bit: uint64_t = cython.cast(uint64_t, 1) << (BACKEND_BITS + functionality - 1)
        first: cython.int = FIRST_SLOT[functionality]
        if BACKEND_MASK[functionality]:
            for backend in range(BACKEND_BITS):
                if slots[first + backend] != through:
                    masks[backend] |= bit
        elif slots[first] != through:
            everywhere |= bit
    for backend in range(BACKEND_BITS):
        masks[backend] |= everywhere


def set_listeners(change):
    """Call what a function makes of the listeners, a tuple, at every call."""
    with REGISTRATION:
        before = LISTENERS
        listeners: tuple = change(before)
        count_hooks(len(listeners) - len(before))
        tx_while_stopped(cython.cast(tx_change_t, change_listeners), cython.cast(cython.p_void, listeners))
        del before  # last


def change_listeners(listeners):
    global LISTENERS
    LISTENERS = cython.cast(tuple, listeners)


def set_fallback(slot, function):
    """Use a fallback in the slots of tables that are resolved from now on; None takes it back."""
    if function is None:
        FALLBACKS.pop(slot, None)
    else:
        FALLBACKS[slot] = function if function is fallthrough else PythonKernel(function, True)


def get_fallback(slot):
    """Return the kernel that is the fallback of a slot, or None."""
    return FALLBACKS.get(slot)


EXPLICIT = cython.declare(object, slot_from_any("CompositeExplicitAutograd"))
IMPLICIT = cython.declare(object, slot_from_any("CompositeImplicitAutograd"))
AUTOGRAD = cython.declare(object, slot_from_any("Autograd"))
FALLBACKS = cython.declare(dict, {})  # slot -> kernel
LISTENERS = cython.declare(tuple, ())
UNREGISTERED = cython.declare(list, [])  # kernels in C, in which calls may still be
