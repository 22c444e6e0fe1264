"""An array is used again only in a later turn of a loop."""

import numpy as np


def turns(count):
    last = np.ones(count)
    for number in range(2):
        if number == 1:
            return last.sum()
        now = np.ones(count)
        now += number


print(turns(500_000))
