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

A call that needs none of this is handed on as it came, on the stack.

A declaration without a body is that of an operator, see `operator`: it names what the schema declares, in the same
order. Its calls go to the operator's table, with no function in between. By the types of the schema, tensors are
checked to be some, what names an element type becomes a `DType`, and one or more ints become a tuple; where the
annotation is ``Operand``, a number becomes a tensor with the others.

A docstring that says "parameters as for" or "errors as for" another function is shown with the parameters, results and
errors of that function, unless it has such a section itself.
"""
from cpython.number cimport PyIndex_Check
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from tensix.dispatch.argument_parser cimport ArgumentParser
from tensix.dispatch.kernel cimport argument_t
from tensix.dispatch.operands cimport call_binary, is_number, number_of_type, scalar_like
from tensix.dispatch.operator_table cimport OperatorTable, OperatorTable_parser
from tensix.tensors.dtype cimport BOOL, dtype_from_any
from tensix.tensors.tensor_base cimport TensorBase

from importlib import import_module

from tensix.core.free_threading import change_lock
from tensix.tensors.tensor_base import found_no_tensor

__all__ = ["alias", "enter", "function", "method", "operator", "tensors_only"]

cdef enum:
    MOST_ARGUMENTS = 8
    ANY_COUNT = 1 << 30

cdef extern from "Python.h":
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
    object PyMethod_New(object function, object self)
    void PyType_Modified(TypeObject*)

# What a parameter is called elsewhere -> what the standard calls it; a function has one of several.
OTHER_NAMES = {
    "dim": ("axis", "axes"), "dims": ("axis", "axes"), "keepdim": ("keepdims",), "shifts": ("shift",),
    "tensors": ("arrays",), "ddof": ("correction",), "unbiased": ("correction",), "diagonal": ("k",),
    "a_min": ("min",), "a_max": ("max",), "p": ("ord",),
}


cdef object READING = change_lock()  # of signatures: what one has read is not replaced


cdef class TensorFunction:
    """Function of tensors that is also their method. See Note [Functions as methods].

    Attributes
    ----------
    declaration : callable
        The function that takes its arguments to the letter.
    """

    cdef vectorcallfunc vectorcall
    cdef Py_ssize_t positional  # so many the declaration takes by position; -1 as long as its signature is not read
    cdef tuple parameters
    cdef tuple only_by_place
    cdef list names_behind      # of as many as follow by position; none, one, ...
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
        return declared if declared in ("tensix.fft", "tensix.linalg") else "tensix"

    @property
    def __doc__(self):
        return described(self)

    @property
    def __signature__(self):
        """What a method takes, other names included. Of a function with a body it is the declaration's."""
        if not self.is_method:
            return self.own_signature()
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

    cdef object own_signature(self):
        raise AttributeError("__signature__")

    def __dir__(self):
        return [name for name in object.__dir__(self) if self.is_method or name != "__signature__"]

    def __reduce__(self):
        return (getattr, (import_module("tensix").Tensor, self.__name__)) if self.is_method else self.__name__

    def __repr__(self):
        return f"<function {self.__module__}.{self.__name__}>"


cdef tuple SECTIONS = ("Parameters", "Returns", "Raises", "Notes", "Examples")  # the first three may be another's


cdef object described(TensorFunction self):
    """Return the docstring of the declaration, with the sections of the one whose parameters it says to have."""
    re, doc = import_module("re"), self.declaration.__doc__  # few programs ask
    found = re.search("(?:parameters|errors) as for `([a-z]+)`", doc or "")
    if found is None:
        return doc
    names, start = self.declaration.__globals__, rf"\n\n(?=(?:{'|'.join(SECTIONS)})\n-)"
    other = names[found[1]] if found[1] in names else getattr(import_module("tensix"), found[1])
    first, *own = re.split(start, import_module("inspect").cleandoc(doc))
    others = re.split(start, import_module("inspect").cleandoc(other.__doc__))
    sections = {section.partition("\n")[0]: section for section in [*others, *own]}
    kept = [*SECTIONS[:3], *[section.partition("\n")[0] for section in own]]
    return "\n\n".join([first, *[sections[name] for name in SECTIONS if name in sections and name in kept]])


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
        if not has_other_name(self, <tuple><object>names):
            return hand_on(self, args, count, names)
    return call_otherwise(self, args, count, names)


cdef inline bint is_tensor(PyObject* found) noexcept:
    return isinstance(<object>found, TensorBase)


cdef inline PyObject* hand_on(TensorFunction self, PyObject** args, Py_ssize_t count, PyObject* names) except NULL:
    try:
        return PyObject_Vectorcall(<PyObject*>self.declaration, args, count, names)
    except TypeError as error:
        name_signature(self, error)
        raise


