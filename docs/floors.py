"""The floors of the package: declared here, kept by tests/static/test_layering.py, shown in design.rst."""

import ast
import re
from pathlib import Path

import tensix

# The lowest first. A part of the package, which is a folder or a module, imports from its own floor or a lower one.
# Beside each floor stands why it is there.
FLOORS = [
    (["_version"], "The build reads the version before anything is compiled."),
    (["_modules"], "All compiled modules lie in the shared object of this one, which imports them."),
    (["_support"], "Text, tables for notebooks, late imports and argument errors know nothing of memory."),
    (["core"], "Bytes have owners whether or not they are elements of a tensor, so nothing here knows of tensors."),
    (["memory"], "Allocators and those who watch them deal in blocks; code that asks for a block need not know them."),
    (["profiling"], "What becomes of what was watched; programs that watch nothing load none of it."),
    (["tensors"], "What an element is and what a body is: the dispatcher reads both in every call."),
    (["dispatch"], "Keys, schemas and types alone decide which kernel runs, so the dispatcher needs no kernel."),
    (["exchange"], "Buffers, DLPack, arrays and pickles work on bodies; the class of tensors offers them."),
    (["loops"], "Walking over elements, threads and copies know no operator; kernels are made of them."),
    (["kernels"], "What operators do: kernels need bodies and handles, but no methods."),
    (["_tensor"], "The one class of tensors: its protocols call exchange, its other methods call operators."),
    (["functions"], "What users call checks its arguments and calls operators; it takes and returns the class."),
    (
        ["c_api", "abi", "explanation", "fft", "files", "library", "linalg", "ops", "testing"],
        "These only use tensors and operators, each for a purpose of its own.",
    ),
    (["__init__"], "The package gives out the names of all floors."),
    (["__main__", "command_line"], "It uses the package as its users do."),
]
FLOOR_OF = {part: number for number, (parts, _) in enumerate(FLOORS) for part in parts}

PACKAGE = Path(tensix.__file__).parent
SOURCES = sorted(path for end in ("py", "pyx", "pxd") for path in PACKAGE.rglob(f"*.{end}"))

# In Cython an import may be spread over lines only inside parentheses.
IMPORT = re.compile(r"^([ \t]*)(?:from\s+([\w.]+)\s+)?c?import\s+(\([^)]*\)|[^\n#]+)", re.MULTILINE)


def module_of(path):
    """Return the module that a file belongs to; a .pxd belongs to the module of its name."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path) for path in SOURCES}


def part_of(module):
    """Return the part of the package that a module belongs to: tensix.core.raw to core, tensix itself to __init__."""
    part = (*module.split("."), "__init__")[1]
    assert part in FLOOR_OF, f"{module} has no floor: give it one in {__file__}"
    return part


def imports_of(path):
    """Yield what a file imports and cimports, as (module, name or None, whether it is inside a block)."""
    if path.suffix == ".py":
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top = set(tree.body)
        unread = set()  # what type checkers alone read runs nowhere
        for block in tree.body:
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
                unread.update(block.body)
        for node in ast.walk(tree):
            if node in unread:
                continue
            if isinstance(node, ast.Import):
                yield from ((alias.name, None, node not in top) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path} imports relatively"
                yield from ((node.module, alias.name, node not in top) for alias in node.names)
    else:
        for indent, module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
            for name in re.findall(r"([\w.]+|\*)(?:\s+as\s+\w+)?", names):
                yield (module, name, bool(indent)) if module else (name, None, bool(indent))


def tensix_imports_of(path):
    """Yield the modules of tensix that a file imports: ``from tensix.core import raw`` means tensix.core.raw."""
    for source, name, _ in imports_of(path):
        module = source.removeprefix("cython.cimports.")
        if f"{module}.{name}" in MODULES:
            yield f"{module}.{name}"
        elif module in MODULES:
            yield module
        else:
            assert module.partition(".")[0] != "tensix", f"{path} imports {module}, which is not there"


def arrows():
    """Return which other parts each part imports from, as a dict of sets."""
    found = {part: set() for part in FLOOR_OF}
    for path in SOURCES:
        found[part_of(module_of(path))] |= {part_of(module) for module in tensix_imports_of(path)}
    return {part: targets - {part} for part, targets in found.items()}
