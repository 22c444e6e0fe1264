"""The dispatcher: from an operator and the keys of its arguments to a kernel.

An operator is declared once by its schema and owns a table with a slot per dispatch key. A slot is resolved when a
kernel is registered, not when the operator is called: a kernel registered for the key itself, else a composite one,
else a kernel that says what is missing. A call is then: unite the keys of the tensor arguments, find the slot, jump.
"""

import cython
from cython.cimports.cpython.ref import PyObject
from cython.cimports.libc.stdint import int8_t, int64_t, uint8_t, uint64_t
from cython.cimports.tensix.core.device import Device_get
from cython.cimports.tensix.dispatch.dispatch_key import SLOT_COUNT, dense_keys_of_device, slot_of
from cython.cimports.tensix.tensors.dtype import dtype_of_code
from cython.cimports.tensix.tensors.tensor_base import TensorBase

from tensix.dispatch.dispatch_key import DispatchKey, key_from_any
from tensix.dispatch.schema import parse_schema

__all__ = ["Dispatcher", "Kernel", "OperatorTable", "dispatcher"]

FIRST_AUTOGRAD_SLOT = int(DispatchKey["AutogradOther"])


class Kernel:
    """Run an operator for one key; the base of all kernels, and by itself one that wraps a Python callable."""

    def call1(self, a):
        return self.call((a,), None)

    def call2(self, a, b):
        return self.call((a, b), None)

    def call_with(self, a, argument):
        return self.call((a, argument), None)

    def call_empty(self, ndim, sizes, dtype_code, device_type, device_index):
        args, options = empty_arguments(ndim, sizes, dtype_code, device_type, device_index)
        return self.call(args, options)

    def call(self, args, kwargs):
        raise NotImplementedError(f"{type(self).__name__} cannot be called.")


class PythonKernel(Kernel):
    """Run a Python callable."""

    def __init__(self, function):
        self.function = function

    def call(self, args, kwargs):
        return self.function(*args, **kwargs) if kwargs else self.function(*args)

    def __repr__(self):
        return f"{self.function.__module__}.{self.function.__qualname__}"


class CKernel(Kernel):
    """Run a C function of one of the known shapes."""

    def call1(self, a):
        if self.unary == cython.NULL:
            return self.call((a,), None)
        return self.unary(a)

    def call2(self, a, b):
        if self.binary == cython.NULL:
            return self.call((a, b), None)
        return self.binary(a, b)

    def call_with(self, a, argument):
        if self.with_argument == cython.NULL:
            return self.call((a, argument), None)
        return self.with_argument(a, argument)

    def call(self, args, kwargs):
        count = len(args)
        if not kwargs and count and isinstance(args[0], TensorBase):
            if count == 1 and self.unary != cython.NULL:
                return self.unary(args[0])
            if count == 2 and self.with_argument != cython.NULL:
                return self.with_argument(args[0], args[1])
            if count == 2 and self.binary != cython.NULL and isinstance(args[1], TensorBase):
                return self.binary(args[0], args[1])
        given = ", ".join([type(value).__name__ for value in args] + [f"{name}=..." for name in kwargs or ()])
        raise TypeError(f"{self.name}() cannot be called with ({given}).")

    def __repr__(self):
        return self.name


def CKernel_unary(name, function):
    kernel: CKernel = CKernel.__new__(CKernel)
    kernel.name, kernel.unary = name, function
    return kernel


def CKernel_binary(name, function):
    kernel: CKernel = CKernel.__new__(CKernel)
    kernel.name, kernel.binary = name, function
    return kernel


def CKernel_with(name, function):
    kernel: CKernel = CKernel.__new__(CKernel)
    kernel.name, kernel.with_argument = name, function
    return kernel


class MissingKernel(Kernel):
    """Say that an operator has no kernel for a key."""

    def __init__(self, table, key):
        self.table, self.key = table, key

    def call(self, args, kwargs):
        name = self.table.schema.qualified_name
        if self.key is DispatchKey["Undefined"]:
            raise RuntimeError(
                f"There were no tensor arguments to this function, or undefined ones only, but no kernel is registered "
                f"for schema {self.table.schema} without them."
            )
        available = ", ".join(self.table.registered_keys()) or "no backend at all"
        raise NotImplementedError(
            f"Could not run '{name}' with arguments from the '{self.key.name}' backend. "
            f"'{name}' is only available for these backends: [{available}]."
        )

    def __repr__(self):
        return "missing"


