"""Find copies of arrays that are not needed: those that only one operation reads, and parts that are joined.

Note [Copies that are only read]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
The result of ``copy()``, ``flatten()``, ``astype()`` of an array to its own type, ``np.copy`` and ``np.array`` is not
needed if it is passed only to an operation that reads it and keeps no reference: an operator, a ufunc, or one of
`READERS`. If the operation's other arguments are names, constants and known expressions, nothing can write into the
source in between. NumPy may reuse a temporary operand's memory for the result of an operator: if type and shape permit
that, the copy saves as much memory as it takes.

Note [Parts that are joined]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A loop over a range appends to a list, and NumPy makes one array of the list: then all elements exist twice. The list
must not be used otherwise, so each part could be written into the result at once. Only the list refers to the parts if
they are freed together with it, or if they are dead together with its variable.
"""

import ast
from itertools import pairwise
from math import prod

import numpy as np

from tensix._support.format_size import format_size
from tensix.profiling.statements import expressions_at, lines_of_statement, scope_of, statement_of
from tensix.profiling.temporaries import Types
from tensix.profiling.uses import Change, where

# Functions of NumPy, most of them methods as well, that read their arguments and return something new.
READERS = frozenset((
    "all", "any", "argmax", "argmin", "argsort", "average", "bincount", "corrcoef", "count_nonzero", "cov", "cumprod",
    "cumsum", "digitize", "dot", "histogram", "isin", "max", "mean", "median", "min", "percentile", "prod", "ptp",
    "quantile", "searchsorted", "std", "sum", "tobytes", "tolist", "trapezoid", "unique", "var",
))  # fmt: skip
OPTIONS = frozenset(("axis", "bins", "q", "minlength", "weights"))  # of these, which are read as well
JOINS = frozenset(("array", "concatenate", "stack"))


def copies(uses):
    """Yield changes that avoid copies. See Note [Copies that are only read]."""
    for fact, level, (text, nbytes) in uses.operations(needless_copy):
        those = uses.like(level, fact["block"])
        ends = {one: uses.replay.born[one] for one in those if uses.blocks["nbytes"][one] == nbytes}
        if fact["block"] in ends:
            yield Change("copy", f"{text} at {where(level.used)}", level.used, tuple(ends), ends)


def needless_copy(frame, place, types):
    """Return what to write instead of the copy that runs, and its size; None if there is none or it may be needed."""
    statement, known = statement_of(frame), Types(types)
    node, *around = expressions_at(statement, place) if statement is not None else [None]
    source, instead = known.copied(node)
    if source is None or known.of(node) is None or not is_only_read(node, around, known):
        return None
    dtype, shape = known.of(node)
    return f"`{instead}` for `{ast.unparse(node)}`", dtype.itemsize * prod(shape)


def is_only_read(node, around, known):
    """Whether a copy is passed to one operation only, which reads it and does not reuse its memory."""
    parent, call, *_ = *around, None
    if known.operation(parent)[0] is not None:
        result = known.of(parent)
        return result is not None and (isinstance(parent, ast.Call) or result != known.of(node))
    if isinstance(parent, ast.Compare):
        return all(known.of(one) is not None for one in (parent.left, *parent.comparators))
    if isinstance(parent, ast.Attribute):  # a method of the copy
        name, arguments = parent.attr, [node, *getattr(call, "args", ())]
    else:
        name, arguments, call = known.name_in_numpy(getattr(parent, "func", None)), getattr(parent, "args", ()), parent
    if name not in READERS or not isinstance(call, ast.Call) or any(one.arg not in OPTIONS for one in call.keywords):
        return False
    first, *others = [*arguments, *(one.value for one in call.keywords)]  # of which a third one could be written
    is_simple = all(isinstance(one, (ast.Name, ast.Constant)) for one in others)
    return first is node and is_simple and len(arguments) <= 2


