"""Write the stubs of functions in plain Python: ``python tests/typing/stubs.py``, whenever a signature changed.

Their declarations have types, but what users call takes the names and places of other packages, too: see
Note [Functions as methods]. No decorator can tell a type checker of more names, so the stubs say it, made of the
declarations. `test_typing.py` compares them.
"""

import ast
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
    return {target.id for target in assignment.targets}


def names_in(parts):
    """Return the names that appear anywhere in parts of a module."""
    return {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}


def formatted(text, path):
    """Return the text of a stub as ruff lays it out."""
    for command in (["check", "--fix", "--select=I"], ["format"]):
        command = [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", str(path), "-"]
        text = subprocess.run(command, input=text, capture_output=True, check=True, encoding="utf-8").stdout
    return text


if __name__ == "__main__":
    for path in MODULES:
        path.with_suffix(".pyi").write_text(stub_of(path), encoding="utf-8")
