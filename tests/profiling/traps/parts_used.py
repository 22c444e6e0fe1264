"""Parts of an array that are used apart, kept elsewhere, of different sizes, or as many as turns out."""

import numpy as np

KEPT = {}


def part(number):
    return np.full(50_000, float(number))


def kept_part(number):
    KEPT[number] = part(number)
    return KEPT[number]


def used_apart(count):
    parts = []
    for number in range(count):
        half = number / 2
        parts.append(part(half))
    return np.concatenate(parts).sum() + parts[0][0]


def some(count):
    parts = []
    for number in range(count):
        last = part(number)
        if last[0] % 2:
            parts.append(last * 2)
        del last
    whole = np.concatenate(parts)
    return whole.sum()


def of_different_sizes(count):
    parts = []
    for number in range(count):
        size = 50_000 - number
        parts.append(part(number)[:size].copy())
    whole = np.concatenate(parts)
    return whole.sum()


def as_many_as_there_are(numbers):
    parts = []
    for number in numbers:
        half = number / 2
        parts.append(part(half))
    whole = np.stack(parts)
    return whole.sum()


def kept_elsewhere(count):
    whole = np.stack([kept_part(number) for number in range(count)])
    return whole.sum()


def main():
    print(used_apart(12), some(24), of_different_sizes(12), as_many_as_there_are(iter(range(12))), kept_elsewhere(12))


main()
