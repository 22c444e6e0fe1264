"""Write the stubs of functions in plain Python, and summaries into the others: ``python tests/typing/stubs.py``.

Their declarations have types, but what users call takes the names and places of other packages, too: see
Note [Functions as methods]. No decorator can tell a type checker of more names, so the stubs say it, made of the
declarations. `test_typing.py` compares them: run this whenever a signature or the first line of a docstring changed.
"""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import tensix
from tensix.dispatch.tensor_function import OTHER_NAMES

PACKAGE = Path(tensix.__file__).parent
NAMES = (
    "fft", "functions/familiar", "functions/indexing", "functions/linear_algebra", "functions/manipulation",
    "functions/searching", "functions/sorting", "functions/statistical", "functions/utility", "kernels/elementwise",
    "linalg",
)  # fmt: skip
MODULES = [PACKAGE / f"{name}.py" for name in NAMES]


def stub_of(path):
    """Return the text of a module's stub."""
    source = path.read_text(encoding="utf-8")
    body = [part for outer in ast.parse(source).body for part in (outer.body if is_for_checkers(outer) else [outer])]
    exported = next(part for part in body if isinstance(part, ast.Assign) and names_set_by(part) == {"__all__"})
    public = ast.literal_eval(exported.value)
    kept = [one for part in body if (one := declaration_of(part, public)) is not None]
    aliases = [part for part in body if isinstance(part, ast.Assign) and part is not exported]
    kept = [part for part in aliases if names_set_by(part) & names_in(kept)] + kept  # such as `_Norm`
    kept += [one for part in aliases if names_set_by(part) <= {*public} for one in second_names(part)]
    used = names_in(kept) | {*public}
    imports = [part for part in body if isinstance(part, (ast.Import, ast.ImportFrom))]
    for part in imports:
        part.module = getattr(part, "module", None) and part.module.removeprefix("cython.cimports.")
        part.names = [alias for alias in part.names if (alias.asname or alias.name) in used]
    text = [f"# Made of {path.name} by tests/typing/stubs.py."]
    text += [ast.unparse(part) for part in imports if part.names]
    text += [f"{ast.get_source_segment(source, exported)}  # fmt: skip"]
    return formatted("\n".join([*text, *map(ast.unparse, kept)]), path.with_suffix(".pyi"))


def is_for_checkers(part):
    """Return whether a part of a module is a block that type checkers alone read."""
    return isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING"


def second_names(assignment):
    """Return ``name = function`` for each name of ``name = function`` and ``name = alias("name", function)``."""
    value = assignment.value.args[1] if isinstance(assignment.value, ast.Call) else assignment.value
    return [ast.Assign([target], value, lineno=0) for target in assignment.targets]


def declaration_of(part, public):
    """Return what a stub has of a function or a class, None of what is not public."""
    if not isinstance(part, (ast.FunctionDef, ast.ClassDef)) or part.name not in public:
        return None
    if isinstance(part, ast.ClassDef):
        part.body = [line for line in part.body if isinstance(line, ast.AnnAssign)]
        return part
    decorators = {ast.unparse(decorator).partition("(")[0] for decorator in part.decorator_list}
    if decorators & {"function", "method", "operator"}:
        add_other_names(part.args)
    part.decorator_list, part.body = [], [ast.Expr(ast.Constant(...))]
    return part


def add_other_names(arguments):
    """Let arguments that have to be named be given by place, and add the names that they have elsewhere."""
    arguments.args += arguments.kwonlyargs
    arguments.defaults += arguments.kw_defaults
    arguments.kwonlyargs, arguments.kw_defaults = [], []
    every = arguments.posonlyargs + arguments.args
    with_default = zip(every[len(every) - len(arguments.defaults) :], arguments.defaults, strict=True)
    for argument, default in with_default:
        for other, names in OTHER_NAMES.items():
            is_there = other in {one.arg for one in every + arguments.kwonlyargs}
            if argument.arg in names and not is_there and (other, argument.arg) != ("dims", "axis"):
                arguments.kwonlyargs.append(ast.arg(other, argument.annotation))
                arguments.kw_defaults.append(default)


def names_set_by(assignment):
    """Return the names on the left."""
    return names_in(assignment.targets)


def names_in(parts):
    """Return the names that appear anywhere in parts of a module."""
    return {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}


def formatted(text, path):
    """Return the text of a stub as ruff lays it out."""
    for command in (["check", "--fix", "--select=I"], ["format"]):
        command = [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", str(path), "-"]
        text = subprocess.run(command, input=text, capture_output=True, check=True, encoding="utf-8").stdout
    return text


# Stubs of Cython modules are written by hand, but for the summaries: editors read no docstring of a compiled module.
COMPILED = sorted(path for path in PACKAGE.rglob("*.pyi") if path.with_suffix(".pyx").exists())


def with_summaries(path):
    """Return the text of a stub with the first line of each docstring, as the running module has it."""
    module = importlib.import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
    lines = path.read_text(encoding="utf-8").splitlines()
    for part, owner in reversed(declarations_of("\n".join(lines), module)):
        named = vars(owner).get(part.name)
        summary = (inspect.getdoc(named) or "").partition("\n")[0] if named is not None else ""  # None has one, too
        if ast.get_docstring(part) is not None:  # an earlier one
            (kept, *_), last = part.body, part.body[0].end_lineno
            if isinstance(part, ast.ClassDef):
                del lines[kept.lineno - 1 : last]
            else:
                head = part.returns.end_lineno - 1
                lines[head : last] = [f"{lines[head][: part.returns.end_col_offset]}: ..."]
        if summary:
            add_summary(lines, part, summary)
    return "\n".join(lines) + "\n"


def declarations_of(text, module):
    """Return the functions and classes of a stub, those in classes too, each with what it is an attribute of."""
    found = []
    for part in ast.parse(text).body:
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and hasattr(module, part.name):
            found.append((part, module))
            if isinstance(part, ast.ClassDef):
                inner = [one for one in part.body if isinstance(one, ast.FunctionDef) and one.name[:2] != "__"]
                found += [(one, getattr(module, part.name)) for one in inner]
    return [(part, owner) for part, owner in found if not {"overload", "setter"} & words_above(part)]


def words_above(part):
    """Return the last names of the decorators of a declaration."""
    return {ast.unparse(decorator).rpartition(".")[2] for decorator in part.decorator_list}


def add_summary(lines, part, summary):
    """Write a docstring where a declaration says ``...``, or as the first line of a class."""
    indent = " " * (part.col_offset + 4)
    if isinstance(part, ast.ClassDef):
        head = next(i for i in range(part.lineno - 1, len(lines)) if re.search(r":( \.\.\.)?$", lines[i]))
        lines[head] = lines[head].removesuffix(" ...")
        lines.insert(head + 1, f'{indent}"""{summary}"""')
        return
    head = part.returns.end_lineno - 1
    start = lines[head].removesuffix(" ...")
    if start == lines[head]:  # a comment for type checkers follows
        return
    whole = f'{start} """{summary}"""'
    lines[head : head + 1] = [whole] if len(whole) <= 120 else [start, f'{indent}"""{summary}"""']


if __name__ == "__main__":
    for path in MODULES:
        path.with_suffix(".pyi").write_text(stub_of(path), encoding="utf-8")
    for path in COMPILED:
        path.write_text(with_summaries(path), encoding="utf-8")
