"""Train a small classifier as classify.py does, and evaluate it part by part, without gradients."""

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
    right = 0
    with torch.no_grad():
        for part, truth in zip(rows.split(2048), labels.split(2048), strict=True):
            right += (net(part).argmax(1) == truth).sum().item()
    return right / len(rows)


def main():
    torch.manual_seed(0)
    rows = torch.randn(16384, 64)
    labels = (rows[:, 0] > 0).long()
    net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
    train(net, rows, labels)
    print(f"accuracy {accuracy(net, rows, labels):.2f}")


if __name__ == "__main__":
    main()
