"""An array is used again only on the way of an exception, or in the next turn of a loop."""

import numpy as np


def guarded(count):
    before = np.ones(count)
    try:
        after = np.ones(count) * 2
        if after[0] == 2:
            raise ArithmeticError
        return after.sum()
    except ArithmeticError:
        return before.sum()


def turns(count):
    last = np.zeros(count)
    for number in range(3):
        if number == 2:
            return last.sum()
        now = np.ones(count)
        now += number
        if number == 0:
            last += now[0]


def cleaned(count):
    values = np.ones(count)
    try:
        return (np.ones(count) * 2).sum()
    finally:
        print(values.sum())


print(guarded(500_000), turns(500_000), cleaned(500_000))
