"""Results of expressions that could be written into an operand, which nothing else has.

Note [Temporaries that can be written]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
The expression that runs is found in the source by its position. Types and shapes of its parts are worked out from those
of the variables, as NumPy does it; what cannot be is unknown, and so is all around it. The result can be written into
an operand that is itself the result of an operator or a ufunc, so that nothing else has it, and that has the result's
type and shape. All that the statement evaluates must be known, for what is evaluated earlier than before may not depend
on anything that runs in between.
"""

import ast
from math import prod

import numpy as np

from tensix.profiling.statements import lines_of_statement, statement_of

__all__ = ["rewritten"]

OPERATORS = {
    ast.Add: ("+", "add"), ast.Sub: ("-", "subtract"), ast.Mult: ("*", "multiply"), ast.Div: ("/", "divide"),
    ast.FloorDiv: ("//", "floor_divide"), ast.Mod: ("%", "remainder"), ast.Pow: ("**", "power"),
    ast.BitAnd: ("&", "bitwise_and"), ast.BitOr: ("|", "bitwise_or"), ast.BitXor: ("^", "bitwise_xor"),
    ast.LShift: ("<<", "left_shift"), ast.RShift: (">>", "right_shift"),
}  # fmt: skip
SIGNS = {ast.USub: "negative", ast.Invert: "invert"}
SCALARS = {"int": int, "float": float}
SAME = ("min", "max")  # methods whose result has the type of the array, without arguments
OF_FLOATS = ("mean", "std", "var")  # the same if that is float32 or float64
NAME = "new"


class Types:
    """Work out the types of expressions.

    Parameters
    ----------
    types : dict
        Of names, as `bindings.moment` notes them.
    """

    def __init__(self, types):
        self.types = types

    def of(self, node):
        """Return dtype and shape of an expression, int or float with None for Python's numbers; None if unknown."""
        try:
            return self.find(node)
        except (TypeError, ValueError, SyntaxError, IndexError, AttributeError):  # NumPy refuses it
            return None

    def find(self, node):
        if isinstance(node, ast.Name):
            known = self.types.get(node.id)
            return array_type(*known) if isinstance(known, list) else number_type(SCALARS.get(known))
        if isinstance(node, ast.Constant):
            return number_type(type(node.value) if type(node.value) in (int, float) else None)
        if isinstance(node, ast.Subscript):
            return self.of_slice(node)
        if isinstance(node, ast.Attribute) and node.attr == "T":
            dtype, shape = self.of(node.value)
            return dtype, shape[::-1]
        ufunc, operands = self.operation(node)
        if ufunc is not None:
            return self.of_operation(ufunc, operands)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
            dtype, shape = self.of(node.func.value)
            is_float = shape is not None and dtype.char in "fd"
            if shape is not None and (node.func.attr in SAME or (is_float and node.func.attr in OF_FLOATS)):
                return dtype, ()
        return None

    def of_slice(self, node):
        """Return the type of a slice with constant bounds."""
        dtype, shape = self.of(node.value)
        index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not all(isinstance(one, ast.Slice) for one in index):
            return None
        bounds = [[part and ast.literal_eval(part) for part in (one.lower, one.upper, one.step)] for one in index]
        sizes = [len(range(size)[slice(*bound)]) for size, bound in zip(shape, bounds, strict=False)]
        return (dtype, (*sizes, *shape[len(sizes) :])) if len(index) <= len(shape) else None

    def operation(self, node):
        """Return the ufunc that an expression calls, and its operands; None if it calls none."""
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return getattr(np, OPERATORS[type(node.op)][1]), [node.left, node.right]
        if isinstance(node, ast.UnaryOp) and type(node.op) in SIGNS:
            return getattr(np, SIGNS[type(node.op)]), [node.operand]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
            module = node.func.value
            if isinstance(module, ast.Name) and self.types.get(module.id) == "numpy":
                found = np._core.umath.clip if node.func.attr == "clip" else getattr(np, node.func.attr, None)
                if isinstance(found, np.ufunc) and len(node.args) == found.nin and found.nout == 1:
                    return found, node.args
        return None, []

    def of_operation(self, ufunc, operands):
        """Return the type of a ufunc's result."""
        found = [self.of(operand) for operand in operands]
        if None in found or ufunc.signature is not None:
            return None
        dtypes = ufunc.resolve_dtypes((*(dtype for dtype, _ in found), None))
        return dtypes[-1], together([shape or () for _, shape in found])


def array_type(dtype, shape):
    dtype = np.dtype(dtype)
    return (dtype, tuple(shape)) if dtype.kind in "biufc" else None


def number_type(kind):
    return None if kind is None else (kind, None)


def together(shapes):
    """Return the shape to which shapes are broadcast, without an array, which would be recorded."""
    depth = max(map(len, shapes))
    sizes = [{1, *(shape[-n] for shape in shapes if n <= len(shape))} for n in range(1, depth + 1)]
    if any(len(one) > 2 for one in sizes):
        raise ValueError(f"{shapes} cannot be broadcast.")
    return tuple(min(one - {1}, default=1) for one in reversed(sizes))


def rewritten(frame, place, types):
    """Return how the result of the operation that runs can be written into an operand of it.

    Parameters
    ----------
    frame : Frame
        The line that runs it.
    place : sequence of int
        First and last line, first and last column of the operation in the source.
    types : dict
        Of the names in the function, as `bindings.moment` notes them.

    Returns
    -------
    dict or None
        ``made``, the lines of the statement; ``write``, two statements for this one's expression, and perhaps one after
        it; ``nbytes`` of the result. None if there is no such way.
    """
    statement = statement_of(frame)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)):
        return None
    value = statement.value
    if value is None or (isinstance(statement, ast.AugAssign) and not isinstance(statement.target, ast.Name)):
        return None  # what else is evaluated before it is not known
    node = next((one for one in ast.walk(value) if is_at(one, place)), None)
    known = Types(types)
    ufunc, operands = known.operation(node)
    found = known.of(node)
    if ufunc is None or found is None or not found[1] or known.of(value) is None:
        return None
    for operand in operands:
        if known.operation(operand)[0] is not None and known.of(operand) == found:
            write = [f"{NAME} = {ast.unparse(operand)}", text_of(node, operands, operand, ufunc)]
            if not isinstance(statement, ast.Return):
                write.append(f"del {NAME}")  # else it would live on
            nbytes = found[0].itemsize * prod(found[1])
            return {"made": [*lines_of_statement(frame)], "write": write, "nbytes": nbytes}
    return None


def is_at(node, place):
    """Whether a node of `ast` is where an instruction is."""
    where = tuple(getattr(node, name, None) for name in ("lineno", "end_lineno", "col_offset", "end_col_offset"))
    return where == tuple(place)


def text_of(node, operands, operand, ufunc):
    """Return a statement that writes an operation's result into an operand, which has a name by then."""
    words = [NAME if one is operand else ast.unparse(one) for one in operands]
    if isinstance(node, ast.BinOp) and operand is operands[0]:
        return f"{NAME} {OPERATORS[type(node.op)][0]}= {words[1]}"
    function = ast.unparse(node.func) if isinstance(node, ast.Call) else f"np.{ufunc.__name__}"
    return f"{function}({', '.join(words)}, out={NAME})"
