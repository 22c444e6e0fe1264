"""A part of a picture, in the manner of scikit-image's "A crash course on NumPy for images".

https://scikit-image.org/docs/stable/user_guide/numpy_images.html
"""

import numpy as np
from scipy import ndimage


def photo(number):
    return ndimage.gaussian_filter(np.random.default_rng(number).random((900, 900)), 1)


def main():
    sky = photo(0)[:150]
    brightness = sky.mean()
    other = photo(1)
    print(f"{brightness:.6f} {other.mean():.6f} {sky.std():.6f}")


main()
