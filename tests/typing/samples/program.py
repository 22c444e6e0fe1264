"""A program as users of NumPy and PyTorch write it, which strict type checkers pass."""

import numpy as np

import tensix as tx
from tensix import Tensor


def normalise(x: Tensor) -> Tensor:
    return (x - x.mean(dim=0)) / x.std(dim=0, correction=1)


def loss(predicted: Tensor, y: Tensor) -> float:
    return float(((predicted - y) ** 2).mean().item())


x = tx.rand(100, 3)
weights = tx.randn(3, 1)
print(loss(normalise(x) @ weights, tx.zeros(100, 1)))
middle = tx.median(x, dim=1, keepdim=True)
high = tx.quantile(x, 0.9, axis=0)
different = tx.unique(tx.tensor([1, 2, 1])).tolist()
u, s, vh = tx.linalg.svd(x, full_matrices=False)
spectrum = tx.fft.rfft(x, dim=0)
total = sum(part.sum().item() for part in tx.split(x, 10, dim=0))
lengths = tx.linalg.vector_norm(x, dim=1)
array: np.ndarray = x.numpy()
chosen = tx.where(x[:, 0] > 0.5, x[:, 0], 0.0)
best = int(x.argmax())
picked = [1, 2, 3][tx.tensor(1)]
for row in x:
    print(row.shape[0], row.tolist())
z = x.reshape(10, 30).permute(1, 0).to(tx.float64).clamp(min=0.1)
product = tx.einsum("ij,jk->ik", x, weights)
print(f"{x.mean():.3f}", round(x.sum().item(), 2), tx.arange(3).long().tolist())
