"""An array is used again only in a later turn of a loop."""

import numpy as np


def turns(count):
    last = np.ones(count)
    for number in range(3):
        if number == 2:
            return last.sum()
        now = np.ones(count)
        now += number


print(turns(500_000))
