"""An exception is kept, and with it the variables of the function that raised it, which a report shows."""

import gc

import numpy as np


def fails():
    values = np.ones(500_000)
    raise ValueError(len(values))


def main():
    try:
        fails()
    except ValueError as error:
        kept = error
    other = np.ones(500_000) + 1
    frame = kept.__traceback__.tb_next.tb_frame
    print(other.sum(), frame.f_locals["values"].sum())


main()
gc.collect()  # the exception and the variables of main refer to each other