cdef int name_signature(TensorFunction self, error) except -1:
    """Raise what CPython says of arguments that do not fit a function in Python with the signature."""
    if error.__traceback__.tb_next is not None:  # raised in its body
        return 0
    with_signature = import_module("tensix._support.argument_errors").with_signature  # few programs ask
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
    if count > max(self.positional, len(self.parameters)):
        refuse_count(self, by_place, len(self.parameters))
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


cdef int refuse_count(TensorFunction self, list given, Py_ssize_t most) except -1:
    """Say that there are more arguments than may be given by position."""
    most -= self.is_method
    hint = ""
    if "axis" in self.parameters and all([type(place) is int for place in given[1:]]):
        hint = f" Several dimensions are given as a tuple: axis={tuple(given[1:])}."
    raise TypeError(
        f"{self.__name__}() takes at most {most} positional argument{'' if most == 1 else 's'}, found "
        f"{len(given) - self.is_method}: {signature_of(self)}.{hint}"
    )


cdef int read_signature(TensorFunction self) except -1:
    """Read what the declaration takes, once."""
    if self.positional >= 0:
        return 0
    with READING:
        if self.positional >= 0:  # read by another thread
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
        takes_any = any([one.kind is one.VAR_POSITIONAL for one in declared])
        self.positional = ANY_COUNT if takes_any else len([one for one in declared if one.kind is not one.KEYWORD_ONLY])
    return 0


cdef str signature_of(TensorFunction self):
    return f"{self.__name__}{import_module('tensix._support.argument_errors').signature_of(self)}"


cdef int refuse_first(TensorFunction self, found, Py_ssize_t count) except -1:
    """Say that the first argument is not a tensor."""
    if count == 0:
        raise TypeError(f"{self.__name__}() needs a tensor, found no arguments: {signature_of(self)}.")
    raise TypeError(f"{self.__name__}() takes a tensor, {found_no_tensor(found)}")


cdef class OperatorFunction(TensorFunction):
    """Function of tensors whose declaration has no body. See Note [Functions as methods].

    Attributes
    ----------
    table : OperatorTable
        The operator.
    out : OperatorTable or None
        The one that writes to the argument `out`.
    in_place : OperatorTable or None
        The one that writes to the first operand.
    """

    cdef readonly OperatorTable table
    cdef readonly OperatorTable out
    cdef readonly OperatorTable in_place
    cdef int tensors          # so many, one or two, are all that must be given; 0 if that is not so, or not known yet
    cdef bint takes_numbers   # whether each of them may be a number
    cdef object result_class  # a named tuple of the results, or None
    cdef str hint             # what to use if something is missing
    cdef bytes forms          # of each parameter but `out`, see `read_forms`
    cdef tuple defaults
    cdef dict places          # name, or other name -> number of the parameter

    @property
    def __doc__(self):  # again: the class's own would be found before that of the base
        return described(self)

    cdef object own_signature(self):
        inspect = import_module("inspect")
        declared = inspect.signature(self.declaration)
        plain = [one.replace(annotation=one.empty) for one in declared.parameters.values()]
        return declared.replace(parameters=plain, return_annotation=declared.empty)


cdef PyObject* call_operator(PyObject* function, PyObject** args, size_t flagged, PyObject* names) except NULL:
    """Call the table, in the shortest way if nothing but operands is given."""
    cdef OperatorFunction self = <OperatorFunction>function
    cdef Py_ssize_t count = PyVectorcall_NARGS(flagged)
    made = NotImplemented
    if names == NULL and 0 < count == self.tensors:
        if count == 1:
            if is_tensor(args[0]):
                made = self.table.call1(<TensorBase>args[0])
        elif is_tensor(args[0]) and is_tensor(args[1]):
            made = self.table.call2(<TensorBase>args[0], <TensorBase>args[1])
        elif self.takes_numbers:
            made = call_binary(self.table, <object>args[0], <object>args[1])
    if made is NotImplemented:
        made = call_placed(self, args, count, names)
    if self.result_class is not None:
        made = self.result_class(*made)
    Py_INCREF(made)
    return <PyObject*>made


cdef object call_placed(OperatorFunction self, PyObject** args, Py_ssize_t count, PyObject* names):
    """Put the arguments where the schema has them, and call the table."""
    cdef argument_t given[MOST_ARGUMENTS]
    cdef Py_ssize_t place
    read_forms(self)
    cdef Py_ssize_t total = len(self.defaults)
    cdef Py_ssize_t most = total if self.out is None else self.positional  # so that sin(x, y) does not write to y
    if count > most:
        refuse_count(self, [<object>args[place] for place in range(count)], most)
    for place in range(total):
        given[place] = args[place] if place < count else NULL
    if names != NULL:
        for name in <tuple><object>names:
            found = self.places.get(name)
            if found is None:
                raise TypeError(f"{self.__name__}() has no argument {name!r}: {signature_of(self)}.")
            place = found
            if given[place] != NULL:
                raise TypeError(f"{self.__name__}() has {self.parameters[place]!r} twice: {signature_of(self)}.")
            given[place] = args[count]
            count += 1
    for place in range(total):
        if given[place] == NULL:
            if self.defaults[place] is self:  # it has none
                if place == 0 and count == 0:
                    refuse_first(self, None, 0)
                hint = "" if self.hint is None else f" {self.hint}"
                raise TypeError(f"{self.__name__}() needs {self.parameters[place]!r}: {signature_of(self)}.{hint}")
            given[place] = <PyObject*><object>self.defaults[place]
    return call_fitted(self, given)


