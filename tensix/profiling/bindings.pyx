"""Which variables hold the arrays that are in use, noted when most is in use.

Note [Variables that hold an array]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
NumPy does not tell when it reads an array. But Python knows which instructions can still load a variable, so an array
that only variables hold which nothing loads any more is not used again. That is concluded only if every reference to
the array is accounted for:

* The variables of the running functions of the user's program are noted, those of this thread, and the global ones of a
  script. From them lists, tuples, dicts, arrays and their bases are followed.
* An object is accounted for if its reference count is the number of references found, and all that refers to it is
  accounted for as well. A reference that was not found, as of an attribute, a closure, a generator, another thread, a
  traceback, an operand of a running expression or C code, is in the count; then nothing is said. Neither is it of an
  object with weak references, whose end somebody may wait for, of classes that derive from these, and of containers
  with anything else in them.
* A tensor of PyTorch must also have its storage alone, and C++ no reference to it, as autograd has.
* Names that are found by other means than instructions could be used without being loaded. Functions that call
  ``locals`` and the like are passed over, and so is everything while a debugger or tracer runs.

Which variables are loaded again is found out later, from the code and its position: see ``liveness.py``. CPython 3.14
counts no reference for an operand that it borrows from a variable. It does so only within a statement that loads the
variable, which counts as using it.
"""
import sys

from cpython.ref cimport PyObject
from tensix.core.free_threading cimport GIL_EXISTS

from numpy import generic, ndarray

from tensix.memory.code_origin import HIDDEN, USER
from tensix.profiling.torch_tensors import address_of

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* thing)
    PyObject* PyList_GET_ITEM(PyObject* sequence, Py_ssize_t position)
    PyObject* PyDict_GetItem_borrowed "PyDict_GetItem" (PyObject* mapping, PyObject* key)

cdef enum:
    IS_OPTIMIZED = 0x1        # flags of code: its variables are not in a dict
    CAN_WAIT = 0x2A0          # generators and coroutines
    MOST_ITEMS = 1024         # of a container that is followed
    MOST_NODES = 16384
    DEBUGGER = 0              # its number in sys.monitoring

# What finds variables by their names; a function that calls one of these is passed over.
FINDERS = frozenset((
    "locals", "vars", "dir", "eval", "exec", "globals", "_getframe", "currentframe", "f_locals", "f_back", "__dict__",
    "__main__", "breakpoint", "set_trace", "interact", "embed", "post_mortem", "dump_session", "dump_module",
    # What gives out an address without a reference.
    "ctypes", "__array_interface__", "__array_struct__", "data_ptr", "addressof",
))  # fmt: skip

# What a container may hold besides tensors of PyTorch: the end of anything else could do more than give back memory.
PLAIN = frozenset((ndarray, list, tuple, dict, str, bytes, int, float, complex, bool, type(None)))


def moment(origins, least):
    """Return the variables of this thread that alone hold arrays of so many bytes.

    First come the running functions of the user's: code, position in it, and how many frames are further in. Then the
    arrays: address, number of a function in the list, names of its variables, and the bytes of the view that alone
    keeps the array, if that is one variable and at most half of it. Then a dict: what the innermost function of the
    user's calls arrays and numbers.
    """
    frames, held, types, nodes = [], [], {}, {}
    monitoring, torch = getattr(sys, "monitoring", None), sys.modules.get("torch")
    is_debugged = monitoring is not None and monitoring.get_tool(DEBUGGER) is not None
    if not GIL_EXISTS or is_debugged or sys.gettrace() is not None:  # who traces may read variables
        return frames, held, types
    tensor = getattr(torch, "Tensor", None)  # while PyTorch is imported it may not be there
    if not hasattr(tensor, "_use_count") or not hasattr(torch._C, "_storage_Use_Count"):
        tensor = None  # it does not tell who shares the memory of tensors
    note_frames(frames, nodes, origins, tensor, types)
    if len(nodes) < MOST_NODES:
        known = {}
        for number in nodes:
            if type(nodes[number][0]) in (ndarray, tensor) and nodes[number][0].nbytes >= least:
                variables = variables_of(number, nodes, known)
                if len({frame for frame, _ in variables}) == 1 and (address := block_of(nodes[number][0], tensor)) != 0:
                    names = tuple(sorted({name for _, name in variables}))
                    held.append((address, min(variables)[0], names, bytes_of_view(number, nodes)))
    return frames, held, types


def block_of(array, tensor):
    """Return where the block of an array is that has one of its own; 0 of one that shares it."""
    if type(array) is tensor:
        address = address_of(array, tensor)
        if address == 0 or array._use_count() != 1:  # autograd has it, or a view
            return 0
        storage = array.untyped_storage()  # which has the storage as well
        return address if sys.modules["torch"]._C._storage_Use_Count(storage._cdata) == 2 else 0
    return array.__array_interface__["data"][0] if array.flags.owndata else 0


cdef object bytes_of_view(object number, dict nodes):
    """Return how many bytes the view has that alone keeps an array, if a variable has it; 0 if it is not so."""
    thing, parents = nodes[number]
    view, holders = nodes[parents[0]] if type(parents[0]) is not tuple else (None, ())
    is_part = type(view) is ndarray and len(parents) == len(holders) == 1 and type(holders[0]) is tuple
    is_as_its_copy = is_part and view.flags.c_contiguous  # else sums of a copy may differ in the last digits
    return view.nbytes if is_as_its_copy and view.nbytes * 2 <= thing.nbytes else 0


