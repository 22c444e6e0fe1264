"""Confidence of a mean, in the manner of SciPy's tutorial "Resampling and Monte Carlo Methods".

https://docs.scipy.org/doc/scipy/tutorial/stats/resampling.html
"""

import numpy as np
from scipy import stats


def resampled(data, count, rng):
    samples = np.stack([rng.choice(data, len(data)) for _ in range(count)])
    return samples.mean(axis=1)


rng = np.random.default_rng(0)
data = stats.norm.rvs(size=50_000, random_state=rng)
means = resampled(data, 40, rng)
low, high = np.percentile(means, [2.5, 97.5])
print(f"{low:.6f} {high:.6f}")
