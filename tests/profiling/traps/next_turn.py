"""An array is used again only in a later turn of a loop."""

import numpy as np


def turns(count):
    last = np.ones(count)
    total = 0
    for number in range(2):
        if number == 1:
            total += last.sum()
        else:
            now = np.ones(count)
            now += number
    return total


print(turns(500_000))
