"""Build the example: ``python setup.py build_ext --inplace``. No include directory of tensix is needed."""

from Cython.Build import cythonize
from setuptools import setup

setup(name="shelf", ext_modules=cythonize("shelf.pyx"), py_modules=[])
