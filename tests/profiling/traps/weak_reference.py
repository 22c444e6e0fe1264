"""A weak reference is asked for its array later."""

import weakref

import numpy as np


def main():
    values = np.ones(500_000)
    found = weakref.ref(values)
    other = np.ones(500_000) + 1
    print(other.sum(), found() is not None and found().sum())


main()
