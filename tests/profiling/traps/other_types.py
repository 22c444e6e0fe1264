"""Operands that a result cannot be written into: of another type or shape, or used again."""

import numpy as np


def main():
    counts = np.arange(400_000)
    roots = np.sqrt(counts + 1)
    row, column = np.ones((1, 600)), np.ones((600, 1))
    table = np.exp(row + 1) + column
    signs = np.greater(roots * 2, 1)
    kept = roots + 1
    logs = np.log(kept)
    print(counts.sum(), roots.sum(), table.sum(), signs.sum(), kept.sum(), logs.sum())


main()
