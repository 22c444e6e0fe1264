"""Who imports whom: floor on floor, never in a circle, and nothing private in what others cimport."""

import graphlib
import re

from Cython.Build.Dependencies import create_dependency_tree
from floors import FLOOR_OF, MODULES, PACKAGE, SOURCES, arrows, imports_of, module_of, part_of, tensix_imports_of

from tensix.functions import CHAPTERS


def floor_of(module):
    return FLOOR_OF[part_of(module)]


def test_every_kind_of_import_is_seen():
    """Else the other tests would pass on files that they cannot read."""
    seen = {path.relative_to(PACKAGE).as_posix(): set(tensix_imports_of(path)) for path in SOURCES}
    assert seen["core/__init__.py"] > {"tensix.core.device", "tensix.core.storage"}
    assert seen["core/raw.pyx"] == {"tensix.core.combined_refcount", "tensix.core.intrusive_target"}
    assert seen["core/allocator.pxd"] == {"tensix.core.data_ptr", "tensix.core.device"}
    assert seen["kernels/views.pyx"] > {"tensix.tensors.tensor_base", "tensix.dispatch.native_functions"}


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


def test_of_two_parts_at_most_one_imports_the_other():
    found = arrows()
    assert [(part, other) for part in found for other in found[part] if part in found[other]] == []


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


def test_a_field_of_storages_is_compiled_into_a_third_of_the_modules():
    """At most: a body declares its storage by the base class, so that who cimports bodies does not depend on it."""
    tree = create_dependency_tree()
    modules = [path for path in SOURCES if path.suffix == ".pyx" or "\nimport cython\n" in path.read_text()]
    fields = str(PACKAGE / "core/storage_impl.pxd")
    recompiled = [module_of(path) for path in modules if fields in tree.all_dependencies(str(path))]
    assert "tensix.tensors.tensor_impl" in recompiled, "the dependencies of modules in plain Python are found"
    assert len(recompiled) <= len(modules) / 3, recompiled


def test_kernels_are_registered_in_one_folder():
    """A `Library` registers those of users."""
    register = re.compile(r"""\.register\((?:"|key)""")
    found = {path.relative_to(PACKAGE).parts[0] for path in SOURCES if register.search(path.read_text())}
    assert found == {"kernels", "library.py"}


def test_no_kernel_lies_in_the_module_of_another_chapter():
    """What chapters share, such as views, is in modules of other names. `all` and `any` are reductions."""
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
    assert elsewhere == {
        ("all", "statistical"), ("any", "statistical"), ("array_equal", "elementwise"), ("einsum", "linear_algebra"),
    }  # fmt: skip
