"""Edges of a scan, in the manner of NumPy's tutorial "X-ray image processing".

https://numpy.org/numpy-tutorials/tutorial-x-ray-image-processing/
"""

import numpy as np
from scipy import ndimage


def edges(scan):
    scan = scan.astype(np.float64)
    across = ndimage.sobel(scan, axis=0)
    down = ndimage.sobel(scan, axis=1)
    strength = np.hypot(across, down)
    strength *= 255 / strength.max()
    laplace = ndimage.gaussian_laplace(scan, sigma=1)
    return np.where(strength > 50, strength, 0) + np.abs(laplace)


print(f"{edges(np.random.default_rng(0).integers(0, 256, (1000, 1000), np.uint8)).mean():.5f}")
