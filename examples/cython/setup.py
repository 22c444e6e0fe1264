"""Build the examples: ``python setup.py build_ext --inplace``. No include directory of tensix is needed."""

from Cython.Build import cythonize
from setuptools import setup

NEEDS_NO_GIL = {"freethreading_compatible": True}  # of CPython that has none: else importing them turns it on

modules = cythonize(["shelf.pyx", "vector.pyx"], compiler_directives=NEEDS_NO_GIL)
setup(name="examples", ext_modules=modules, py_modules=[])
