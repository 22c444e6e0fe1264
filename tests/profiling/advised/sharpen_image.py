"""Unsharp masking of a picture, in the manner of scikit-image's "Unsharp masking".

https://scikit-image.org/docs/stable/auto_examples/filters/plot_unsharp_mask.html
"""

import numpy as np
from skimage.filters import gaussian


def sharpen(image, amount):
    blurred = gaussian(image, sigma=2)
    detail = image - blurred
    return np.clip(image + amount * detail, 0, 1)


def main():
    image = np.random.default_rng(0).random((1200, 1200))
    sharp = sharpen(image, 1.5)
    histogram = np.bincount((sharp * 255).astype(np.uint8).ravel(), minlength=256)
    equalized = (np.cumsum(histogram) / sharp.size)[(sharp * 255).astype(np.uint8)]
    print(f"{sharp.mean():.6f} {equalized.mean():.6f}")


main()