def joined_parts(uses):
    """Yield changes that write parts into one array. See Note [Parts that are joined]."""
    replay, nbytes = uses.replay, uses.blocks["nbytes"]
    for fact, level, (name, loop, text) in uses.operations(joined):
        ends, added, count = {}, (), 0
        for result in uses.like(level, fact["block"]):
            parts, begin, ends_of_parts = parts_of(uses, level, result, loop, name)
            if parts:
                ends |= {result: replay.born[result]} | dict(zip(parts, ends_of_parts, strict=True))
                added += ((begin, replay.gone[result], nbytes[result]),)
                count = len(parts) if result == fact["block"] else count
        if fact["block"] in ends:
            line = level.used._replace(line=loop[0])
            what = (f"writing the {count} parts of `{text}` at {where(level.used)} into one array of "
                    f"{format_size(nbytes[fact['block']])}, allocated before {where(line)},")  # fmt: skip
            yield Change("parts", what, line, tuple(ends), ends, added)


def joined(frame, place, types):
    """Return the list's name, the lines of the loop, and the expression that joins what a loop appends to a list.

    The name is None for a list comprehension. None in place of all that if something else is done with the list.
    """
    statement, known = statement_of(frame), Types(types)
    if not isinstance(statement, (ast.Assign, ast.Return)) or len(getattr(statement, "targets", [0])) != 1:
        return None
    node = statement.value
    name = known.name_in_numpy(getattr(node, "func", None))
    if expressions_at(statement, place)[0] is not node or name not in JOINS or node.keywords or len(node.args) != 1:
        return None
    [parts] = node.args
    if isinstance(parts, ast.ListComp):
        is_simple = len(parts.generators) == 1 and not parts.generators[0].ifs and is_range(parts.generators[0].iter)
        return (None, lines_of_statement(frame), ast.unparse(node)) if is_simple else None
    if not isinstance(parts, ast.Name):
        return None
    nodes = [*ast.walk(scope_of(frame))]
    uses = [one for one in nodes if isinstance(one, ast.Name) and one.id == parts.id and type(one.ctx) is not ast.Del]
    begins = [one for one in nodes if isinstance(one, ast.Assign) and ast.unparse(one) == f"{parts.id} = []"]
    for loop in (one for one in nodes if isinstance(one, ast.For) and is_range(one.iter) and not one.orelse):
        appended = [one for one in loop.body if isinstance(one, ast.Expr) and is_append(one.value, parts.id)]
        is_even = not any(isinstance(one, (ast.Break, ast.Continue)) for one in ast.walk(loop))
        is_only_use = len(appended) == len(begins) == 1 and len(uses) == 3
        if is_only_use and is_even and begins[0].end_lineno < loop.lineno <= loop.end_lineno < statement.lineno:
            return parts.id, range(loop.lineno, loop.end_lineno + 1), ast.unparse(node)
    return None


def is_range(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def is_append(node, name):
    """Whether an expression appends the value of another one, but not a variable, to a list of a name."""
    is_one = isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func) == f"{name}.append"
    return is_one and not isinstance(node.args[0], (ast.Name, ast.Starred))


def parts_of(uses, level, result, loop, name):
    """Return the blocks that a loop allocated for a result, the position where it began, and where each could end."""
    replay, nbytes = uses.replay, uses.blocks["nbytes"]
    of_thread = np.flatnonzero(uses.threads == uses.threads[result])
    is_inside = (uses.passes(level, loop) & (uses.stacks != uses.stacks[result]))[of_thread]
    end = next((n for n in range(np.searchsorted(of_thread, result), 0, -1) if is_inside[n - 1]), 0)
    first = next((n for n in range(end, 0, -1) if not is_inside[n - 1]), 0)
    alive = [n for n in range(first, end) if replay.gone[of_thread[n]] > replay.born[result]]
    largest = max((nbytes[of_thread[n]] for n in alive), default=0)
    places = [n for n in alive if nbytes[of_thread[n]] == largest]
    parts = of_thread[places].tolist()
    gone = sorted(replay.gone[number] for number in parts)
    is_dead = any(fact["names"] == [name] and {*parts} <= {*fact["blocks"]} for fact in uses.snapshot["moments"])
    is_freed_at_once = bool(parts) and gone[-1] - gone[0] == len(gone) - 1 and gone[-1] < len(replay.times)
    is_even = len({after - before for before, after in pairwise(places)}) == 1
    if not is_even or largest * len(parts) != nbytes[result] or not (is_dead or is_freed_at_once):
        return [], 0, []
    further = end - places[-1]  # from a part to the first block of the next turn
    return parts, replay.born[of_thread[first]], [replay.born[of_thread[n + further]] for n in places]
