"""What the package consists of agrees with what its build says."""

import importlib
import importlib.util
import inspect
import pickle
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import tensix
from tensix import _modules, abi, core, dispatch, exchange, explanation, fft, files, library, linalg, memory, testing
from tensix._version import __version__

ROOT = Path(__file__).parents[2]
METADATA = tomllib.loads((ROOT / "pyproject.toml").read_text())


def listed_extensions():
    """Return the sources of extension modules: a .pyx is one, and so is a .py that imports cython."""
    written = [*ROOT.glob("tensix/**/*.pyx")]
    written += [path for path in ROOT.glob("tensix/**/*.py") if "\nimport cython\n" in path.read_text()]
    return sorted(path.relative_to(ROOT).as_posix() for path in written)


def test_version_has_one_source():
    assert METADATA["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "tensix._version.__version__"}
    assert "version" not in METADATA["project"]
    assert tensix.__version__ == __version__
    spelled = [path for path in ROOT.glob("tensix/**/*.py") if f'"{__version__}"' in path.read_text()]
    assert spelled == [ROOT / "tensix/_version.py"]
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_package_says_that_it_is_typed():
    assert Path(tensix.__file__).with_name("py.typed").exists()
    assert {"*.pyi", "py.typed"} <= set(METADATA["tool"]["setuptools"]["package-data"]["*"])


@pytest.mark.parametrize("floor", [core, dispatch, library, memory, testing], ids=lambda floor: floor.__name__)
def test_the_package_has_the_names_of_its_floors(floor):
    assert set(floor.__all__) <= set(tensix.__all__) <= set(dir(tensix))
    for name in floor.__all__:
        assert getattr(tensix, name) is getattr(floor, name)


PACKAGES = [tensix, abi, core, dispatch, explanation, fft, files, library, linalg, memory, testing]


@pytest.mark.parametrize("module", PACKAGES, ids=lambda one: one.__name__)
def test_dir_has_the_public_names(module):
    assert {name for name in dir(module) if not name.startswith("__")} == {
        name for name in module.__all__ if not name.startswith("__")
    }


CLASSES = [getattr(tensix, name) for name in tensix.__all__ if isinstance(getattr(tensix, name), type)]


@pytest.mark.parametrize("one", CLASSES, ids=lambda one: one.__name__)
def test_classes_have_a_signature(one):
    """Which shells show. See Note [Signatures of classes] in setup.py."""
    assert inspect.signature(one)
    assert "--" not in one.__doc__.partition("\n")[0]


def test_import_loads_nothing_more_of_the_standard_library():
    """Than NumPy has loaded: modules such as copy, pickle or threading, which few programs need, would take longer than
    most of our own.
    """
    code = "import sys, numpy; before = {*sys.modules}; import tensix; print(*{*sys.modules} - before)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "tensix.core.storage" in loaded
    small = {"__future__", "atexit"}  # an editable install has loaded the first before, the second is built in
    assert sys.stdlib_module_names.intersection(loaded) <= small


def test_what_is_loaded_later_is_not_loaded_by_the_import():
    code = "import sys, tensix; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    later = {
        f"{package.__name__}.{source or name}" for package in (tensix, core, exchange, memory)
        for name, source in package.LOADED_LATER.items()
    }  # fmt: skip
    assert sorted(later.intersection(loaded)) == ["tensix.core", "tensix.dispatch", "tensix.memory"]


@pytest.mark.parametrize("source", listed_extensions())
def test_every_extension_is_compiled(source):
    """setup.py finds those in plain Python in the same way."""
    name = ".".join(Path(source).with_suffix("").parts)
    assert importlib.import_module(name).__file__.endswith(tuple(EXTENSION_SUFFIXES))


def test_compiled_modules_come_from_one_shared_object(tmp_path, monkeypatch):
    """Also where the file of a module of an older build lies. They can be found and loaded again."""
    spec = importlib.util.find_spec("tensix.core.cow")
    assert spec.origin == _modules.__file__ and Path(spec.origin).name.startswith("_modules.")
    assert importlib.util.find_spec("tensix.core.there_is_none") is None
    monkeypatch.setattr(core, "__path__", [str(tmp_path)])
    (tmp_path / f"cow{EXTENSION_SUFFIXES[0]}").write_bytes(b"of an older build")
    assert importlib.util.find_spec("tensix.core.cow").origin == _modules.__file__
    assert importlib.reload(core.raw) is core.raw
    assert spec.loader.get_code("tensix.core.cow") is None  # as of any extension module


