"""Sharpen pictures in two processes. ``python -m tensix memory examples/workers.py`` shows both on one page."""

from concurrent.futures import ProcessPoolExecutor

import numpy as np
from sharpen import sharpen


def brightness(seed):
    return sharpen(np.random.default_rng(seed).random((1000, 1000))).mean()


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        print(f"{max(pool.map(brightness, range(6))):.3f}")
