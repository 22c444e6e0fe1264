"""A group-by of pandas over strings, which pandas keeps in Arrow."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
count = 1_000_000
names = np.array([f"city number {number}" for number in range(5000)])
cities, prices, rooms = names[rng.integers(0, 5000, count)], rng.random(count), rng.integers(1, 9, count)
table = pd.DataFrame({"city": cities, "price": prices, "rooms": rooms})
del cities, prices, rooms
table["label"] = table["city"].str.upper() + ", " + table["rooms"].astype(str)
prices = table.groupby("city")["price"].mean()
largest = table.sort_values("price", ascending=False).head(1000)
print(len(prices), largest["label"].nunique() > 900)
