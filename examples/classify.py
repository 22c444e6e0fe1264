"""Train a small classifier of PyTorch, and evaluate it on all rows. It knows PyTorch only."""

import torch
from torch import nn


def train(net, rows, labels):
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for batch in range(0, len(rows), 512):
        loss = nn.functional.cross_entropy(net(rows[batch : batch + 512]), labels[batch : batch + 512])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def accuracy(net, rows, labels):
    return (net(rows).argmax(1) == labels).float().mean()


def main():
    torch.manual_seed(0)
    rows = torch.randn(16384, 64)
    labels = (rows[:, 0] > 0).long()
    net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
    train(net, rows, labels)
    print(f"accuracy {accuracy(net, rows, labels):.2f}")


if __name__ == "__main__":
    main()
