"""Statements of a program's source, found by the lines of frames."""

import ast

from tensix.profiling.snapshot_file import lines_of_source

TREES = {}
WRITERS = frozenset(("sort", "partition", "fill", "put", "itemset", "resize", "setflags", "setfield", "byteswap",
                     "copyto", "place", "putmask", "put_along_axis", "fill_diagonal", "shuffle", "at"))  # fmt: skip


def tree_of(file):
    """Return the parsed source of a file, None if there is none."""
    lines = tuple(lines_of_source(file))
    if file not in TREES or TREES[file][0] != lines:
        try:
            tree = ast.parse("".join(lines)) if lines else None
        except (SyntaxError, ValueError, RecursionError):
            tree = None
        TREES[file] = lines, tree
    return TREES[file][1]


def statement_of(frame):
    """Return the innermost statement of a line as a node of `ast`, None if the source cannot be read."""
    tree = tree_of(frame.file)
    found = None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.stmt) and node.lineno <= frame.line <= node.end_lineno:
            found = node  # walked from outside to inside
    return found


def expressions_at(root, place):
    """Return the expression at a place, first and last line and column, and what is around it; [None] for none."""
    ends = "lineno", "end_lineno", "col_offset", "end_col_offset"
    around, found = {}, [None]
    for node in ast.walk(root):
        around.update((child, node) for child in ast.iter_child_nodes(node))
        if isinstance(node, ast.expr) and [getattr(node, end) for end in ends] == [*place]:
            found = [node]
    while found[-1] in around:
        found.append(around[found[-1]])
    return found


def scope_of(frame):
    """Return the innermost function, or the file, that a line is in."""
    tree = tree_of(frame.file)
    kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
    found = [one for one in ast.walk(tree) if isinstance(one, kinds) and one.lineno < frame.line <= one.end_lineno]
    return found[-1] if found else tree


def lines_of_statement(frame):
    """Return the lines of a simple statement; of one that holds others those of its head; else one line."""
    statement = statement_of(frame)
    if statement is None:
        return range(frame.line, frame.line + 1)
    body = body_of(statement)
    if not body:
        return range(statement.lineno, statement.end_lineno + 1)
    end = max(statement.lineno + 1, getattr(body[0], "lineno", frame.line + 1))
    return range(statement.lineno, end) if frame.line < end else range(frame.line, frame.line + 1)


def body_of(statement):
    """Return what stands inside a statement, nothing of a simple one."""
    return getattr(statement, "body", None) or getattr(statement, "cases", None) or []


def can_follow(frame):
    """Whether there can be a statement directly after that of a line which is reached from it."""
    ends = ast.Return, ast.Raise, ast.Continue, ast.Break
    statement = statement_of(frame)
    return statement is not None and not isinstance(statement, ends) and not body_of(statement)


def can_precede(frame):
    """Whether there can be a statement directly before that of a line which is run each time before it."""
    statement = statement_of(frame)
    if isinstance(statement, (ast.If, ast.With)) and statement.lineno == frame.line:
        return lines_of_source(frame.file)[frame.line - 1].split(maxsplit=1)[0] != "elif"
    return statement is not None and not body_of(statement)


def is_written(file, name):
    """Whether a file has a statement that writes into something of a name, or may."""
    parts = ast.Subscript, ast.Attribute
    return any(
        (isinstance(node, ast.AugAssign) and name_of(node.target) == name)
        or (isinstance(node, parts) and not isinstance(node.ctx, ast.Load) and name_of(node) == name)
        or (isinstance(node, ast.keyword) and node.arg == "out" and name in names_in(node.value))
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITERS
            and name in names_in(node))
        for node in ast.walk(tree_of(file))
    )  # fmt: skip


def name_of(node):
    """Return the name of which a target is a part."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def names_in(node):
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def target_of(frame):
    """Return the name that the statement of a line gives to its value, None if it gives none or several."""
    statement = statement_of(frame)
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    is_one = isinstance(statement, (ast.Assign, ast.AnnAssign)) and len(targets) == 1
    return ast.unparse(targets[0]) if is_one and isinstance(targets[0], (ast.Name, ast.Attribute)) else None
