"""A function does not use its argument again, but its caller does."""

import numpy as np


def spread(values):
    low, high = values.min(), values.max()
    grid = np.linspace(low, high, 500_000)
    return (grid * 2).sum()


def main():
    values = np.arange(500_000.0)
    print(spread(values), values.sum())


main()
