"""A forest of scikit-learn, on many rows, in two threads."""

import numpy as np
from sklearn.ensemble import RandomForestRegressor

rng = np.random.default_rng(0)
rows = rng.random((20_000, 20))
values = rows[:, 0] * 3 + np.sin(rows[:, 1] * 7) + rng.normal(0, 0.1, 20_000)
forest = RandomForestRegressor(16, n_jobs=2, random_state=0).fit(rows, values)
print(round(forest.score(rows[:5000], values[:5000]), 2) > 0.9)
