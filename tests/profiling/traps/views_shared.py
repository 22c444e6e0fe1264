"""Views of arrays that others have too, that are written, or whose copies lie otherwise in memory."""

import numpy as np

PICTURES = {}


def picture(name, size):
    if name not in PICTURES:
        PICTURES[name] = np.ones((size, size))
    return PICTURES[name]


def of_caller(part):
    part += 1
    return np.ones((700, 700)).sum() + part[0, 0]


def from_cache():
    part = picture("first", 700)[:10]
    other = np.ones((700, 700))
    return part.sum() + other.sum()


def in_turns():
    total = 0
    for number in range(3):
        part = (np.ones((500, 500)) * number)[:5]
        for _ in range(2):
            total += np.ones((500, 500)).sum()
        part += 1
        total += part.sum()
    return total


def most_of_it():
    part = np.ones((700, 700))[:500]
    other = np.ones((700, 700)) * 2
    return part.sum() + other.sum()


def with_gaps():
    part = np.ones((700, 700))[:, :10]
    other = np.ones((700, 700)) * 2
    return part.sum() + other.sum()


def main():
    whole = np.ones((700, 700))
    print(of_caller(whole[:5]), whole[0, 0], from_cache(), in_turns(), most_of_it(), with_gaps())


main()
