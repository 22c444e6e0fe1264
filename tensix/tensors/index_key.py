"""What stands between the brackets of ``x[...]``: basic keys select a view, all others a copy.

Note [Basic and advanced keys]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
An index is a key or a tuple of keys. Ints, slices, Ellipsis and None are basic; tensors, arrays, lists and bools are
advanced, and one of those among basic keys makes the whole index advanced. NumPy draws the same line. A tensor or
array without dimensions has an ``__index__`` but is advanced all the same: whether ``x[i]`` is a view does not depend
on how many dimensions ``i`` has.
"""

import cython
import numpy as np
from cython.cimports.cpython.number import PyIndex_Check


def is_position(key):
    """Return whether a key selects one place: any integer, and what says so by ``__index__`` and is not an array."""
    if isinstance(key, int) or isinstance(key, np.integer):
        return not isinstance(key, bool)
    return cython.cast(cython.bint, PyIndex_Check(key)) and not hasattr(key, "__array__")
