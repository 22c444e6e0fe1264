"""Train a small network, with the gradients written out. To see its memory: ``python -m tensix memory training.py``."""

from itertools import pairwise

import tensix

SIZES = (256, 512, 512, 128)
ROWS = 1024
STEPS = 4


class Layer:
    """A matrix, and what its gradient needs."""

    def __init__(self, inputs, outputs):
        self.weights = tensix.randn(inputs, outputs) / inputs**0.5
        self.kept = None

    def forward(self, x):
        y = x @ self.weights
        self.kept = x, y
        return tensix.maximum(y, 0.0)

    def backward(self, gradient, rate):
        x, y = self.kept
        self.kept = None
        gradient = gradient * (y > 0.0)
        upstream = gradient @ self.weights.T
        self.weights -= rate * (x.T @ gradient)
        return upstream


def train():
    tensix.manual_seed(0)
    layers = [Layer(*sizes) for sizes in pairwise(SIZES)]
    inputs = tensix.randn(ROWS, SIZES[0])
    wanted = tensix.rand(ROWS, SIZES[-1])
    losses = []
    for _ in range(STEPS):
        x = inputs
        for layer in layers:
            x = layer.forward(x)
        difference = x - wanted
        losses.append(float(tensix.mean(difference * difference)))
        gradient = difference
        for layer in reversed(layers):
            gradient = layer.backward(gradient, 0.05 / ROWS)
    return losses


if __name__ == "__main__":
    losses = train()
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")
