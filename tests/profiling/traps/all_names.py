"""The names of a function are collected, and used later."""

import numpy as np


def collect():
    first = np.ones(400_000)
    second = np.full(400_000, 2.0)
    third = first * 3
    return {name: float(value.sum()) for name, value in locals().items()}


def script():
    exec("values = np.ones(600_000)\nother = np.ones(600_000) + 1\nprint(values.sum() + other.sum())", {"np": np})


print(collect())
script()
