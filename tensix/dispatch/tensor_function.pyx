"""Functions that take what habit writes, and that tensors have as methods.

Note [Functions as methods]
~~~~~~~~~~~~~~~~~~~~~~~~~~~
A function of the standard is declared once, to the letter: ``def sum(x, /, *, axis=None, ...)``. What users call is a
`TensorFunction` of it. It takes the same arguments in more forms:

* by the names that they have elsewhere, see ``OTHER_NAMES``;
* by position, in the order of the declaration, where the standard wants them by name.

Declared with `method` it is a method of tensors, too: a second `TensorFunction` of the declaration is entered into the
class that `Tensor` is made of. CPython calls it with the tensor in front, as any descriptor with the flag
``Py_TPFLAGS_METHOD_DESCRIPTOR``, and makes no bound method for it. The signature of the function is the standard's,
that of the method shows the other forms.

A call that needs none of this is handed on as it came, on the stack, to the C function that Cython made.
"""
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from tensix.tensors.tensor_base cimport TensorBase

from importlib import import_module

from tensix.tensors.tensor_base import found_no_tensor

__all__ = ["alias", "also_method", "enter", "function", "method"]

ctypedef void (*any_function_t)() noexcept  # between two types of functions, or compilers warn of the cast

cdef extern from "Python.h":
    enum:
        METH_FASTCALL
        METH_KEYWORDS
    unsigned long Py_TPFLAGS_HAVE_VECTORCALL
    unsigned long Py_TPFLAGS_METHOD_DESCRIPTOR
    ctypedef void* vectorcallfunc
    ctypedef struct TypeObject "PyTypeObject":
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
        PyObject* tp_dict
        PyObject* (*tp_call)(PyObject*, PyObject*, PyObject*)
    Py_ssize_t PyVectorcall_NARGS(size_t flagged)
    PyObject* PyVectorcall_Call(PyObject*, PyObject*, PyObject*)
    PyObject* PyObject_Vectorcall(PyObject* callable, PyObject** args, size_t flagged, PyObject* names) except NULL
    bint PyCFunction_Check(object)
    int PyCFunction_GET_FLAGS(object)
    any_function_t PyCFunction_GET_FUNCTION(object)
    PyObject* PyCFunction_GET_SELF(object)
    unsigned long Py_TPFLAGS_HEAPTYPE
    TypeObject* Py_TYPE(object)
    object PyMethod_New(object function, object self)
    void PyType_Modified(TypeObject*)

ctypedef PyObject* (*fastcall_t)(PyObject* self, PyObject** args, Py_ssize_t count, PyObject* names) except NULL

# What a parameter is called elsewhere -> what the standard calls it; a function has one of several.
OTHER_NAMES = {
    "dim": ("axis", "axes"), "dims": ("axis", "axes"), "keepdim": ("keepdims",), "shifts": ("shift",),
    "tensors": ("arrays",), "ddof": ("correction",), "unbiased": ("correction",), "diagonal": ("k",),
    "a_min": ("min",), "a_max": ("max",), "p": ("ord",),
}


cdef TypeObject* known_class = NULL


