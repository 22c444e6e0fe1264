"""A generator keeps an array from one turn to the next."""

import numpy as np


def smoothed(count):
    last = np.zeros(400_000)
    for number in range(count):
        now = np.full(400_000, float(number))
        yield (last + now).sum()
        last = now


print(sum(smoothed(4)))
