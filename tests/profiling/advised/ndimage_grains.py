"""Sizes of grains, in the manner of SciPy's tutorial on scipy.ndimage and the lecture notes on image processing.

https://docs.scipy.org/doc/scipy/tutorial/ndimage.html
"""

import numpy as np
from scipy import ndimage


def grains(size):
    points = np.random.default_rng(0).random((size, size)) > 0.999
    smooth = ndimage.gaussian_filter(points.astype(float), sigma=4)
    mask = smooth > smooth.mean()
    distance = ndimage.distance_transform_edt(mask)
    labels, count = ndimage.label(mask)
    sizes = ndimage.sum_labels(mask, labels, range(1, count + 1))
    depth = ndimage.maximum(distance, labels, range(1, count + 1))
    return sizes, depth


sizes, depth = grains(1000)
print(len(sizes), f"{sizes.mean():.4f} {depth.mean():.4f}")
