"""What tensix's header for tracebacks adds to each module."""

import subprocess
import sys
from pathlib import Path

import pytest
from Cython.Build import cythonize
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext

import tensix

HEADER = Path(tensix.__file__).parent / "core/traceback.h"
SOURCE = '''
cdef extern from *:
    """
    static PyObject *fail(void) { return NULL; }
    """
    object fail()

def call():
    return fail()
'''


@pytest.mark.skipif(sys.platform == "win32", reason="needs a compiler that takes GCC's options")
def test_failure_without_an_exception_is_a_system_error(tmp_path):
    """CPython 3.12 and later crash if a traceback is to be made of no exception."""
    (tmp_path / "failing.pyx").write_text(SOURCE)
    extension = Extension("failing", [str(tmp_path / "failing.pyx")], extra_compile_args=["-include", str(HEADER)])
    command = build_ext(Distribution({"ext_modules": cythonize([extension], language_level=3, quiet=True)}))
    command.build_lib = command.build_temp = str(tmp_path)
    command.ensure_finalized()
    command.run()
    program = [sys.executable, "-c", "import failing; failing.call()"]
    finished = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    assert finished.stderr.endswith("\nSystemError: error return without exception set\n")
