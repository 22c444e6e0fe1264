"""Comparisons of tensors: ``x < y`` is a tensor of bools.

What is neither a tensor nor a number is not compared: ``x == None`` is False, ``x < None`` an error. So is ``x == a``
for an array, which one would take for a comparison of elements.
"""

import cython
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.operands import call_operator
from cython.cimports.tensix.tensors.view_methods import ViewMethods

from tensix.dispatch import native_functions

__all__ = []

EQUAL = cython.declare(OperatorTable, native_functions.EQUAL)
NOT_EQUAL = cython.declare(OperatorTable, native_functions.NOT_EQUAL)
LESS = cython.declare(OperatorTable, native_functions.LESS)
LESS_EQUAL = cython.declare(OperatorTable, native_functions.LESS_EQUAL)
GREATER = cython.declare(OperatorTable, native_functions.GREATER)
GREATER_EQUAL = cython.declare(OperatorTable, native_functions.GREATER_EQUAL)


@cython.no_gc  # as its base
@cython.cclass
class ComparisonMethods(ViewMethods):
    """Give a tensor Python's comparisons, element by element; its hash is that of the object nevertheless."""

    def __eq__(self, other):
        return call_operator(EQUAL, self, other)

    def __ne__(self, other):
        return call_operator(NOT_EQUAL, self, other)

    def __lt__(self, other):
        return call_operator(LESS, self, other)

    def __le__(self, other):
        return call_operator(LESS_EQUAL, self, other)

    def __gt__(self, other):
        return call_operator(GREATER, self, other)

    def __ge__(self, other):
        return call_operator(GREATER_EQUAL, self, other)

    def __hash__(self):
        return object.__hash__(self)
