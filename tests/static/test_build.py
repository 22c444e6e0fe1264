"""What a build lacks is said before it starts, and what changed since an earlier build is made again."""

import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest

ROOT = Path(__file__).parents[2]
INCLUDED_FIRST = ("tensix/core/traceback.h", "tensix/_support/argument_errors.h")  # by setup.py, in every module
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a compiler that takes GCC's options")


@pytest.fixture
def build_check():
    return SimpleNamespace(**runpy.run_path(str(ROOT / "build_check.py")))


def write_compiler(folder, script):
    """Return the path of a program to be named by CC."""
    path = folder / "some cc"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f"'{path}'"


# ---- what is missing


def old_python(monkeypatch, folder):
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    return "Python 3.11 or newer, found 3.10.13", "python3-venv"


def python_of_32_bits(monkeypatch, folder):
    monkeypatch.setattr(sys, "maxsize", (1 << 31) - 1)
    return "a Python of 64 bits, found one of 32", "python3-venv"


def no_compiler(monkeypatch, folder):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(folder))
    return "a C compiler, and `", "was not found: type `sudo apt install gcc libc6-dev`"


def compiler_that_is_not_there(monkeypatch, folder):
    monkeypatch.setenv("CC", "there-is-none -m64")
    return "`there-is-none -m64`, which CC names, was not found: unset CC, or type", "sudo apt install gcc"


def compiler_that_fails(monkeypatch, folder):
    monkeypatch.setenv("CC", write_compiler(folder, "exit 1"))
    return "compiles no program that includes <stdio.h>", "libc6-dev"


def no_headers_of_python(monkeypatch, folder):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: f"{folder}/include")
    return f"Python.h of {sys.executable}, and it was not found in {folder}/include", "python3-dev"


def no_room(monkeypatch, folder):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=7 << 20))
    return f"200 MiB to be built, and {folder} has 7 MiB", "sudo apt clean"


@pytest.mark.parametrize("lack", [
    old_python, python_of_32_bits, no_compiler, compiler_that_is_not_there, compiler_that_fails, no_headers_of_python,
    no_room,
], ids=lambda lack: lack.__name__)  # fmt: skip
def test_what_is_missing_is_said_with_what_to_type(build_check, lack, monkeypatch, tmp_path):
    found, to_type = lack(monkeypatch, tmp_path)
    text = build_check.missing(str(tmp_path / "build"))
    assert found in text and to_type in text
    assert text.startswith("tensix needs ") and text.endswith(".") and "\n" not in text
    assert [system for system in ("Debian", "Fedora", "macOS") if system not in text] == []


def test_nothing_is_missing_here(build_check, tmp_path):
    assert build_check.missing(str(tmp_path / "build")) is None


