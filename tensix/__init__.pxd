"""What other people's Cython may use: ``from tensix cimport incref``. No C header is needed.

The classes are opaque: use the functions, which are those of ``c_api.pxd``. See docs/cython.rst for what each does and
what is promised.
"""
from tensix.abi cimport StrongCount_1 as StrongCount, WeakIntrusivePtr_1 as WeakIntrusivePtr
from tensix.c_api cimport *
