"""Who imports whom: floor on floor, never in a circle, and nothing private in what others cimport."""

import ast
import graphlib
import re
from pathlib import Path

import tensix
from tensix.functions import CHAPTERS

PACKAGE = Path(tensix.__file__).parent
SOURCES = sorted(path for end in ("py", "pyx", "pxd") for path in PACKAGE.rglob(f"*.{end}"))
FLOORS = {
    "_version": 0,
    "core": 1,
    "memory": 2,
    "tensors": 3,
    "dispatch": 4,
    "exchange": 5,
    "kernels": 6,
    "_tensor": 7,
    "functions": 8,
    "interop": 9,
    "testing": 9,
    "abi": 9,
    "c_api": 9,
    "explanation": 9,
    "fft": 9,
    "library": 9,
    "linalg": 9,
    "ops": 9,
    "__init__": 10,
    "command_line": 11,  # it uses the package as its users do
    "__main__": 11,
}

# In Cython an import may be spread over lines only inside parentheses.
IMPORT = re.compile(r"^([ \t]*)(?:from\s+([\w.]+)\s+)?c?import\s+(\([^)]*\)|[^\n#]+)", re.MULTILINE)


def module_of(path):
    """Return the module that a file belongs to; a .pxd belongs to the module of its name."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path) for path in SOURCES}


def imports_of(path):
    """Yield what a file imports and cimports, as (module, name or None, whether it is inside a block)."""
    if path.suffix == ".py":
        tree = ast.parse(path.read_text())
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
        for indent, module, names in IMPORT.findall(path.read_text()):
            for name in re.findall(r"([\w.]+)(?:\s+as\s+\w+)?", names):
                yield (module, name, bool(indent)) if module else (name, None, bool(indent))


def tensix_imports_of(path):
    """Yield the modules of tensix that a file imports: ``from tensix.core import raw`` means tensix.core.raw."""
    for module, name, _ in imports_of(path):
        module = module.removeprefix("cython.cimports.")
        if f"{module}.{name}" in MODULES:
            yield f"{module}.{name}"
        elif module in MODULES:
            yield module
        else:
            assert module.partition(".")[0] != "tensix", f"{path} imports {module}, which is not there"


def floor_of(module):
    part = (*module.split("."), "__init__")[1]
    assert part in FLOORS, f"{module} has no floor: give it one"
    return FLOORS[part]


def test_every_kind_of_import_is_seen():
    """Else the other tests would pass on files that they cannot read."""
    seen = {path.relative_to(PACKAGE).as_posix(): set(tensix_imports_of(path)) for path in SOURCES}
    assert seen["core/__init__.py"] > {"tensix.core.raw", "tensix.core.stat"}
    assert seen["core/raw.pyx"] == {"tensix.core.combined_refcount", "tensix.core.intrusive_target"}
    assert seen["core/allocator.pxd"] == {"tensix.core.data_ptr"}
    assert seen["kernels/views.py"] > {"tensix.tensors.tensor_base", "tensix.dispatch.native_functions"}


def test_no_cycles():
    graph = {module: set() for module in MODULES}
    for path in SOURCES:
        graph[module_of(path)] |= set(tensix_imports_of(path)) - {module_of(path)}
    graphlib.TopologicalSorter(graph).prepare()  # else a CycleError, which names the cycle


def test_nobody_imports_from_a_higher_floor():
    upward = [
        f"{path.relative_to(PACKAGE.parent)} (floor {floor_of(module_of(path))}) imports {module} ({floor_of(module)})"
        for path in SOURCES
        for module in tensix_imports_of(path)
        if floor_of(module) > floor_of(module_of(path))
    ]
    assert upward == []


def test_of_two_folders_at_most_one_imports_the_other():
    arrows = {
        (path.relative_to(PACKAGE).parts[0], module.split(".")[1])
        for path in SOURCES
        for module in tensix_imports_of(path)
        if path.parent != PACKAGE and "." in module
    }
    assert {(a, b) for a, b in arrows if a != b and (b, a) in arrows} == set()


def test_imports_stand_at_the_top_level():
    inside = [
        f"{path.relative_to(PACKAGE.parent)} imports {module}"
        for path in SOURCES
        for module, _, is_inside in imports_of(path)
        if is_inside
    ]
    assert inside == []


def test_public_declarations_need_no_header_of_ours():
    """Who cimports tensix must not need our include directory, and sees nothing of what is inside."""
    reached, waiting = set(), ["tensix"]
    while waiting:
        base = PACKAGE.parent.joinpath(*waiting.pop().split("."))
        path = base / "__init__.pxd" if base.is_dir() else base.with_suffix(".pxd")
        if path not in reached:
            reached.add(path)
            waiting += tensix_imports_of(path)
    assert {path.stem for path in reached} == {"__init__", "abi", "c_api"}
    assert [path for path in sorted(reached) if re.search(r'cdef\s+extern\s+from\s+"tensix/', path.read_text())] == []


def test_kernels_are_registered_in_one_folder():
    """A `Library` registers those of users."""
    register = re.compile(r"""\.register\((?:"|key)""")
    found = {path.relative_to(PACKAGE).parts[0] for path in SOURCES if register.search(path.read_text())}
    assert found == {"kernels", "library.py"}


def test_no_kernel_lies_in_the_module_of_another_chapter():
    """What chapters share, such as views, is in modules of other names; whether all or any are true is a reduction."""
    chapter_of = {name: chapter.__name__.rpartition(".")[2] for chapter in CHAPTERS for name in chapter.__all__}
    registration = re.compile(r"\bnative_functions\.([A-Z_0-9]+)(?:\.register\(|, )")
    homes = {
        (name.lower(), path.stem) for path in SOURCES if path.parent.name == "kernels"
        for name in registration.findall(path.read_text())
    }
    assert len(homes) > 100
    layouts = {"sparse"}  # has kernels of all chapters, by keys of its own
    elsewhere = {
        (name, home) for name, home in homes
        if home in {*chapter_of.values()} - layouts and chapter_of.get(name, home) != home
    }
    assert elsewhere == {("all", "statistical"), ("any", "statistical")}
