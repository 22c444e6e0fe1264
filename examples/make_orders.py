"""Write a table of half a million orders for orders.py: ``python make_orders.py orders.csv``."""

import sys

import numpy as np
import pandas as pd


def main(path, count=500_000):
    rng = np.random.default_rng(0)
    days = np.array([f"2026-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)])
    cities = np.array([f"city {number:03}" for number in range(300)])
    orders = pd.DataFrame({
        "id": np.arange(count),
        "date": rng.choice(days, count),
        "city": rng.choice(cities, count),
        "customer": rng.integers(0, 1_000_000, count),
        "price": rng.integers(1, 10_000, count) / 100,
        "count": rng.integers(1, 9, count),
        "status": rng.choice(["sold", "returned", "open"], count),
    })  # fmt: skip
    orders.to_csv(path, index=False)


if __name__ == "__main__":
    main(sys.argv[1])
