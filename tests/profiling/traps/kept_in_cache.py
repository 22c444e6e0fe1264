"""A cache keeps an array whose variable is not used again."""

import numpy as np

CACHE = {}


def squares(count):
    if count not in CACHE:
        values = np.arange(count) ** 2.0
        CACHE[count] = values
        scale = np.ones(count)
        return (values[-1] + scale[0]).item()
    return CACHE[count][-1].item()


def main():
    first = squares(500_000)
    total = np.ones(1_000_000).sum()
    print(first, total, squares(500_000))


main()