@pytest.mark.parametrize("source", listed_extensions())
def test_public_extension_has_a_stub(source):
    """Private is what exports nothing; it has no stub."""
    path = Path(source).with_suffix("")
    is_public = bool(getattr(importlib.import_module(".".join(path.parts)), "__all__", []))
    assert (ROOT / path).with_suffix(".pyi").exists() == is_public


def test_functions_and_methods_can_be_pickled(public_module):
    """By name, as functions are: they are handed to other processes."""
    for name in public_module.__all__:
        exported = getattr(public_module, name)
        own = vars(exported) if inspect.isclass(exported) else {}
        found = [getattr(exported, one) for one, value in own.items() if is_method(one, value)]
        for one in [*found, exported] if inspect.isroutine(exported) else found:
            assert pickle.loads(pickle.dumps(one)) == one


def is_method(name, value):
    """Whether an entry of a class is a static method, a class method or a plain function of Python or C."""
    return not name.startswith("_") and inspect.isroutine(getattr(value, "__func__", value))


@pytest.mark.skipif(shutil.which("gcc") is None or platform.machine() != "x86_64", reason="no GCC that knows -m32")
@pytest.mark.parametrize("bits", [32, 64])
def test_a_build_for_32_bits_is_refused(tmp_path, bits):
    (tmp_path / "x.c").write_text('#include "tensix/atomics.h"\n')
    options = [f"-m{bits}", "-ffreestanding", "-fsyntax-only", f"-I{ROOT / 'tensix/include'}"]
    command = ["gcc", *options, tmp_path / "x.c"]
    compiled = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (compiled.returncode == 0) == (bits == 64)
    assert ("tensix needs pointers of 64 bits" in compiled.stderr) == (bits == 32)


@pytest.mark.skipif(shutil.which("gcc") is None or platform.machine() != "x86_64", reason="no GCC for x86-64")
@pytest.mark.parametrize("options, is_cloned", [([], True), (["-U__x86_64__"], False), (["-U__GLIBC__"], False)])
def test_clones_for_instruction_sets_are_made_where_they_can_be_chosen(tmp_path, options, is_cloned):
    """For x86-64 with the GNU C library; for ARM and other C libraries there is one version."""
    header = '#include "tensix/loops/target_clones.h"'
    lines = ["#include <limits.h>", *(f"#undef {one[2:]}" for one in options), header]
    (tmp_path / "x.c").write_text("\n".join([*lines, "TX_TARGET_CLONES int f(void);"]))
    command = ["gcc", "-E", "-P", f"-I{ROOT}", tmp_path / "x.c"]
    made = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert ("target_clones" in made, "int f(void);" in made) == (is_cloned, True)


FOLDERS = sorted(path.name for path in ROOT.glob("tensix/[!_]*/"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_says_what_is_in_it(folder):
    """In a README whose files are there; it is for readers of the source, and not in wheels."""
    here = ROOT / "tensix" / folder
    text = (here / "README.md").read_text()
    named = re.findall(r"`([\w/]+\.(?:py|pyx|pxd|h|rst))`", text)
    homes = (here, here.parent, ROOT)
    assert named and [name for name in named if not any((home / name).exists() for home in homes)] == []
    assert METADATA["tool"]["setuptools"]["exclude-package-data"] == {"*": ["README.md", "*.c"]}


def test_every_script_of_ci_is_a_job():
    """In the workflow of the forge, which adds nothing to them."""
    scripts = {path.name for path in (ROOT / ".ci").iterdir()}
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    assert set(re.search(r"script: \[(.+)\]", workflow)[1].split(", ")) == scripts


def test_changelog_fragments_have_types():
    """Else towncrier leaves them lying."""
    types = "|".join(kind["directory"] for kind in METADATA["tool"]["towncrier"]["type"])
    names = {path.name for path in (ROOT / "changelog.d").iterdir()} - {"README.md"}
    assert [name for name in names if not re.fullmatch(rf"(\d+|\+[\w-]+)\.({types})\.md", name)] == []
