"""An outside package, compiled against an installed wheel of tensix and run in a process of its own.

``.ci/consumer`` does the same from a source distribution, with a virtual environment that has nothing of this one.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

import tensix

HERE = Path(__file__).parent
PACKAGE = Path(tensix.__file__).parent
BORROWED = ("cython", "numpy", "pip", "pytest", "setuptools")  # needed beside tensix, and here already


class Environment:
    """A virtual environment with tensix installed from a wheel; an editable install is not on its path."""

    def __init__(self, folder):
        self.python = folder / "bin" / "python"
        self.folder = folder
        # The compiler need not optimise what only has to be right.
        self.variables = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
        self.variables |= {"CFLAGS": "-O0", "CXXFLAGS": "-O0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        self.run(sys.executable, "-m", "venv", "--without-pip", folder)
        self.site_packages = next(folder.glob("lib/python*/site-packages"))
        places = {str(distribution(name).locate_file("")) for name in BORROWED}
        # As code, in ASCII: CPython 3.11 cannot read a path with an umlaut from a .pth file where the locale is C.
        lines = [f"import sys; sys.path.append({place!a})" for place in sorted(places)]
        self.site_packages.joinpath("borrowed.pth").write_text("\n".join(lines))

    def run(self, *command, folder=None, status=0):
        """Run a command and return what it printed."""
        finished = subprocess.run(
            list(map(str, command)), cwd=folder or self.folder, env=self.variables, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
        )  # fmt: skip
        assert finished.returncode == status, finished.stdout
        return finished.stdout

    def install(self, what):
        options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
        self.run(self.python, "-m", "pip", "install", *options, what)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return a wheel of the tensix under test, None if that is installed from one already."""
    if "site-packages" in PACKAGE.parts:
        return None
    folder = tmp_path_factory.mktemp("wheel")
    packed = subprocess.run(
        [sys.executable, HERE / "pack_wheel.py", PACKAGE.parent, folder], capture_output=True, text=True, check=False
    )
    assert packed.returncode == 0, packed.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    made = Environment(tmp_path_factory.mktemp("environment"))
    if wheel is not None:
        made.install(wheel)
    found = made.run(made.python, "-c", "import tensix; print(tensix.__file__)")
    assert "site-packages" in Path(found).parts
    return made


@pytest.fixture(scope="module")
def consumer(environment):
    """Install the outside package and return its tests."""
    source = environment.folder / "consumer"
    shutil.copytree(HERE / "consumer", source)
    environment.install(source)
    return source / "tests"


def test_the_consumer_passes_its_own_tests(environment, consumer):
    found = environment.run(
        environment.python, "-W", "error", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", consumer
    )  # fmt: skip
    without_cpp = "there is no compiler for C++" in found
    assert re.search(r"^[1-9]\d passed" if without_cpp else r"^[4-9]\d passed", found, re.MULTILINE), found


def test_the_example_in_c_builds_and_runs(environment):
    source = environment.folder / "example"
    shutil.copytree(HERE.parents[1] / "examples" / "c", source)
    environment.install(source)
    code = "import squares; x = squares.squares(5); print(squares.total(x), squares.total(x[::2]))"
    assert environment.run(environment.python, "-W", "error", "-c", code) == "30.0 20.0\n"


def test_a_module_of_another_abi_version_is_refused(environment):
    """Doctor the installed declarations, as those of a later tensix would be, and compile against them."""
    later = environment.folder / "later" / "tensix"
    later.mkdir(parents=True)
    installed = Path(environment.run(environment.python, "-c", "import tensix; print(tensix.__path__[0])").strip())
    for name in ("__init__.pxd", "abi.pxd", "c_api.pxd"):
        text = re.sub(r"\b([A-Z]\w+)_1\b", r"\1_3", (installed / name).read_text())
        text = text.replace("cdef uint64_t combined_refcount", "cdef uint64_t combined_refcount, another_field")
        later.joinpath(name).write_text(text)
    later.parent.joinpath("subclass.pyx").write_text(
        "from tensix cimport IntrusiveTarget\n\ncdef class Target(IntrusiveTarget):\n    pass\n"
    )
    later.parent.joinpath("functions.pyx").write_text(
        "from tensix cimport Tensor, tensor_ndim\n\ndef ndim(Tensor x):\n    return tensor_ndim(x)\n"
    )
    code = "import setuptools; from Cython.Build.Cythonize import main; main()"  # it brings distutils, gone since 3.12
    build = [environment.python, "-c", code, "-i", "-3", "subclass.pyx", "functions.pyx"]
    environment.run(*build, folder=later.parent)
    shutil.rmtree(later)
    for name in ("subclass", "functions"):
        found = environment.run(environment.python, "-c", f"import {name}", folder=later.parent, status=1)
        assert re.search(r"^ImportError: this extension module was compiled for version 3 of tensix's ABI", found, re.M)
        assert re.search(r"has version 1\. Compile the module again with this tensix, or install", found)


def test_the_wheel_holds_what_others_compile_against(wheel):
    if wheel is None:
        held = {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*")}
    else:
        held = set(zipfile.ZipFile(wheel).namelist())
    source = HERE.parents[1]
    if not source.joinpath("tensix").is_dir():
        pytest.skip("the tests were copied without the source of the package")
    for pattern in ("*.pxd", "*.pyi", "*.h", "*.pyx", "*.py", "py.typed"):
        wanted = {path.relative_to(source).as_posix() for path in source.joinpath("tensix").rglob(pattern)}
        assert wanted
        assert wanted - held == set()
    made = [name for name in held if name.endswith((".c", ".cpp", ".html")) and "/timeline_page/" not in name]
    assert made == []  # what Cython writes
    # What pytest and Dask load lies beside the package, for a session that uses none of it must not import tensix.
    places = ("tensix", "dask_tensix.py", "pytest_tensix.py", f"tensix-{tensix.__version__}.dist-info")
    assert [name for name in held if name.partition("/")[0] not in places] == []
