"""Components of pictures, in the manner of scikit-learn's "Faces dataset decompositions".

https://scikit-learn.org/stable/auto_examples/decomposition/plot_faces_decomposition.html
"""

import numpy as np
from sklearn.decomposition import PCA

rng = np.random.default_rng(0)
faces = rng.random((600, 1600))
faces_centered = faces - faces.mean(axis=0)
faces_centered -= faces_centered.mean(axis=1).reshape(600, -1)
pca = PCA(n_components=6, svd_solver="randomized", random_state=0)
reduced = pca.fit_transform(faces_centered)
restored = pca.inverse_transform(reduced)
error = faces_centered - restored
print(f"{np.abs(error).mean():.6f} {reduced.shape}")
