"""Two modules in Cython, which need no include directory, and two in C and C++, which ask tensix for it."""

from Cython.Build import cythonize
from setuptools import Extension, setup

import tensix

PLAIN = {"include_dirs": [tensix.get_include()], "extra_compile_args": ["-Wall", "-Wextra", "-Werror"]}

setup(
    packages=["tensix_consumer"],
    ext_modules=[
        *cythonize("tensix_consumer/*.pyx", language_level=3),
        Extension("tensix_consumer.plain_c", ["tensix_consumer/plain_c.c", "tensix_consumer/plain_c_made.c"], **PLAIN),
        Extension("tensix_consumer.plain_cpp", ["tensix_consumer/plain_cpp.cpp"], **PLAIN),
    ],
    options={"build_ext": {"parallel": 4}},
)
