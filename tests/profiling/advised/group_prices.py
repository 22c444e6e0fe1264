"""Means of groups, in the manner of pandas' "10 minutes to pandas".

https://pandas.pydata.org/docs/user_guide/10min.html
"""

import numpy as np
import pandas as pd


def main():
    rng = np.random.default_rng(0)
    count = 500_000
    price = rng.random(count)
    amount = rng.integers(1, 10, count)
    city = rng.integers(0, 50, count)
    revenue = price * amount
    table = pd.DataFrame({"city": city, "revenue": revenue})
    means = table.groupby("city")["revenue"].mean()
    ranks = np.argsort(revenue)
    weights = np.linspace(0, 1, count) ** 2
    print(len(means), f"{means.mean():.5f} {(revenue[ranks] * weights).sum():.3f}")


main()
