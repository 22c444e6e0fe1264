"""A polynomial fitted to a sine by gradients, in the manner of "Learning PyTorch with Examples", its NumPy part.

https://docs.pytorch.org/tutorials/beginner/pytorch_with_examples.html
"""

import math

import numpy as np


def fit(x, y, steps):
    powers = np.stack([np.ones_like(x), x, x**2, x**3])
    weights = np.zeros(4)
    for _ in range(steps):
        predicted = weights @ powers
        residual = predicted - y
        loss = np.square(residual).sum()
        gradient = 2.0 * (powers * residual).sum(axis=1)
        weights -= 1e-9 * gradient
    return weights, loss


x = np.linspace(-math.pi, math.pi, 500_000)
y = np.sin(x)
weights, loss = fit(x, y, 5)
print(np.round(weights, 8), f"{loss:.4f}")
