"""A network of PyTorch that learns, its batches made by two workers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    """Pictures of noise, and whether their first pixel is large."""

    def __len__(self):
        return 384

    def __getitem__(self, number):
        torch.manual_seed(number)
        picture = torch.rand(3, 64, 64)
        return picture, int(picture[0, 0, 0] > 0.5)


def main():
    """Train for an epoch."""
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(), nn.Flatten(),
        nn.Linear(64 * 31 * 31, 128), nn.ReLU(), nn.Linear(128, 2),
    )  # fmt: skip
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for pictures, labels in DataLoader(Noise(), batch_size=64, num_workers=2):
        loss = nn.functional.cross_entropy(net(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item() < 20)


if __name__ == "__main__":
    main()
