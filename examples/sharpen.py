"""Sharpen a picture with NumPy alone. To see its memory: ``python -m tensix memory examples/sharpen.py``."""

import numpy as np


def blur(image):
    padded = np.pad(image, 1, mode="edge")
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    return (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / 9


def sharpen(image, amount=1.5):
    detail = image - blur(image)
    return np.clip(image + amount * detail, 0, 1)


def main():
    image = np.random.default_rng(0).random((2000, 2000))
    sharp = sharpen(image)
    scaled = (sharp - sharp.mean()) / sharp.std()
    print(f"{scaled.min():.3f} {scaled.max():.3f}")


if __name__ == "__main__":
    main()