cdef class TensorFunction:
    """Function of tensors that is also their method. See Note [Functions as methods].

    Attributes
    ----------
    declaration : callable
        The function that takes its arguments to the letter.
    """

    cdef vectorcallfunc vectorcall
    cdef fastcall_t fast       # of a declaration in C that takes its arguments where they lie, else NULL
    cdef PyObject* fast_self
    cdef Py_ssize_t positional  # so many the declaration takes by position; -1 as long as its signature is not read
    cdef tuple parameters
    cdef tuple only_by_place
    cdef list names_behind      # of as many as follow by position; none, one, ...
    cdef tuple known_names      # those of the last call, which the declaration has; a call in a loop has them again
    cdef dict others            # other name -> the declaration's
    cdef bint takes_tensor      # whether its first parameter is a tensor
    cdef bint is_method
    cdef readonly object declaration
    cdef readonly object __wrapped__

    def __cinit__(self, declaration, bint takes_tensor=True, bint is_method=False):
        self.vectorcall = <vectorcallfunc>call
        self.positional = -1
        self.declaration = self.__wrapped__ = declaration
        self.takes_tensor, self.is_method = takes_tensor, is_method
        if PyCFunction_Check(declaration) and PyCFunction_GET_FLAGS(declaration) == METH_FASTCALL | METH_KEYWORDS:
            self.fast = <fastcall_t><any_function_t>PyCFunction_GET_FUNCTION(declaration)
            self.fast_self = PyCFunction_GET_SELF(declaration)

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    @property
    def __name__(self):
        return self.declaration.__name__

    @property
    def __qualname__(self):
        return self.declaration.__name__

    @property
    def __module__(self):
        declared = self.declaration.__module__
        return "tensix" if declared.startswith("tensix.functions.") else declared

    @property
    def __doc__(self):
        return self.declaration.__doc__

    @property
    def __signature__(self):
        """What a method takes, other names included. Of a function it is the declaration's."""
        if not self.is_method:
            raise AttributeError("__signature__")
        inspect = import_module("inspect")  # few programs ask
        read_signature(self)
        declared = inspect.signature(self.declaration)
        by_place, by_name = [], []
        for parameter in declared.parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY:
                parameter = parameter.replace(kind=parameter.POSITIONAL_OR_KEYWORD)
            if not by_place:
                parameter = parameter.replace(name="self")
            by_place.append(parameter)
            for other, name in self.others.items():
                if name == parameter.name and not (other == "dims" and name == "axis" and "dim" in self.others):
                    default = None if parameter.default is parameter.empty else parameter.default
                    by_name.append(parameter.replace(name=other, kind=parameter.KEYWORD_ONLY, default=default))
        return declared.replace(parameters=by_place + by_name)

    def __dir__(self):
        return [name for name in object.__dir__(self) if self.is_method or name != "__signature__"]

    def __reduce__(self):
        return (getattr, (import_module("tensix").Tensor, self.__name__)) if self.is_method else self.__name__

    def __repr__(self):
        return f"<function {self.__module__}.{self.__name__}>"


cdef PyObject* call(PyObject* function, PyObject** args, size_t flagged, PyObject* names) except NULL:
    """Hand a call on, as it came if it can be."""
    cdef TensorFunction self = <TensorFunction>function
    cdef Py_ssize_t count = PyVectorcall_NARGS(flagged)
    if self.takes_tensor and (count == 0 or not is_tensor(args[0])):
        refuse_first(self, <object>args[0] if count > 0 else None, count)
    if names == NULL:
        if count == 1 or count <= self.positional:
            return hand_on(self, args, count, NULL)
        read_signature(self)
        if self.positional < count <= len(self.parameters):  # what follows has its names, and lies where it should
            return hand_on(self, args, self.positional, <PyObject*><tuple>self.names_behind[count - self.positional])
        if count <= self.positional:
            return hand_on(self, args, count, NULL)
    read_signature(self)
    if names != NULL and count <= self.positional:
        if names == <PyObject*>self.known_names:
            return hand_on(self, args, count, names)
        if not has_other_name(self, <tuple><object>names):
            self.known_names = <tuple><object>names
            return hand_on(self, args, count, names)
    return call_otherwise(self, args, count, names)


cdef inline bint is_tensor(PyObject* found) noexcept:
    """Return whether an argument is a tensor; the class of the last one is remembered, if it is static."""
    global known_class
    if Py_TYPE(<object>found) == known_class:
        return True
    if not isinstance(<object>found, TensorBase):
        return False
    if not Py_TYPE(<object>found).tp_flags & Py_TPFLAGS_HEAPTYPE:
        known_class = Py_TYPE(<object>found)
    return True


cdef inline PyObject* hand_on(TensorFunction self, PyObject** args, Py_ssize_t count, PyObject* names) except NULL:
    if self.fast != NULL:
        return self.fast(self.fast_self, args, count, names)
    try:
        return PyObject_Vectorcall(<PyObject*>self.declaration, args, count, names)
    except TypeError as error:
        name_signature(self, error)
        raise


cdef int name_signature(TensorFunction self, error) except -1:
    """Raise what CPython says of arguments that do not fit a function in Python with the signature."""
    if error.__traceback__.tb_next is not None:  # raised in its body
        return 0
    with_signature = import_module("tensix.core.argument_errors").with_signature  # few programs ask
    raise TypeError(with_signature(str(error), self.__name__, self)) from None


cdef inline bint has_other_name(TensorFunction self, tuple names) except -1:
    for name in names:
        if name in self.others:
            return True
    return False


