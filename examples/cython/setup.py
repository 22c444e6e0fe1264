"""Build the examples: ``python setup.py build_ext --inplace``. No include directory of tensix is needed."""

from Cython.Build import cythonize
from setuptools import setup

setup(name="examples", ext_modules=cythonize(["shelf.pyx", "vector.pyx"]), py_modules=[])
