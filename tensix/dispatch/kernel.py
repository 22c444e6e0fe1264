"""Kernels: what an operator's table holds.

A call comes in one of a few shapes. A kernel written in C overrides those that it can serve without a tuple of
arguments; the base class turns every shape into the general one, ``call(args, kwargs)``.
"""

import sys

import cython
from cython.cimports.tensix.core.device import CPU, Device_get
from cython.cimports.tensix.tensors.dtype import default_float_code, dtype_of_code
from cython.cimports.tensix.tensors.tensor_base import TensorBase

__all__ = ["Kernel", "fallthrough"]


class Kernel:
    """Run an operator for one key; the base of all kernels."""

    def call1(self, a):
        return self.call((a,), None)

    def call2(self, a, b):
        return self.call((a, b), None)

    def call_with(self, a, argument):
        return self.call((a, argument), None)

    def call_named(self, a, name, argument):
        return self.call((a,), {name: argument})

    def call_empty(self, ndim, sizes, dtype_code, device_type, device_index):
        args, options = empty_arguments(ndim, sizes, dtype_code, device_type, device_index)
        return self.call(args, options)

    def call(self, args, kwargs):
        raise NotImplementedError(f"{type(self).__name__} cannot be called.")


class PythonKernel(Kernel):
    """Run a Python callable, and check what it returns."""

    def __init__(self, function, schema):
        self.function, self.schema = function, schema
        self.must_return_tensor = schema.returns_one_tensor

    def call(self, args, kwargs):
        kernel: PythonKernel = self  # held: see Note [Kernels that are unregistered while they run]
        result = kernel.function(*args, **kwargs) if kwargs else kernel.function(*args)
        if kernel.must_return_tensor and not isinstance(result, TensorBase):
            raise TypeError(
                f"the kernel {kernel!r} of {kernel.schema.qualified_name} must return a Tensor, found "
                f"{type(result).__name__}."
            )
        return result

    def __repr__(self):
        name = getattr(self.function, "__qualname__", None)
        return f"{self.function.__module__}.{name}" if name else repr(self.function)


class FallbackKernel(Kernel):
    """Run a fallback, a Python callable that serves any operator and is told which."""

    def __init__(self, function, table):
        self.function, self.table = function, table

    def call(self, args, kwargs):
        return self.function(self.table, *args, **(kwargs or {}))

    def __repr__(self):
        return f"fallback {getattr(self.function, '__qualname__', type(self.function).__name__)}"


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


class ArgumentsKernel(Kernel):
    """Run a C function of a tensor and the tuple of all arguments, that tensor first, none left out."""

    def call1(self, a):
        if self.defaults is None:
            return self.call((a,), None)
        return self.function(a, self.defaults)

    def call_named(self, a, name, argument):
        if name != self.option:
            return self.call((a,), {name: argument})
        return self.function(a, (None, argument))

    def call(self, args, kwargs):
        if self.parser is None:
            ArgumentsKernel_read_schema(self)
        if kwargs or len(args) != self.count:
            filled = self.parser.fill(args, kwargs)
            if filled is None:
                self.schema.bind(args, kwargs or {})  # says what does not fit
            args = filled
        if not isinstance(args[0], TensorBase):
            raise TypeError(f"{self.schema.name}() is for tensors, found {type(args[0]).__name__}.")
        return self.function(args[0], args)

    def __repr__(self):
        return self.schema.name


def ArgumentsKernel_of(schema, function):
    kernel: ArgumentsKernel = ArgumentsKernel.__new__(ArgumentsKernel)
    kernel.schema, kernel.function = schema, function
    return kernel


@cython.cfunc
def ArgumentsKernel_read_schema(self: ArgumentsKernel):
    """Fill in what the schema says, at the first call."""
    arguments = self.schema.arguments
    others = arguments[1:]
    self.count = len(arguments)
    if all([argument.has_default for argument in others]):
        self.defaults = (None, *[argument.default for argument in others])
    if len(others) == 1:
        self.option = sys.intern(others[0].name)
    self.parser = self.schema.parser  # last: other threads call once it is set


class FallthroughKernel(Kernel):
    """Stand in a table for "not me": its key is masked out of every call, so it is never called."""

    def __repr__(self):
        return "fallthrough"


fallthrough = FallthroughKernel()


def empty_arguments(ndim, sizes, dtype_code, device_type, device_index):
    """Return the arguments of `empty` as a tuple and a dict, without what is not given by default."""
    options = {}
    if dtype_code != default_float_code():
        options["dtype"] = dtype_of_code(dtype_code)
    if device_type != CPU or device_index != -1:
        options["device"] = Device_get(device_type, device_index)
    return (tuple([sizes[i] for i in range(ndim)]),), options
