"""Writing to a tensor: `out=`, and in place."""

import operator

import numpy as np
import pytest

import tensix
from tests.functions.test_elementwise import BINARY, UNARY, values

IN_PLACE = {
    "add": operator.iadd, "subtract": operator.isub, "multiply": operator.imul, "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv, "remainder": operator.imod, "pow": operator.ipow,
    "bitwise_and": operator.iand, "bitwise_or": operator.ior, "bitwise_xor": operator.ixor,
    "bitwise_left_shift": operator.ilshift, "bitwise_right_shift": operator.irshift,
}  # fmt: skip
