"""An array is used again only when the function ends."""

import numpy as np


def cleaned(count):
    values = np.ones(count)
    try:
        return np.ones(count).sum()
    finally:
        print(values.sum())


print(cleaned(500_000))
