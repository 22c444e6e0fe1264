"""Tensors that the backward pass needs, and one that shares its memory with an array."""

import numpy as np
import torch


def loss_of(inputs, weights):
    hidden = inputs * weights
    active = torch.exp(hidden)
    return (active * active).mean()


def shared():
    tensor = torch.ones(300_000)
    array = tensor.numpy()
    part = torch.from_numpy(np.ones(300_000))[::2]
    other = torch.ones(300_000) + 1
    return array.sum() + part.sum().item() + other.sum().item()


def main():
    inputs = torch.ones(500_000)
    weights = torch.full((500_000,), 0.5, requires_grad=True)
    loss = loss_of(inputs, weights)
    loss.backward()
    print(f"{loss.item():.4f} {weights.grad.sum().item():.4f} {inputs.sum().item()} {shared()}")


main()
