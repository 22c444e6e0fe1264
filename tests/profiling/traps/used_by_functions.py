"""A script's array is used by a function of the script, at the end of the process."""

import atexit

import numpy as np


@atexit.register
def report():
    print(table.sum())


table = np.ones(500_000)
other = np.ones(500_000) + 1
print(other.sum())
