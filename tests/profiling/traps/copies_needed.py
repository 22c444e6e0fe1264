"""Copies that are written, kept, of another type or another order, or whose memory the result gets."""

import numpy as np


def worked(values):
    values -= values.mean()
    return values


def main():
    values = np.ones((1000, 600))
    counts = np.ones((1000, 600), np.int64)
    kept = [values.copy()]
    changed = worked(values.copy()).sum()
    kept.pop()
    swapped = values.T
    ordered = np.percentile(swapped.copy(), 99)
    converted = np.abs(counts.astype(np.float64)).sum()
    doubled = (values.copy() * 2).sum()
    while_written = np.dot(values.copy().ravel(), worked(values).ravel())
    print(changed, ordered, converted, doubled, while_written, len(kept), values[0, 0])


main()
