"""Few colors for a picture, in the manner of scikit-learn's "Color Quantization using K-Means".

https://scikit-learn.org/stable/auto_examples/cluster/plot_color_quantization.html
"""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils import shuffle


def recreate(codebook, labels, width, height):
    return codebook[labels].reshape(width, height, -1)


def main():
    photo = np.random.default_rng(0).integers(0, 256, (700, 700, 3), np.uint8)
    image = np.array(photo, dtype=np.float64) / 255
    width, height, depth = image.shape
    pixels = np.reshape(image, (width * height, depth))
    sample = shuffle(pixels, random_state=0, n_samples=1000)
    model = KMeans(n_clusters=8, n_init=1, random_state=0).fit(sample)
    labels = model.predict(pixels)
    quantized = recreate(model.cluster_centers_, labels, width, height)
    error = np.sqrt((image - quantized) ** 2)
    print(f"{error.mean():.6f}")


main()