cdef object call_fitted(OperatorFunction self, argument_t* given):
    """Bring each argument into the form that the schema declares, and call the table."""
    cdef ArgumentParser parser = self.table.parser
    cdef TensorBase like = None, any_tensor = None
    cdef tuple made = ()  # holds what `given` points to
    cdef Py_ssize_t place, total = len(self.forms)
    cdef char form
    cdef bint has_numbers = False
    out = <object>given[total] if self.out is not None else None
    for place in range(total):
        form, value = (<const char*>self.forms)[place], <object>given[place]
        if form == c"t" or form == c"o" or form == c"m":
            if is_tensor(given[place]):
                any_tensor = <TensorBase>value
                if form != c"m" and like is None:
                    like = any_tensor
            elif value is not None or not parser.accepts(place, None):
                if form != c"o" or not is_number(value):
                    refuse_value(self, place, value)
                has_numbers = True
        elif form == c"d":
            if value is not None:
                made = give(made, given, place, dtype_from_any(value))
        elif form == c"l":
            made = give(made, given, place, tensors_of(self, value))
        elif form == c" ":
            continue
        elif form == c"i" and not isinstance(value, tuple) and value is not None:
            made = give(made, given, place, ints_of(value, parser.arguments[place].optional))
        if (form == c"c" or form == c"i") and not parser.accepts(place, <object>given[place]):
            refuse_value(self, place, value)
    if has_numbers:
        if any_tensor is None:
            refuse_value(self, 0, <object>given[0])
        for place in range(total):
            value = <object>given[place]
            if (<const char*>self.forms)[place] == c"o" and value is not None and not isinstance(value, TensorBase):
                value = number_of_type(any_tensor, BOOL, value) if like is None else scalar_like(like, value)
                like = <TensorBase>value if like is None else like
                made = give(made, given, place, value)
    for place in range(total, len(parser.defaults)):
        given[place] = <PyObject*><object>parser.defaults[place]
    if out is None:
        return self.table.call_array(given)
    if not isinstance(out, TensorBase):
        raise TypeError(f"{self.__name__}(): out must be a tensor, found {type(out).__name__}.")
    given[len(parser.defaults)] = <PyObject*>out
    OperatorTable_parser(self.out)
    return self.out.call_array(given)


cdef inline tuple give(tuple made, argument_t* given, Py_ssize_t place, value):
    """Replace an argument, and return what holds the replacements."""
    given[place] = <PyObject*>value
    return (made, value)


cdef object ints_of(object found, bint one_stays):
    """Return a sequence as a tuple, and one int too, unless it may stay one: reductions along one are called often."""
    if PyIndex_Check(found):
        return found if one_stays else (found,)
    if isinstance(found, list) or isinstance(found, import_module("collections.abc").Sequence):
        return tuple(found)
    return found  # which is refused


cdef tuple tensors_of(OperatorFunction self, found):
    """Return several tensors as a tuple; to ask whether they are a Sequence takes longest."""
    if isinstance(found, TensorBase) or not (
        isinstance(found, (tuple, list)) or isinstance(found, import_module("collections.abc").Sequence)
    ):
        name = self.__name__
        raise TypeError(
            f"{name}() takes a tuple or list of tensors, such as {name}([x, y]), found {type(found).__name__}."
        )
    if not found:
        raise ValueError(f"{self.__name__}() needs at least one tensor, found none.")
    return tensors_only(found, self.__name__)


cpdef tuple tensors_only(object arrays, str name):
    """Return several tensors as a tuple; raise an error of the function of a name if one is something else."""
    cdef tuple tensors = <tuple>arrays if type(arrays) is tuple else tuple(arrays)
    for x in tensors:
        if not isinstance(x, TensorBase):
            raise TypeError(f"{name}() takes tensors only, {found_no_tensor(x, ' among them')}")
    return tensors


