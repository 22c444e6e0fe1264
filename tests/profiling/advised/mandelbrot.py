"""Fractals, in the manner of NumPy's tutorial "Plotting Fractals".

https://numpy.org/numpy-tutorials/tutorial-plotting-fractals/
"""

import numpy as np


def divergence(mesh, steps):
    z = np.zeros_like(mesh)
    steps_taken = np.full(mesh.shape, steps)
    for number in range(steps):
        z = z * z + mesh
        is_away = np.abs(z) > 2
        steps_taken[is_away & (steps_taken == steps)] = number
        z[is_away] = 0
    return steps_taken


x, y = np.meshgrid(np.linspace(-2, 1, 800), np.linspace(-1.4, 1.4, 800))
mesh = x + 1j * y
print(divergence(mesh, 8).sum())