@cython.final
@cython.cclass
class OperatorTable:
    """Hold the kernels of one operator; calling it dispatches.

    Attributes
    ----------
    schema : FunctionSchema
        How it is called.

    Examples
    --------
    >>> import tensix
    >>> from tensix.dispatch import dispatcher
    >>> add = dispatcher.get_op_table("tensix::add.Tensor")
    >>> add(tensix.ones(2), tensix.ones(2))
    tensor([2., 2.])
    """

    def __init__(self, schema):
        self.schema = schema
        self.registered = {}
        OperatorTable_resolve(self)

    def register(self, key, kernel):
        """Enter a kernel for a dispatch key.

        Parameters
        ----------
        key : DispatchKey or str
            A key, or the alias of many.
        kernel : Kernel or callable
            Called with the operator's arguments.

        Raises
        ------
        RuntimeError
            If the key has a kernel.
        """
        key = key_from_any(key)
        if not isinstance(kernel, Kernel):
            kernel = PythonKernel(kernel)
        if self.registered.setdefault(int(key), kernel) is not kernel:
            raise RuntimeError(
                f"{self.schema.qualified_name} has a kernel for {key.name} already: {self.registered[int(key)]!r}; "
                f"cannot register {kernel!r} as well."
            )
        OperatorTable_resolve(self)

    def registered_keys(self):
        """Return the names of the keys that have a kernel, aliases included."""
        return [DispatchKey(key).name for key in self.registered]

    def kernel_for(self, key):
        """Return the kernel that runs for a key."""
        return self.resolved[key_from_any(key)]

    def call1(self, a):
        if watched:
            return self.call((a,), None, a.impl.key_set)
        return cython.cast(Kernel, self.slots[slot_of(a.impl.key_set)]).call1(a)

    def call2(self, a, b):
        keys: uint64_t = a.impl.key_set | b.impl.key_set
        if watched:
            return self.call((a, b), None, keys)
        return cython.cast(Kernel, self.slots[slot_of(keys)]).call2(a, b)

    def call_with(self, a, argument):
        if watched:
            return self.call((a, argument), None, a.impl.key_set)
        return cython.cast(Kernel, self.slots[slot_of(a.impl.key_set)]).call_with(a, argument)

    def call_empty(self, ndim, sizes, dtype_code, device_type, device_index):
        slot: cython.int = slot_of(dense_keys_of_device(device_type))
        kernel = cython.cast(Kernel, self.slots[slot])
        if not watched:
            return kernel.call_empty(ndim, sizes, dtype_code, device_type, device_index)
        args, options = empty_arguments(ndim, sizes, dtype_code, device_type, device_index)
        announce(self, slot, args, options)
        return conclude(self, slot, kernel.call_empty(ndim, sizes, dtype_code, device_type, device_index))

    def call(self, args, kwargs, keys):
        """Call with any arguments; listeners are told before and after."""
        slot: cython.int = slot_of(keys)
        kernel = cython.cast(Kernel, self.slots[slot])
        if not watched:
            return kernel.call(args, kwargs)
        announce(self, slot, args, kwargs)
        return conclude(self, slot, kernel.call(args, kwargs))

    def __call__(self, *args, **kwargs):
        return self.call(args, kwargs, keys_of(args) | keys_of(kwargs.values()))

    def __str__(self):
        """Draw the table: one row per registered key or alias, then what is missing."""
        rows = [f"{self.schema}"]
        width = max((len(name) for name in self.registered_keys()), default=0)
        rows += [f"  {DispatchKey(key).name:<{width}}  {kernel!r}" for key, kernel in self.registered.items()]
        return "\n".join(rows)

    def __repr__(self):
        return f"OperatorTable({self.schema})"


