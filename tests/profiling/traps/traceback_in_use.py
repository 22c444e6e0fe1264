"""Variables of functions that an exception left, but that still run, or whose caller has them too."""

import numpy as np

ERRORS = []
TABLES = []


def fails():
    table = np.ones(600_000)
    TABLES.append(table)
    raise ValueError(table.sum())


def goes_on():
    table = np.ones(600_000)
    try:
        raise KeyError
    except KeyError as error:
        ERRORS.append(error)
        yield table.sum()
        yield table[0]


def main():
    try:
        fails()
    except ValueError as error:
        ERRORS.append(error)
    return goes_on()


going_on = main()
print(next(going_on), TABLES[0][0])
