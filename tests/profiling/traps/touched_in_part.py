"""Large arrays of which one element is read, or one is written."""

import numpy as np


def main():
    read, written = np.zeros(300_000), np.empty(300_000)
    written[200_000] = 1
    first = read[150_000]
    last = written[200_000]
    del read, written
    again = np.empty(600_000)
    again[300_000:300_100] = first
    print(first, last, again[300_050], np.ones(600_000).sum())


main()
