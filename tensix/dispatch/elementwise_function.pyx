"""The functions that users call for elementwise operators.

Note [Functions made of declarations]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
An elementwise function is declared once, in `tensix.kernels.elementwise`. What users call is made of the declaration: a
builtin function, whose ``__self__`` is an `ElementwiseFunction`. CPython hands it its arguments where they lie on the
stack, as to a function that is written in C, and it hands tensors on to the operator's table.
"""
cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t
from tensix.dispatch.operands cimport call_binary, is_number, scalar_like
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.tensor_base cimport TensorBase

from importlib import import_module

from tensix.tensors.tensor_base import found_no_tensor

__all__ = []

cdef extern from "Python.h":
    enum:
        METH_FASTCALL
        METH_KEYWORDS
    ctypedef PyObject* (*PyCFunction)(PyObject*, PyObject*)
    ctypedef struct PyMethodDef:
        const char* ml_name
        PyCFunction ml_meth
        int ml_flags
        const char* ml_doc
    object PyCFunction_NewEx(PyMethodDef* definition, object self, object module)


@cython.final
cdef class ElementwiseFunction:
    """Be what an elementwise function calls.

    Attributes
    ----------
    function : builtin function
        What users call; it lives as long as this object, and this object as long as it.
    table : OperatorTable
        Makes a tensor.
    out : OperatorTable or None
        Writes to the argument `out`.
    in_place : OperatorTable or None
        Writes to the first operand.
    """

    cdef readonly object function
    cdef readonly OperatorTable table
    cdef readonly OperatorTable out
    cdef readonly OperatorTable in_place
    cdef str module
    cdef int inputs
    cdef tuple options
    cdef bytes name
    cdef bytes doc
    cdef PyMethodDef definition

    def __cinit__(
            self, declaration, str doc not None, int inputs, tuple options not None, OperatorTable table not None,
            out=None, in_place=None):
        if inputs not in (1, 2):
            raise ValueError(f"{declaration.__name__}() must take one tensor or two, found {inputs} parameters.")
        self.inputs, self.options = inputs, options
        self.table, self.out, self.in_place = table, out, in_place
        self.name, self.doc = declaration.__name__.encode(), doc.encode()
        self.module = declaration.__module__
        self.definition.ml_name, self.definition.ml_doc = self.name, self.doc
        self.definition.ml_flags = METH_FASTCALL | METH_KEYWORDS
        self.definition.ml_meth = <PyCFunction><void*>call_one if inputs == 1 else <PyCFunction><void*>call_two
        self.function = PyCFunction_NewEx(&self.definition, self, self.module)

    def __getattr__(self, name):
        if name == name_of(self):  # the name by which pickle finds a builtin function in its __self__
            return self.function
        raise AttributeError(f"{self!r} has no attribute {name!r}.")

    def __reduce__(self):
        """Stand aside for the package: pickle asks it for the function by its name, as it asks this."""
        return import_module, (self.module.partition(".")[0],)

    def __repr__(self):
        return f"<operators of {self.module}.{name_of(self)}>"


def operators_of(str module, str name):
    """Return what the function of a name calls, for pickles of before."""
    return getattr(import_module(module), name).__self__


cdef str name_of(ElementwiseFunction self):
    return self.name.decode()


cdef str signature_of(ElementwiseFunction self):
    return self.doc.decode().partition("\n")[0]


cdef object call_one(PyObject* self, PyObject** args, Py_ssize_t count, PyObject* names):
    """Call the function of one tensor."""
    if count == 1 and names == NULL and isinstance(<object>args[0], TensorBase):
        return (<ElementwiseFunction>self).table.call1(<TensorBase>args[0])
    return call_with_options(<ElementwiseFunction>self, args, count, names)


cdef object call_two(PyObject* self, PyObject** args, Py_ssize_t count, PyObject* names):
    """Call the function of two tensors, one of which may be a number."""
    if count == 2 and names == NULL:
        if isinstance(<object>args[0], TensorBase) and isinstance(<object>args[1], TensorBase):
            return (<ElementwiseFunction>self).table.call2(<TensorBase>args[0], <TensorBase>args[1])
        made = call_binary((<ElementwiseFunction>self).table, <object>args[0], <object>args[1])
        if made is not NotImplemented:
            return made
    return call_with_options(<ElementwiseFunction>self, args, count, names)


cdef object call_with_options(ElementwiseFunction self, PyObject** args, Py_ssize_t count, PyObject* names):
    """Call with arguments by name, or say what is wrong with those given."""
    cdef object out = None
    cdef dict options = {}
    if count != self.inputs:
        raise TypeError(
            f"{name_of(self)}() takes {self.inputs} positional argument{'' if self.inputs == 1 else 's'}, found "
            f"{count}: {signature_of(self)}."
        )
    if names != NULL:
        for i, option in enumerate(<tuple><object>names):
            if option not in self.options:
                raise TypeError(f"{name_of(self)}() has no argument {option!r}: {signature_of(self)}.")
            if option == "out":
                out = <object>args[count + i]
            else:
                options[option] = <object>args[count + i]
    a, b = <object>args[0], <object>args[count - 1]
    if count == 2:
        if isinstance(a, TensorBase):
            if not isinstance(b, TensorBase) and is_number(b):
                b = scalar_like(a, b)
        elif isinstance(b, TensorBase) and is_number(a):
            a = scalar_like(b, a)
    cdef uint64_t keys = keys_of_operand(self, a) | keys_of_operand(self, b)
    operands = (a,) if count == 1 else (a, b)
    if out is None:
        return self.table.call(operands, options, keys)
    if not isinstance(out, TensorBase):
        raise TypeError(f"{name_of(self)}(): out must be a tensor, found {type(out).__name__}.")
    options["out"] = out
    return self.out.call(operands, options, keys | (<TensorBase>out).impl.key_set)


cdef uint64_t keys_of_operand(ElementwiseFunction self, object operand) except? 0:
    if not isinstance(operand, TensorBase):
        takes = "a tensor" if self.inputs == 1 else "tensors, and a number for one of two"
        raise TypeError(f"{name_of(self)}() takes {takes}, {found_no_tensor(operand)}")
    return (<TensorBase>operand).impl.key_set
