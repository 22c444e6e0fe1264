"""A network of two layers in NumPy, in the manner of PyTorch's tutorial "What is torch.nn really?".

https://docs.pytorch.org/tutorials/beginner/nn_tutorial.html
"""

import numpy as np


def log_softmax(x):
    return x - np.log(np.exp(x).sum(axis=-1))[:, None]


def step(inputs, targets, first, second, rate):
    hidden = inputs @ first
    active = np.maximum(hidden, 0)
    scores = active @ second
    logs = log_softmax(scores)
    loss = -logs[np.arange(len(targets)), targets].mean()
    slope = np.exp(logs)
    slope[np.arange(len(targets)), targets] -= 1
    slope /= len(targets)
    back = slope @ second.T
    back *= hidden > 0
    second -= rate * (active.T @ slope)
    first -= rate * (inputs.T @ back)
    return loss


def train(steps):
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(2000, 100))
    targets = rng.integers(0, 200, 2000)
    first, second = rng.normal(size=(100, 512)) * 0.1, rng.normal(size=(512, 200)) * 0.1
    for _ in range(steps):
        loss = step(inputs, targets, first, second, 0.1)
    return loss


print(f"{train(4):.6f}")