@cython.cfunc
def OperatorTable_resolve(self: OperatorTable) -> cython.void:
    """Fill every slot: the key's own kernel, else a composite one, else one that says what is missing."""
    explicit = self.registered.get(int(DispatchKey["CompositeExplicitAutograd"]))
    implicit = self.registered.get(int(DispatchKey["CompositeImplicitAutograd"]))
    resolved = []
    for slot in range(SLOT_COUNT):
        kernel = self.registered.get(slot)
        if kernel is None and slot < FIRST_AUTOGRAD_SLOT:
            kernel = explicit
        if kernel is None:
            kernel = implicit
        resolved.append(MissingKernel(self, DispatchKey(slot)) if kernel is None else kernel)
    for slot in range(SLOT_COUNT):
        self.slots[slot] = cython.cast(cython.pointer(PyObject), resolved[slot])
    self.resolved = resolved  # the old kernels go last, when no slot points to them


@cython.cfunc
def empty_arguments(
    ndim: cython.int,
    sizes: cython.pointer(cython.const[int64_t]),
    dtype_code: uint8_t,
    device_type: int8_t,
    device_index: int8_t,
):
    """Return the arguments of `empty` as a tuple and a dict."""
    shape = tuple([sizes[i] for i in range(ndim)])
    return (shape,), {"dtype": dtype_of_code(dtype_code), "device": Device_get(device_type, device_index)}


@cython.cfunc
def announce(table: OperatorTable, slot: cython.int, args: tuple, kwargs: dict | None):
    """Tell the listeners of a call that begins."""
    for listener in LISTENERS:
        listener.before_call(table, DispatchKey(slot), args, kwargs or {})


@cython.cfunc
def conclude(table: OperatorTable, slot: cython.int, result):
    """Tell the listeners of a call that has returned, and return its result."""
    for listener in LISTENERS:
        listener.after_call(table, DispatchKey(slot), result)
    return result


def keys_of(values):
    """Unite the keys of the tensors among some arguments, those inside lists and tuples included."""
    keys: uint64_t = 0
    for value in values:
        if isinstance(value, TensorBase):
            keys |= cython.cast(TensorBase, value).impl.key_set
        elif isinstance(value, (list, tuple)):
            keys |= keys_of(value)
    return keys


class Dispatcher:
    """Hold every operator; there is one, ``tensix.dispatch.dispatcher``."""

    def __init__(self):
        self._tables = {}

    def define(self, schema):
        """Declare an operator and return its table.

        Raises
        ------
        RuntimeError
            If an operator of this name and overload is there.
        """
        parsed = parse_schema(schema)
        if parsed.qualified_name in self._tables:
            raise RuntimeError(
                f"Tried to register an operator ({parsed}) with the same name and overload name multiple times: "
                f"found {self._tables[parsed.qualified_name].schema}."
            )
        table = self._tables[parsed.qualified_name] = OperatorTable(parsed)
        return table

    def get_op_table(self, schema):
        """Return the table of an operator.

        Parameters
        ----------
        schema : str
            ``"ns::name.overload"`` or the full schema.

        Raises
        ------
        RuntimeError
            If there is none.
        """
        name = parse_schema(schema).qualified_name if "->" in schema else schema
        table = self._tables.get(name if "::" in name else f"tensix::{name}")
        if table is None:
            raise RuntimeError(f"No functions are registered for schema {schema}.")
        return table

    def operators(self):
        """Return the qualified names of all operators, sorted."""
        return sorted(self._tables)

    def add_listener(self, listener):
        """Tell `listener` of every call.

        Parameters
        ----------
        listener : object
            With methods ``before_call(table, key, args, kwargs)`` and ``after_call(table, key, result)``.
        """
        global LISTENERS, watched
        LISTENERS = (*LISTENERS, listener)
        watched = True

    def remove_listener(self, listener):
        """Stop telling `listener`."""
        global LISTENERS, watched
        LISTENERS = tuple(other for other in LISTENERS if other is not listener)
        watched = bool(LISTENERS)


LISTENERS = cython.declare(tuple, ())
watched = False
dispatcher = Dispatcher()
