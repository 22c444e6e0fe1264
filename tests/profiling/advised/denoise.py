"""A picture without noise, in the manner of SciPy's documentation of scipy.ndimage.median_filter.

https://docs.scipy.org/doc/scipy/reference/generated/scipy.ndimage.median_filter.html
"""

import numpy as np
from scipy import ndimage


def denoised(image):
    result = np.zeros(image.shape)
    result = ndimage.median_filter(image, size=3)
    result *= 255
    return result


image = np.random.default_rng(0).random((700, 700))
print(f"{denoised(image).mean():.6f}")
