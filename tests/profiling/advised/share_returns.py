"""Extreme daily returns, in the manner of pandas' cookbook and NumPy's documentation of percentile.

https://pandas.pydata.org/docs/user_guide/cookbook.html
"""

import numpy as np
import pandas as pd


def simulated(days, shares):
    steps = np.random.default_rng(0).normal(scale=0.01, size=(days, shares))
    np.cumsum(steps, axis=0, out=steps)
    return np.exp(steps, out=steps)


def returns(prices):
    return np.diff(np.log(prices.to_numpy()), axis=0)


def extremes(changes):
    limit = np.percentile(changes.copy(), 99)
    most = np.max(np.abs(changes.astype(np.float64)))
    return limit, most


def main():
    prices = pd.DataFrame(simulated(2000, 300), index=pd.date_range("2015-01-01", periods=2000), copy=False)
    limit, most = extremes(returns(prices))
    print(f"{limit:.6f} {most:.6f}")


main()
