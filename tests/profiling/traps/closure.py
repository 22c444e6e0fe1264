"""An inner function uses an array that the function around it does not use again."""

import numpy as np


def scaler(count):
    weights = np.linspace(0, 1, count)

    def scale(values):
        return values * weights

    other = np.ones(count) + 1
    return scale(other).sum(), scale


total, scale = scaler(500_000)
print(total, scale(np.ones(500_000)).sum())
