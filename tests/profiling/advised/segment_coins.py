"""Segmentation, in the manner of scikit-image's "Comparing edge-based and region-based segmentation".

https://scikit-image.org/docs/stable/auto_examples/applications/plot_coins_segmentation.html
"""

import numpy as np
from skimage.filters import sobel
from skimage.measure import label
from skimage.segmentation import watershed

y, x = np.mgrid[0:1000, 0:1000]
coins = np.zeros((1000, 1000))
for center in range(100, 1000, 200):
    coins[(y - center) ** 2 + (x - center) ** 2 < 4900] = 0.8
coins += np.random.default_rng(0).random(coins.shape) * 0.1
elevation = sobel(coins)
markers = np.zeros(coins.shape, np.int32)
markers[coins < 0.2] = 1
markers[coins > 0.7] = 2
regions = watershed(elevation, markers)
labels = label(regions == 2)
areas = np.bincount(labels.ravel())[1:]
print(len(areas), areas.sum())
