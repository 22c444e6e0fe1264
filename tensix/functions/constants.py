"""The array API standard's constants, and the version of it that tensix follows."""

import math

__all__ = ["__array_api_version__", "e", "inf", "nan", "newaxis", "pi"]

__array_api_version__ = "2025.12"

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi
