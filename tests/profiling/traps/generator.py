"""A generator waits with an array that its caller hands over and does not use again."""

import numpy as np


def parts(values):
    yield values[:10].sum()
    yield values[10:].sum()


def main():
    values = np.ones(700_000)
    rest = parts(values)
    first = next(rest)
    other = np.ones(700_000) + 1
    print(first, next(rest), other.sum())


main()
