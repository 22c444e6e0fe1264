"""A polynomial fitted by hand-written gradients, in the manner of "Learning PyTorch with Examples", its tensors part.

https://docs.pytorch.org/tutorials/beginner/pytorch_with_examples.html
"""

import math

import torch


def fit(x, y, steps):
    a, b = torch.zeros(()), torch.zeros(())
    for _ in range(steps):
        square = x**2
        cube = x**3
        predicted = a * x + b * cube
        residual = 2.0 * (predicted - y)
        a -= 1e-8 * (residual * x).sum()
        b -= 1e-9 * (residual * cube).sum() + 0 * square[0]
    return a.item(), b.item()


def main():
    x = torch.linspace(-math.pi, math.pi, 500_000)
    y = torch.sin(x)
    a, b = fit(x, y, 3)
    print(f"{a:.5f} {b:.5f}")


main()
