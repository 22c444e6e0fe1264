"""An expression in a text uses arrays of its caller, as numexpr does."""

import sys

import numpy as np


def evaluate(text):
    frame = sys._getframe(1)
    return eval(text, {"np": np}, {name: frame.f_locals[name] for name in ("left", "right")})


def main():
    left = np.ones(400_000)  # noqa: F841 - a text has its name
    right = np.full(400_000, 2.0)  # noqa: F841
    other = np.ones(800_000).sum()
    print(other, evaluate("left + right * left").sum())


main()
