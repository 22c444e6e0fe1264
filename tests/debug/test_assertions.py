"""In a debug build a broken invariant ends the process and says which; see ``tensix/core/assert.h``."""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from Cython.Build import cythonize
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext

import tensix

HERE = Path(__file__).parent
ROOT = Path(tensix.__file__).parents[1]
BROKEN = re.findall(r"^def (\w+)", (HERE / "broken.pyx").read_text(), re.MULTILINE)
SAID = re.compile(r"^(tensix/\S+\.(?:pxd|pyx|py)):(\d+): assertion failed: expected .+, found -?\d+ \(\w+\)\.$", re.M)


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Build the module of broken.pyx as tensix's own debug build does, and return the folder in which it lies."""
    folder = tmp_path_factory.mktemp("broken")
    extension = Extension(
        "broken", [str(shutil.copy(HERE / "broken.pyx", folder))], define_macros=[("TENSIX_DEBUG", "1")],
        include_dirs=[str(Path(tensix.__file__).parents[1]), tensix.get_include(), np.get_include()],
    )  # fmt: skip
    modules = cythonize([extension], include_path=[str(ROOT)], language_level=3, quiet=True, emit_linenums=True)
    command = build_ext(Distribution({"name": "broken", "ext_modules": modules}))
    command.build_lib = command.build_temp = str(folder)
    command.ensure_finalized()
    command.run()
    return folder


@pytest.mark.parametrize("function", BROKEN)
def test_a_broken_invariant_ends_the_process(broken, function):
    code = f"import sys; sys.path += [{str(broken)!r}, {str(ROOT)!r}]; import broken; broken.{function}()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    said = SAID.search(done.stderr)
    assert done.returncode == -signal.SIGABRT and said, f"not a build with TENSIX_DEBUG=1? {done.stderr}"
    assert "TX_ASSERT" in (ROOT / said[1]).read_text().splitlines()[int(said[2]) - 1]
