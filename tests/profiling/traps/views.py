"""An array is used through what shares its memory: views, buffers, an iterator."""

import numpy as np


class Holder:
    pass


def main():
    holder = Holder()
    first = np.ones(300_000)
    holder.part = first[::2]
    second = np.ones(300_000)
    buffer = memoryview(second)
    third = np.ones(3)
    rows = iter(np.ones((3, 100_000)))
    other = np.ones(600_000) + third[0]
    print(holder.part.sum(), len(bytes(buffer)), next(rows).sum(), other.sum())


main()
