"""The array API standard's elementwise functions, under the names by which users call them."""

from tensix.kernels import elementwise
from tensix.kernels.elementwise import *  # noqa: F403

__all__ = elementwise.__all__
