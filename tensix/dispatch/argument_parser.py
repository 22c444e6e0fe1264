"""Fitting the arguments of a call to those that an operator declares.

Every call of an operator by name comes through here, so what is declared is read once, into a byte per argument. What
does not fit is read a second time to say why, where speed does not matter.
"""

import sys

import cython
from cython.cimports.cpython.number import PyIndex_Check
from cython.cimports.tensix.tensors.tensor_base import TensorBase

from tensix.core import Device
from tensix.tensors.dtype import DType
from tensix.tensors.memory_format import MemoryFormat
from tensix.tensors.tensor_base import found_no_tensor

# What a kind of argument may be in Python; those of UNCHECKED may be anything.
PYTHON_TYPES = {
    "Tensor": TensorBase, "int": int, "Scalar": (int, float, complex, bool), "float": (int, float), "bool": bool,
    "str": str, "ScalarType": DType, "Device": (Device, str), "MemoryFormat": (MemoryFormat, str),
}  # fmt: skip
UNCHECKED = ("Any", "Generator", "Index", "Layout", "Ord")
KINDS = list(PYTHON_TYPES)
TYPES = cython.declare(tuple, tuple(PYTHON_TYPES.values()))

# A trait is the number of a kind, with these bits.
TENSOR = cython.declare(cython.int, KINDS.index("Tensor"))
INT = cython.declare(cython.int, KINDS.index("int"))
SCALAR = cython.declare(cython.int, KINDS.index("Scalar"))
ANY_KIND = cython.declare(cython.int, 15)
KIND = cython.declare(cython.int, 15)
MANY = cython.declare(cython.int, 16)
NONE = cython.declare(cython.int, 32)
NEEDED = cython.declare(cython.int, 64)
DEFAULT = cython.declare(cython.int, 128)

MOST_OPERANDS = cython.declare(cython.int, 8)  # tensors of an operator of tensix, at most


