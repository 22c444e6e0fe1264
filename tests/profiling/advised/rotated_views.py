"""Projections of a rotated picture, in the manner of scikit-image's "Radon transform".

https://scikit-image.org/docs/stable/auto_examples/transform/plot_radon_transform.html
"""

import numpy as np
from scipy import ndimage


def rotated(image, count):
    views = []
    for number in range(count):
        angle = number * 180 / count
        views.append(ndimage.rotate(image, angle, reshape=False, order=1))
    return np.stack(views)


def main():
    image = np.zeros((400, 400))
    image[100:300, 150:250] = 1
    views = rotated(image, 12)
    sinogram = views.sum(axis=1)
    print(f"{sinogram.std():.5f} {views[5].mean():.6f}")


main()