cdef int refuse_value(OperatorFunction self, Py_ssize_t place, value) except -1:
    """Say that an argument is not of the type that the schema declares."""
    name, form = self.parameters[place], chr(self.forms[place])
    if form == "o" and self.takes_numbers:
        raise TypeError(f"{self.__name__}() takes tensors, and a number for one of two, {found_no_tensor(value)}")
    if form == "o":
        raise TypeError(f"{self.__name__}(): {name} must be a tensor or a number, {found_no_tensor(value)}")
    if form in "tm" and place == 0:
        refuse_first(self, value, 1)
    if form in "tm":
        raise TypeError(f"{self.__name__}(): {name} must be a tensor, {found_no_tensor(value)}")
    type_ = self.table.schema.arguments[place].type
    raise TypeError(f"{self.__name__}(): {name} must be {type_}, found {type(value).__name__}.")


# Type of an argument in the schema -> its form; others are checked by the schema's parser alone.
FORMS = {"Tensor": "t", "Tensor[]": "l", "ScalarType": "d", "int[]": "i", "bool": " ", "float": " ", "Scalar": " "}


cdef int read_forms(OperatorFunction self) except -1:
    """Read once what the declaration and its schema take: a letter of `FORMS` each.

    In place of ``t`` it is ``o`` where a number may be given, and ``m`` where numbers do not take the tensor's type.
    """
    if self.forms is not None:
        return 0
    with READING:
        return 0 if self.forms is not None else read_forms_now(self)


cdef int read_forms_now(OperatorFunction self) except -1:
    read_signature(self)
    OperatorTable_parser(self.table)
    declared = list(import_module("inspect").signature(self.declaration).parameters.values())
    arguments = self.table.schema.arguments
    forms = []
    cdef bint as_declared = True  # whether what is not given is the same in the schema
    for parameter, argument in zip(declared[: len(declared) - (self.out is not None)], arguments):
        form, annotation = FORMS.get(argument.type, "c"), str(parameter.annotation)
        forms.append("o" if form == "t" and "Operand" in annotation else "m" if annotation == "Mask" else form)
        if parameter.default is not parameter.empty:
            as_declared = as_declared and argument.has_default and argument.default == parameter.default
    more = arguments[len(forms) :]
    fits = len(declared) - len(forms) == (self.out is not None) and len(arguments) < MOST_ARGUMENTS
    if not fits or not all([one.has_default for one in more]):
        raise TypeError(f"{self.__name__}() has other parameters than {self.table.schema}.")
    self.defaults = tuple([self if one.default is one.empty else one.default for one in declared])
    self.places = {name: self.parameters.index(of) for name, of in self.others.items()}
    self.places.update([(name, place) for place, name in enumerate(self.parameters)])
    needed = "".join([form for form, default in zip(forms, self.defaults) if default is self])
    if as_declared and needed in ("t", "tt", "oo"):
        self.tensors, self.takes_numbers = len(needed), needed == "oo"
    self.forms = "".join(forms).encode()
    return 0


def operator(
        OperatorTable table not None, *, OperatorTable out=None, OperatorTable in_place=None, bint method=True,
        result_class=None, str hint=None):
    """Make the function of an operator, of a declaration without a body.

    Parameters
    ----------
    table : OperatorTable
        Whose schema has an argument for each parameter but `out`, in the same order; what follows has defaults.
    out : OperatorTable, optional
        Has the same arguments, and `out` behind them; the declaration has it last, too.
    in_place : OperatorTable, optional
        Writes to the first operand.
    method : bool, optional
        Whether tensors have the function as a method, too.
    result_class : type, optional
        The named tuple of several results.
    hint : str, optional
        What to use instead, said if an argument is missing.
    """
    def make(declaration):
        if method:
            enter(declaration.__name__, function_of(declaration, True))
        return function_of(declaration, False)

    def function_of(declaration, is_method):
        cdef OperatorFunction self = OperatorFunction(declaration, True, is_method)
        self.vectorcall = <vectorcallfunc>call_operator
        self.table, self.out, self.in_place, self.result_class, self.hint = table, out, in_place, result_class, hint
        return self

    return make


def function(declaration):
    """Make the function that users call, of its declaration.

    Its first parameter need not be a tensor; of a declaration in Python the annotation tells.
    """
    first = next(iter(getattr(declaration, "__annotations__", {}).values()), None)
    return TensorFunction(declaration, isinstance(first, type) and issubclass(first, TensorBase))


def method(declaration):
    """Make the function that users call, of its declaration, and the method of tensors of that name."""
    enter(declaration.__name__, TensorFunction(declaration, is_method=True))
    return TensorFunction(declaration)


def alias(str name, TensorFunction function):
    """Give a function, as function and as method, a second name, and return it."""
    enter(name, getattr(TensorBase, function.__name__))
    return function


def enter(str name, descriptor):
    """Enter the value of a name of tensors into the class that `Tensor` is made of."""
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
make_callable(<TypeObject*>OperatorFunction, <char*>&SAMPLE.vectorcall - <char*><PyObject*>SAMPLE)