cdef object variables_of(object number, dict nodes, dict known):
    """Return the variables that hold an object; an empty set if it is not accounted for."""
    if number in known:
        return known[number]
    known[number] = found = frozenset()  # in a cycle
    if is_accounted_for(nodes, number):
        for parent in nodes[number][1]:
            more = frozenset((parent,)) if type(parent) is tuple else variables_of(parent, nodes, known)
            if not more:
                return found
            found = found | more
        known[number] = found
    return known[number]


cdef bint is_accounted_for(dict nodes, object number) except -1:
    """Whether all references to an object were found, but for that of its entry."""
    cdef PyObject* entry = PyDict_GetItem_borrowed(<PyObject*>nodes, <PyObject*>number)
    cdef PyObject* thing = PyList_GET_ITEM(entry, 0)
    cdef Py_ssize_t count = Py_REFCNT(thing) - 1
    return count == len(nodes[number][1]) and not has_weak_references(<object>thing)


def has_weak_references(thing):
    return sys.modules["_weakref"].getweakrefcount(thing) != 0


cdef int note_frames(list frames, dict nodes, object origins, object tensor, dict types) except -1:
    """Note what the variables of the running functions refer to, the innermost function first."""
    cdef int further_in = 0
    main = sys.modules.get("__main__")
    script = getattr(main, "__dict__", None)
    if hasattr(sys, "ps1") or sys.flags.inspect or not hasattr(main, "__file__"):
        script = None  # variables are there after the program, or for the next cell of a notebook
    frame = sys._getframe()
    while frame is not None:
        code = frame.f_code
        origin = origins[code.co_filename]
        if origin == USER:
            is_optimized = code.co_flags & IS_OPTIMIZED != 0
            is_script = frame.f_globals is script and code.co_name == "<module>"
            if (is_optimized or is_script) and not code.co_flags & CAN_WAIT and not finds_variables(code):
                if not frames:
                    note_types(types, frame, code)
                note_variables(nodes, frame, code, len(frames), tensor)
                frames.append((code, frame.f_lasti, further_in))
        further_in += origin != HIDDEN
        frame = frame.f_back
    return 0


def finds_variables(code):
    """Whether a function may find variables by their names, not counting what pytest adds to an ``assert``."""
    found = FINDERS.intersection(code.co_names)
    return bool(found - {"locals"} if "@py_builtins" in code.co_names else found)


cdef int note_variables(dict nodes, object frame, object code, int number, object tensor) except -1:
    """Note the variables of one function, which inner functions do not share; of a script its global ones."""
    cdef bint is_optimized = code.co_flags & IS_OPTIMIZED
    variables = locals_of(frame) if is_optimized else frame.f_globals
    shared = code.co_cellvars
    for name in code.co_varnames if is_optimized else tuple(variables):
        if name in variables and name not in shared:
            note(nodes, variables[name], (number, name), tensor)
    return 0


def locals_of(frame):
    """Return the variables of a function. Before Python 3.13 its frame keeps a dict of them, which would keep them."""
    variables = frame.f_locals
    found = dict(variables)
    if frame.f_code.co_flags & IS_OPTIMIZED and type(variables) is dict and Py_REFCNT(<PyObject*>variables) == 2:
        (<dict>variables).clear()  # only the frame has it, and this function
    return found


cdef int note(dict nodes, object value, object parent, object tensor) except -1:
    """Note an object, what it refers to, and what refers to it: the number of an object, or a variable."""
    cdef list waiting = [(value, parent)]
    while waiting:
        value, parent = waiting.pop()
        kind, number = type(value), id(value)
        if number in nodes:
            nodes[number][1].append(parent)
        elif kind is tensor:
            nodes[number] = [value, [parent]]
        elif kind is ndarray:
            nodes[number] = [value, [parent]]
            waiting.append((value.base, number))
        elif (kind is list or kind is tuple or kind is dict) and 0 < len(value) <= MOST_ITEMS:
            items = value.values() if kind is dict else value
            if len(nodes) < MOST_NODES and all([type(item) in PLAIN or type(item) is tensor for item in items]):
                nodes[number] = [value, [parent]]
                waiting.extend([(item, number) for item in items])
    return 0


cdef int note_types(dict types, object frame, object code) except -1:
    """Note what the names in a function are: arrays, numbers, and the module of NumPy."""
    variables, others, numpy = locals_of(frame), frame.f_globals, sys.modules["numpy"]
    for name in (*code.co_varnames, *code.co_names):
        value = variables[name] if name in variables else others.get(name)
        if type(value) is ndarray:
            types[name] = [value.dtype.str, list(value.shape), bool(value.flags.c_contiguous)]
        elif isinstance(value, generic):
            types[name] = [value.dtype.str, []]
        elif type(value) in (int, float):
            types[name] = type(value).__name__
        elif isinstance(value, type):
            types[name] = "type"
        elif value is numpy:
            types[name] = "numpy"
    return 0