cdef PyObject* call_otherwise(TensorFunction self, PyObject** args, Py_ssize_t count, PyObject* names) except NULL:
    """Give the arguments the places and names that the declaration has for them."""
    cdef list by_place = [<object>args[i] for i in range(count)]
    cdef dict by_name = {}
    cdef Py_ssize_t most = len(self.parameters) - self.is_method
    if count > len(self.parameters):
        hint = ""
        if "axis" in self.parameters and all([type(place) is int for place in by_place[1:]]):
            hint = f" Several dimensions are given as a tuple: axis={tuple(by_place[1:])}."
        raise TypeError(
            f"{self.__name__}() takes at most {most} positional argument{'' if most == 1 else 's'}, found "
            f"{count - self.is_method}: {signature_of(self)}.{hint}"
        )
    for i in range(self.positional, count):
        by_name[self.parameters[i]] = by_place[i]
    del by_place[self.positional :]
    for i, name in enumerate(() if names == NULL else <tuple><object>names):
        name = self.others.get(name, name)
        if name in by_name or name in self.parameters[: len(by_place)]:
            raise TypeError(f"{self.__name__}() has {name!r} twice: {signature_of(self)}.")
        if name in self.only_by_place and name == self.parameters[len(by_place)]:
            by_place.append(<object>args[count + i])
        else:
            by_name[name] = <object>args[count + i]
    try:
        found = self.declaration(*by_place, **by_name)
    except TypeError as error:
        name_signature(self, error)
        raise
    Py_INCREF(found)
    return <PyObject*>found


cdef int read_signature(TensorFunction self) except -1:
    """Read what the declaration takes, once."""
    if self.positional >= 0:
        return 0
    declared = import_module("inspect").signature(self.declaration).parameters.values()
    self.parameters = tuple([parameter.name for parameter in declared])
    self.others = {
        other: name for other, names in OTHER_NAMES.items() for name in names
        if name in self.parameters and other not in self.parameters
    }
    behind = tuple([one.name for one in declared if one.kind is one.KEYWORD_ONLY])
    self.names_behind = [behind[:count] for count in range(len(behind) + 1)]
    self.only_by_place = tuple([one.name for one in declared if one.kind is one.POSITIONAL_ONLY])
    self.positional = len([one for one in declared if one.kind is not one.KEYWORD_ONLY])
    return 0


cdef str signature_of(TensorFunction self):
    return f"{self.__name__}{import_module('tensix.core.argument_errors').signature_of(self)}"


cdef int refuse_first(TensorFunction self, found, Py_ssize_t count) except -1:
    """Say that the first argument is not a tensor."""
    if count == 0:
        raise TypeError(f"{self.__name__}() needs a tensor, found no arguments: {signature_of(self)}.")
    raise TypeError(f"{self.__name__}() takes a tensor, {found_no_tensor(found)}")


def function(declaration):
    """Make the function that users call, of its declaration.

    Its first parameter need not be a tensor; of a declaration in Python the annotation tells.
    """
    first = next(iter(getattr(declaration, "__annotations__", {}).values()), None)
    return TensorFunction(declaration, isinstance(first, type) and issubclass(first, TensorBase))


def method(declaration):
    """Make the function that users call, of its declaration, and the method of tensors of that name."""
    also_method(declaration)
    return TensorFunction(declaration)


def also_method(declaration):
    """Let tensors have a function as a method, too, and return it as it is."""
    enter(declaration.__name__, TensorFunction(declaration, is_method=True))
    return declaration


def alias(str name, TensorFunction function):
    """Give a function, as function and as method, a second name, and return it."""
    enter(name, TensorFunction(function.declaration, is_method=True))
    return function


def enter(str name, descriptor):
    """Enter what a name of tensors stands for into the class that `Tensor` is made of."""
    cdef TypeObject* base = <TypeObject*>TensorBase
    (<dict>base.tp_dict)[name] = descriptor
    PyType_Modified(base)


cdef void make_callable(TypeObject* type_, Py_ssize_t offset) noexcept:
    """Let CPython call instances where the arguments lie, and tensors have them as methods."""
    type_.tp_vectorcall_offset = offset
    type_.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR
    type_.tp_call = PyVectorcall_Call
    PyType_Modified(type_)


cdef TensorFunction SAMPLE = TensorFunction(enter)
make_callable(<TypeObject*>TensorFunction, <char*>&SAMPLE.vectorcall - <char*><PyObject*>SAMPLE)
