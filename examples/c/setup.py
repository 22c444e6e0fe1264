"""A module in C on tensix's functions: ``pip install --no-build-isolation ./examples/c``."""

from setuptools import Extension, setup

import tensix

setup(
    name="squares",
    ext_modules=[Extension("squares", ["squares.c"], include_dirs=[tensix.get_include()])],
)
