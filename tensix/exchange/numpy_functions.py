"""NumPy's functions on tensors.

Note [NumPy's functions]
~~~~~~~~~~~~~~~~~~~~~~~~
Of NumPy's ufuncs those that tensix has under the same name are tensix's own, so that ``a + x`` is ``x + a`` and
``np.sin(x)`` is ``tensix.sin(x)``: memory, types and errors are ours. All else, such as ``np.median(x)``,
``np.add.reduce(x)`` or ``np.sin(x, where=mask)``, NumPy computes, over the tensor's memory, which it reads only; so no
copy-on-write ends. Arrays and scalars that come out become tensors: over new memory of NumPy's, or, where NumPy's
result is a view on a tensor, a view on that tensor. What is written, the argument `out` by name or position and the
first one of a few functions, is handed over as `numpy.asarray` does it.

The rule is NEP 13's and NEP 18's: we answer for tensors, arrays, scalars, numbers and sequences of them. If anything
else among the operands has a method of this kind of its own, such as a pandas Series, we say NotImplemented and it is
asked.
"""

import functools
import inspect
import numbers
import sys

import cython
import numpy as np
from cython.cimports.tensix.exchange.ndarray import exported_ndarray_of_impl, readable_of_impl
from cython.cimports.tensix.exchange.numpy_functions import Py_EnterRecursiveCall, Py_LeaveRecursiveCall
from cython.cimports.tensix.tensors.tensor_base import TensorBase

# Functions that write to their first parameter, and its name; all others write to `out`.
WRITERS = {
    np.copyto: "dst", np.fill_diagonal: "a", np.place: "arr", np.put: "a", np.put_along_axis: "arr", np.putmask: "a",
}  # fmt: skip


def call_ufunc(tensor, ufunc, method, inputs, options):
    """Answer for ``__array_ufunc__``. See Note [NumPy's functions]."""
    out = options.get("out", ())
    if not all([is_ours(operand) for operand in (*inputs, *out)]):
        return NotImplemented
    namespace = tensor.__array_namespace__()
    own = own_ufuncs(namespace).get(ufunc)
    if own is not None and method == "__call__" and (not options or (out and len(options) == 1)):
        operands = [taken(operand, namespace) for operand in inputs]
        if not out:
            return own(*operands)
        if isinstance(out[0], TensorBase):
            return own(*operands, out=out[0])
    if out:
        options = {**options, "out": written(out)}
    args = (written(inputs[0]), *inputs[1:]) if method == "at" else inputs
    return call(namespace, getattr(ufunc, method), args, options, out)


def call_function(tensor, function, types, args, options):
    """Answer for ``__array_function__``. See Note [NumPy's functions]."""
    if not all([issubclass(cls, (TensorBase, np.ndarray)) for cls in types]):
        return NotImplemented
    name, place = WRITERS.get(function, "out"), place_of_output(function)
    out = None
    if name in options:
        out = options[name]
        options = {**options, name: written(out)}
    elif place < len(args):
        out = args[place]
        args = (*args[:place], written(out), *args[place + 1 :])
    outputs = () if out is None or function in WRITERS else out if isinstance(out, tuple) else (out,)
    return call(tensor.__array_namespace__(), function, args, options, outputs)


@functools.cache
def place_of_output(function):
    """Return at which position a function takes what it writes; behind all if only by its name."""
    if function in WRITERS:
        return 0
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # before NumPy 2.4 those in C have none: of them dot and concatenate have an `out`
        return 2 if function in {np.dot, np.concatenate} else sys.maxsize
    if "out" not in parameters or parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY:
        return sys.maxsize
    return list(parameters).index("out")


@cython.cfunc
def call(namespace, function, args: tuple, options: dict, outputs: tuple):
    """Call a function of NumPy on the memory of tensors; return the outputs, and tensors for the arrays that it makes.

    An output that is None was not given.
    """
    read: list = []  # tensors, and the arrays that stood for them
    result = function(*[readable(arg, read) for arg in args], **{k: readable(options[k], read) for k in options})
    if not outputs:
        return tensors_of(namespace, result, read)
    results = result if isinstance(result, tuple) else (result,)
    made = [tensors_of(namespace, one, read) if out is None else out
            for one, out in zip(results, outputs, strict=True)]  # fmt: skip
    return tuple(made) if len(made) > 1 else made[0]


