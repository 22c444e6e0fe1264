"""A part of a picture, in the manner of scikit-image's "A crash course on NumPy for images".

https://scikit-image.org/docs/stable/user_guide/numpy_images.html
"""

import numpy as np
from scipy import ndimage


def photo(number):
    return ndimage.gaussian_filter(np.random.default_rng(number).random((900, 900)), 1)


def main():
    face = photo(0)[200:400, 300:500]
    center = face.mean()
    background = photo(1)
    print(f"{center:.6f} {background.std():.6f} {face.max():.6f}")


main()