@cython.final
@cython.cclass
class ArgumentParser:
    """Fit arguments, given by position and by name, to the declared ones."""

    def __init__(self, arguments):
        self.arguments = tuple(arguments)
        self.positional = len([argument for argument in self.arguments if not argument.keyword_only])
        self.names = tuple([sys.intern(argument.name) for argument in self.arguments])  # as names in calls are
        self.places = {name: place for place, name in enumerate(self.names)}
        self.defaults = tuple([argument.default for argument in self.arguments])
        self.traits = bytes([trait_of(argument) for argument in self.arguments])
        self.list_place, self.device_place = -1, self.places.get("device", -1)
        others = [0] * len(self.arguments)
        for place in range(len(self.arguments)):
            kind, brackets, _ = self.arguments[place].type.partition("[")
            if kind == "Tensor" and not brackets and self.operand_count < MOST_OPERANDS:
                self.operands[self.operand_count] = place
                self.operand_count += 1
            elif kind in ("Tensor", "Any", "Index"):
                others[place] = 1
                if kind == "Tensor" and self.list_place < 0:
                    self.list_place = place
        self.others, self.has_others = bytes(others), any(others)
        self.has_one = (
            self.operand_count == 1 and not any(others) and self.operands[0] == 0 and not self.arguments[0].optional
        )

    def bind(self, args, kwargs):
        """Return the arguments as a kernel takes them; None if they do not fit."""
        if not kwargs:
            return (args, kwargs) if self.takes(args) else None
        if self.problem_of(args, kwargs) is not None:
            return None
        count: cython.Py_ssize_t = len(args)
        while count < self.positional and self.names[count] in kwargs:
            count += 1
        if count > len(args):
            named = self.names[len(args) : count]
            args += tuple([kwargs[name] for name in named])
            kwargs = {name: value for name, value in kwargs.items() if name not in named}
        return args, kwargs

    def takes(self, args):
        """Return whether arguments by position alone fit."""
        count: cython.Py_ssize_t = len(args)
        place: cython.Py_ssize_t
        if count > self.positional:
            return False
        for place in range(count):
            if not self.accepts(place, args[place]):
                return False
        for place in range(count, len(self.traits)):  # noqa: SIM110 - all() would make a generator in every call
            if self.traits[place] & NEEDED:
                return False
        return True

    def fill(self, args, kwargs):
        """Return all arguments in order, with the defaults of those not given; None if they do not fit.

        Kernels check the values themselves: here only names and numbers of arguments count.
        """
        count: cython.Py_ssize_t = len(args)
        place: cython.Py_ssize_t
        left: cython.Py_ssize_t = len(kwargs) if kwargs else 0  # of those given by name
        if count > len(self.defaults):
            return None
        filled = [value for value in args]  # list(args) of CPython 3.11 loses a reference to it if there is no memory
        for place in range(count, len(self.defaults)):
            value = self.defaults[place]
            if left and self.names[place] in kwargs:
                value = kwargs[self.names[place]]
                left -= 1
            elif self.traits[place] & NEEDED:
                return None
            filled.append(value)
        return None if left else tuple(filled)

    def unbind(self, args, completely):
        """Return all arguments as a function of Python takes them: a tuple, and those that are keyword-only by name.

        Unless they are wanted completely, what is as by default is left out, by position as far as nothing follows it.
        """
        stop: cython.Py_ssize_t = self.positional
        place: cython.Py_ssize_t
        by_name = {}
        if not completely:
            while stop and self.is_default(stop - 1, args):
                stop -= 1
        by_position = [cython.cast(object, args[place]) for place in range(stop)]
        for place in range(self.positional, len(self.traits)):
            if completely or not self.is_default(place, args):
                by_name[self.names[place]] = cython.cast(object, args[place])
        return tuple(by_position), by_name

    def is_default(self, place, args):
        """Return whether an argument is the very default."""
        return self.traits[place] & DEFAULT != 0 and cython.cast(object, args[place]) is self.defaults[place]

    def problem_of(self, args, kwargs):
        """Return what does not fit, or None."""
        count: cython.Py_ssize_t = len(args)
        place: cython.Py_ssize_t
        if count > self.positional:
            return f"takes {self.positional} arguments by position, found {count}."
        for place in range(count):
            if not self.accepts(place, args[place]):
                return self.mismatch(place, args[place])
        for name, value in kwargs.items():
            found = self.places.get(name)
            if found is None:
                return f"there is no argument '{name}'."
            place = found
            if place < count:
                return f"'{name}' is given twice."
            if not self.accepts(place, value):
                return self.mismatch(place, value)
        for place in range(count, len(self.traits)):
            if self.traits[place] & NEEDED and self.names[place] not in kwargs:
                return f"'{self.names[place]}' is missing."
        return None

    def mismatch(self, place, value):
        """Say that a value is not of an argument's type."""
        argument = self.arguments[place]
        needed = f"'{argument.name}' must be {argument.type}"
        trait: cython.int = self.traits[place]
        if trait & KIND != TENSOR or isinstance(value, TensorBase):
            return f"{needed}, found {type(value).__name__}."
        if trait & MANY and isinstance(value, (tuple, list)):
            wrong = next((item for item in value if not isinstance(item, TensorBase)), None)
            return f"{needed}, {found_no_tensor(wrong, ' among them')}"
        return f"{needed}, {found_no_tensor(value)}"

    def accepts(self, place, value):
        """Return whether a value is of an argument's type."""
        trait: cython.int = self.traits[place]
        kind: cython.int = trait & KIND
        if value is None:
            return trait & NONE != 0
        if kind == ANY_KIND:
            return True
        if trait & MANY and isinstance(value, (tuple, list)):
            for item in tuple(value):  # noqa: SIM110 - all() would make a generator in every call
                if not is_of(kind, item):
                    return False
            return True
        if trait & MANY and kind == TENSOR:
            return False  # one int may be given for several, one tensor not
        return is_of(kind, value)


@cython.cfunc
@cython.exceptval(check=True)
def is_of(kind: cython.int, value) -> cython.bint:
    """Return whether a value is of a kind."""
    if kind == TENSOR:
        return isinstance(value, TensorBase)
    if kind == INT:
        return PyIndex_Check(value)
    if kind == SCALAR and (type(value) is int or type(value) is float):
        return True
    return kind == ANY_KIND or isinstance(value, TYPES[kind])


def trait_of(argument):
    """Return what an argument accepts, as a byte."""
    kind = argument.type.partition("[")[0]
    trait = KINDS.index(kind) if kind in KINDS else ANY_KIND
    if argument.type.endswith("]"):
        trait |= MANY
    if argument.optional or (argument.default is None and argument.has_default):
        trait |= NONE
    if not argument.has_default and not argument.optional:
        trait |= NEEDED
    if argument.has_default:
        trait |= DEFAULT
    return trait