@cython.cfunc
def readable(value, read: list):
    """Return a value with arrays in the place of its tensors, for reading."""
    if isinstance(value, TensorBase):
        source: TensorBase = value
        if source.impl.storage is None:
            raise TypeError(
                "NumPy's functions read memory, and a tensor without a storage, undefined or sparse, has none: use "
                "to_dense()."
            )
        array = readable_of_impl(source.impl)
        read.append((value, array))
        return array
    if type(value) is list or type(value) is tuple:  # to compare by == would count as a call
        Py_EnterRecursiveCall(b" in the lists among the arguments of a function of NumPy")
        try:
            return type(value)([readable(one, read) for one in value])
        finally:
            Py_LeaveRecursiveCall()
    return value


def written(value):
    """Return a tensor's memory as an array to write to, also of each in a tuple; return anything else unchanged."""
    if type(value) is tuple:
        return tuple(map(written, value))
    if not isinstance(value, TensorBase):
        return value
    target: TensorBase = value
    return exported_ndarray_of_impl(target.impl)


@cython.cfunc
def tensors_of(namespace, result, read: list):
    """Return what NumPy made, tensors in the place of arrays and scalars."""
    if isinstance(result, (tuple, list)):
        made = [tensors_of(namespace, one, read) for one in result]
        return type(result)(*made) if hasattr(result, "_fields") else type(result)(made)
    if type(result) is not np.ndarray and not isinstance(result, np.number) and not isinstance(result, np.bool):
        return result
    try:
        tensor = namespace.asarray(result)
    except TypeError:  # texts, dates, objects, long doubles: NumPy's own
        return result
    for source, array in read:
        if isinstance(result, np.ndarray) and np.may_share_memory(result, array):
            return view_of(source, tensor) if array.dtype == result.dtype else tensor.clone()
    return tensor


@cython.cfunc
def view_of(source, tensor):
    """Return the view on a tensor that another one over its memory is."""
    distance = (tensor.data_ptr() - source.data_ptr()) // source.itemsize
    return source.as_strided(tensor.shape, tensor.stride(), source.storage_offset() + distance)


@cython.cfunc
def is_ours(operand) -> cython.bint:
    """Return whether we answer for an operand. See Note [NumPy's functions]."""
    if isinstance(operand, TensorBase) or isinstance(operand, numbers.Number) or type(operand) is np.ndarray:
        return True
    return getattr(type(operand), "__array_ufunc__", np.ndarray.__array_ufunc__) is np.ndarray.__array_ufunc__


@cython.cfunc
def taken(operand, namespace):
    """Return an operand in a form that our functions take; arrays without dimensions are numbers."""
    if type(operand) is np.ndarray and operand.ndim == 0:  # a comparison of NumPy's makes them of its scalars
        return operand[()]
    if isinstance(operand, (bool, int, float, complex)) or isinstance(operand, np.generic):
        return operand
    return namespace.asarray(operand)


@functools.cache
def own_ufuncs(namespace):
    """Return our function for each ufunc that has one of the same name."""
    pairs = [(getattr(np, name, None), getattr(namespace, name)) for name in namespace.kernels.elementwise.__all__]
    pairs.append((np.matmul, namespace.matmul))
    return {ufunc: function for ufunc, function in pairs if isinstance(ufunc, np.ufunc)}


class ArrayInterface(dict):
    """Describe a tensor's memory to others; the address is handed out when it is asked for, and not before.

    NumPy, which reads the dict in C, finds no address there and takes the tensor's buffer.
    """

    def __init__(self, facts, facts_with_address):
        super().__init__(facts)
        self.facts_with_address = facts_with_address

    def __missing__(self, key):
        if key != "data":
            raise KeyError(key)
        self.update(self.facts_with_address())  # all again: to make an address may run Python code
        return self["data"]

    def get(self, key, default=None):
        """Return what a key says, as in any dict."""
        return self[key] if key == "data" else super().get(key, default)
