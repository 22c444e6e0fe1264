"""An array is used again only on the way of an exception."""

import numpy as np


def guarded(count):
    before = np.ones(count)
    try:
        after = np.ones(count)
        if after[0] == 1:
            raise ArithmeticError
        return after.sum()
    except ArithmeticError:
        return before.sum()


print(guarded(500_000))
