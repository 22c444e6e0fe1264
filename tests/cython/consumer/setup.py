"""Three modules in Cython, which need no include directory, and two in C and C++, which ask tensix for it.

Without a compiler for C++ those in C++ are left out.
"""

import os
import shutil
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

import tensix

PLAIN = {"include_dirs": [tensix.get_include()], "extra_compile_args": ["-Wall", "-Wextra", "-Werror"]}
COMPILER = (os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "c++").split()[0]
HAS_CPP = os.name == "nt" or shutil.which(COMPILER) is not None
SOURCES = [str(path) for path in Path("tensix_consumer").glob("*.pyx") if HAS_CPP or path.stem != "tensors"]

setup(
    packages=["tensix_consumer"],
    ext_modules=[
        *cythonize(SOURCES, language_level=3, compiler_directives={"freethreading_compatible": True}),
        Extension("tensix_consumer.plain_c", ["tensix_consumer/plain_c.c", "tensix_consumer/plain_c_made.c"], **PLAIN),
        *[Extension("tensix_consumer.plain_cpp", ["tensix_consumer/plain_cpp.cpp"], **PLAIN)] * HAS_CPP,
    ],
    options={"build_ext": {"parallel": 4}},
)
