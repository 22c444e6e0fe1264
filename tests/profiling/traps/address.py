"""C code reads an array by its address, which is a number and no reference."""

import ctypes

import numpy as np


def main():
    values = np.arange(500_000.0)
    address = values.ctypes.data
    other = np.ones(500_000) + 1
    print(other.sum(), ctypes.c_double.from_address(address + 8 * 499_999).value)


main()
