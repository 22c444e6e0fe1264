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

from tensix.profiling.statements import expressions_at, lines_of_statement, statement_of

OPERATORS = {
    ast.Add: ("+", "add"), ast.Sub: ("-", "subtract"), ast.Mult: ("*", "multiply"), ast.Div: ("/", "divide"),
    ast.FloorDiv: ("//", "floor_divide"), ast.Mod: ("%", "remainder"), ast.Pow: ("**", "power"),
    ast.BitAnd: ("&", "bitwise_and"), ast.BitOr: ("|", "bitwise_or"), ast.BitXor: ("^", "bitwise_xor"),
    ast.LShift: ("<<", "left_shift"), ast.RShift: (">>", "right_shift"),
}  # fmt: skip
SIGNS = {ast.USub: "negative", ast.Invert: "invert"}
BUILTIN_TYPES = {"bool": bool, "int": int, "float": float, "complex": complex}
SCALARS = {"int": int, "float": float}
NAME = "new"


class Types:
    """Work out the types of expressions from those of names, as `bindings.moment` notes them."""

    def __init__(self, types):
        self.types = types

    def of(self, node):
        """Return dtype and shape of an expression, int or float with None for Python's numbers; None if unknown."""
        try:
            return self.find(node)
        except (TypeError, ValueError, SyntaxError):  # NumPy refuses it
            return None

    def find(self, node):
        if isinstance(node, ast.Name):
            known = self.types.get(node.id)
            dtype = np.dtype(known[0]) if isinstance(known, list) else None
            is_array = dtype is not None and dtype.kind in "biufc"
            return (dtype, tuple(known[1])) if is_array else (SCALARS[known], None) if known in SCALARS else None
        if isinstance(node, ast.Constant):
            return (type(node.value), None) if type(node.value) in (int, float) else None
        source, _ = self.copied(node)
        if source is not None:
            return self.find(source)
        ufunc, operands = self.operation(node)
        found = [self.of(operand) for operand in operands]
        if ufunc is None or None in found or ufunc.signature is not None:
            return None
        dtypes = ufunc.resolve_dtypes((*(dtype for dtype, _ in found), None))
        return dtypes[-1], np.broadcast_shapes(*(shape or () for _, shape in found))

    def operation(self, node):
        """Return the ufunc that an expression calls, and its operands; None if it calls none."""
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return getattr(np, OPERATORS[type(node.op)][1]), [node.left, node.right]
        if isinstance(node, ast.UnaryOp) and type(node.op) in SIGNS:
            return getattr(np, SIGNS[type(node.op)]), [node.operand]
        name = self.name_in_numpy(getattr(node, "func", None))
        if name is not None and not node.keywords:
            found = np._core.umath.clip if name == "clip" else getattr(np, name, None)
            if isinstance(found, np.ufunc) and len(node.args) == found.nin and found.nout == 1:
                return found, node.args
        return None, []

    def name_in_numpy(self, node):
        """Return the name that an expression takes out of the module, None if it does something else."""
        is_one = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        return node.attr if is_one and self.types.get(node.value.id) == "numpy" else None

    def copied(self, node):
        """Return the name of a contiguous array that an expression copies, and what to write instead, else None."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None, None
        name, values = node.func.attr, [*node.args, *(one.value for one in node.keywords if one.arg == "dtype")]
        of_numpy = self.name_in_numpy(node.func) is not None
        source, *types = values if of_numpy and values else [node.func.value, *values]
        known = self.types.get(source.id) if isinstance(source, ast.Name) else None
        is_whole = len(values) == len(node.args) + len(node.keywords) and len(types) <= 1
        if not is_whole or not isinstance(known, list) or self.of(source) is None or known[2:] != [True]:
            return None, None
        if types and str(self.dtype_of(types[0])) != str(self.of(source)[0]):  # None would equal float64
            return None, None
        text, module, words = source.id, ast.unparse(node.func.value), ", ".join(map(ast.unparse, (source, *types)))
        way = {
            ("copy", False, 0): text, ("copy", True, 0): text, ("flatten", False, 0): f"{text}.ravel()",
            ("astype", False, 1): f"{text}.astype({words.partition(', ')[2]}, copy=False)",
            ("array", True, 0): f"{module}.asarray({words})", ("array", True, 1): f"{module}.asarray({words})",
        }.get((name, of_numpy, len(types)))  # fmt: skip
        return (None, None) if way is None else (source, way)

    def dtype_of(self, node):
        """Return the dtype that an expression names, None if it is another one."""
        name = self.name_in_numpy(node)
        if name is None and isinstance(node, ast.Name) and node.id not in self.types:
            return np.dtype(BUILTIN_TYPES[node.id]) if node.id in BUILTIN_TYPES else None
        found = node.value if isinstance(node, ast.Constant) else getattr(np, name or "", None)
        try:
            is_type = isinstance(found, str) or (isinstance(found, type) and issubclass(found, np.generic))
            return np.dtype(found) if is_type else None
        except (TypeError, ValueError, SyntaxError):  # NumPy has none of this name
            return None


def rewritten(frame, place, types):
    """Return how the result of the operation that runs can be written into an operand of it, None if it cannot.

    Parameters are the frame that runs it, its place in the source as first and last line and column, and the types of
    names. Returned are ``made``, the lines of the statement; ``write``, two statements for this one's expression, and
    perhaps one after it; ``nbytes`` of the result.
    """
    statement = statement_of(frame)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)):
        return None
    value = statement.value
    if value is None or (isinstance(statement, ast.AugAssign) and not isinstance(statement.target, ast.Name)):
        return None  # what else is evaluated before it is not known
    node, *_ = expressions_at(value, place)
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


def text_of(node, operands, operand, ufunc):
    """Return a statement that writes an operation's result into an operand, which has a name by then."""
    words = [NAME if one is operand else ast.unparse(one) for one in operands]
    if isinstance(node, ast.BinOp) and operand is operands[0]:
        return f"{NAME} {OPERATORS[type(node.op)][0]}= {words[1]}"
    function = ast.unparse(node.func) if isinstance(node, ast.Call) else f"np.{ufunc.__name__}"
    return f"{function}({', '.join(words)}, out={NAME})"