def test_what_an_earlier_build_made_is_room(build_check, monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
    with open(tmp_path / "made", "wb") as file:
        file.truncate(build_check.ROOM)
    assert build_check.missing(str(tmp_path)) is None


def test_options_that_the_compiler_does_not_know_are_left_out(build_check, monkeypatch, tmp_path):
    refuse = 'case "$*" in *-falign-loops*|*-fno-plt*) exit 1;; esac'
    monkeypatch.setenv("CC", write_compiler(tmp_path, refuse))
    options = ["-O2", "-falign-loops=32", "-fno-plt", "-ffp-contract=off"]
    assert build_check.known_options(options) == ["-O2", "-ffp-contract=off"]
    monkeypatch.delenv("CC")
    assert build_check.known_options(["-O2", "-fthere-is-none"]) == ["-O2"]


def test_it_is_said_before_cython_starts():
    """In one line, which pip shows."""
    code = """
import runpy, sys
try:
    runpy.run_path("setup.py", run_name="__main__")
finally:
    print([name for name in ("Cython", "numpy", "setuptools") if name in sys.modules])
"""
    environment = os.environ | {"CC": "there-is-none"}
    finished = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (finished.returncode, finished.stdout) == (1, "[]\n")
    assert finished.stderr.startswith("tensix needs a C compiler") and finished.stderr.count("\n") == 1


# ---- what changed


MODULE = 'cdef extern from "tensix/outer.h":\n    int NUMBER, TWICE\nprint(NUMBER, TWICE)\n'
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


class Checkout:
    """A package of one compiled module, which is built as tensix is."""

    def __init__(self, folder):
        self.folder, self.environment = folder, os.environ | {"TENSIX_CFLAGS": ""}
        preloaded = "tensix/memory/preloaded.c", "tensix/memory/preloaded.h", "tensix/core/lock.h"
        made_of = "setup.py", "build_check.py", "tensix/_modules.pyx", "tensix/include", *INCLUDED_FIRST, *preloaded
        for name in made_of:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / name, folder / name)
        project = '[project]\nname = "tensix"\nversion = "1"\n[tool.setuptools]\npackages = ["tensix"]\n'
        self.write("pyproject.toml", project)
        self.write("tensix/__init__.py", "import tensix._modules\n")
        self.write("tensix/include/tensix/outer.h", '#include "tensix/inner.h"\n')
        self.set_number(1)
        self.write("tensix/number.pyx", MODULE)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def set_number(self, number):
        text = f"#define NUMBER {number}\n#ifndef TWICE\n#define TWICE 2\n#endif\n"
        self.write("tensix/include/tensix/inner.h", text)

    def build(self, *command):
        command = command or ("build_ext", "--inplace")
        self.run("setup.py", "-q", *command)

    def run(self, *command):
        finished = subprocess.run(
            [sys.executable, *command], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert finished.returncode == 0, finished.stderr
        return finished.stdout

    def numbers(self):
        return self.run("-c", "import tensix.number").strip()

    def made(self, pattern):
        (path,) = self.folder.glob(f"build/{pattern}")
        return path


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "a folder with ä"
    folder.mkdir()
    return Checkout(folder)


def test_second_build_makes_what_changed(checkout):
    checkout.build()
    assert checkout.numbers() == "1 2"
    made = [checkout.made("*/tensix/number.c"), checkout.made("*/tensix/number.*.o")]
    times = [path.stat().st_mtime_ns for path in made]
    checkout.build()
    assert times == [path.stat().st_mtime_ns for path in made]
    checkout.set_number(7)  # a header that another one includes
    checkout.build()
    assert checkout.numbers() == "7 2"
    checkout.environment["TENSIX_CFLAGS"] = "-DTWICE=14"
    checkout.build()
    assert checkout.numbers() == "7 14"


def test_files_with_their_old_times_are_built(checkout):
    """As rsync and tar write them."""
    checkout.build()
    checkout.set_number(7)
    checkout.write("tensix/number.pyx", MODULE + "print('new')\n")
    for name in ("include/tensix/inner.h", "number.pyx"):
        os.utime(checkout.folder / "tensix" / name, (1, 1))
    checkout.build()
    assert checkout.numbers() == "7 2\nnew"


def test_an_isolated_build_compiles_nothing_again(checkout, tmp_path):
    """NumPy's headers are new files in a new folder each time."""
    include = Path(numpy.get_include())
    header = 'cdef extern from "numpy/numpyconfig.h":\n    int NPY_FEATURE_VERSION\n'
    checkout.write("tensix/number.pyx", MODULE + header)
    checkout.build()
    made = checkout.made("*/tensix/number.*.o")
    time = made.stat().st_mtime_ns
    for folder in (include, include.parents[1] / "random/lib"):
        shutil.copytree(folder, tmp_path / folder.relative_to(include.parents[1]), copy_function=shutil.copyfile)
    moved = tmp_path / include.relative_to(include.parents[1])
    (tmp_path / "sitecustomize.py").write_text(f"import numpy\nnumpy.get_include = lambda: {str(moved)!r}\n")
    checkout.environment["PYTHONPATH"] = str(tmp_path)
    checkout.build()
    assert made.stat().st_mtime_ns == time
    with open(tmp_path / "sitecustomize.py", "a") as file:
        file.write("numpy.__version__ = '99'\n")
    checkout.build()
    assert made.stat().st_mtime_ns > time


def test_deleted_declarations_are_not_built_in(checkout):
    checkout.write("tensix/number.pyx", "")
    checkout.write("tensix/pure.py", "\nimport cython\n\nclass Pure: pass\nprint('__dict__' in dir(Pure()))\n")
    checkout.write("tensix/pure.pxd", "cdef class Pure: pass\n")
    checkout.build()
    assert checkout.run("-c", "import tensix.pure") == "False\n"
    (checkout.folder / "tensix/pure.pxd").unlink()
    checkout.build()
    assert checkout.run("-c", "import tensix.pure") == "True\n"


def test_deleted_modules_are_not_imported(checkout):
    checkout.build()
    shutil.copy(checkout.made("lib*/tensix/_modules.*.so"), checkout.folder / f"tensix/number{SUFFIX}")
    (checkout.folder / "tensix/number.pyx").rename(checkout.folder / "tensix/renamed.pyx")
    checkout.write("tensix/number.py", "print('plain Python')\n")
    checkout.build()
    assert checkout.numbers() == "plain Python"
    assert checkout.run("-c", "import tensix.renamed") == "1 2\n"
    assert not list(checkout.folder.glob("build/*/tensix/number.*.o"))


@pytest.mark.parametrize("pattern", ["*/tensix/number.c", "*/settings", "lib*/tensix/_modules.*.so"])
def test_build_goes_on_after_an_interruption(checkout, pattern):
    checkout.build()
    path = checkout.made(pattern)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    checkout.build()
    assert checkout.numbers() == "1 2"


def test_deleted_files_are_not_installed(checkout):
    checkout.write("tensix/old.py", "")
    checkout.build("build_py")
    assert checkout.made("lib*/tensix/old.py").exists()
    (checkout.folder / "tensix/old.py").unlink()
    checkout.build("build_py")
    assert list(checkout.folder.glob("build/**/*.py")) == [checkout.made("lib*/tensix/__init__.py")]
