"""Anomalies of temperatures, in the manner of xarray's "Toy weather data".

https://docs.xarray.dev/en/stable/examples/weather-data.html
"""

import numpy as np
import pandas as pd
import xarray as xr

times = pd.date_range("2000-01-01", "2003-12-31", name="time")
annual = np.sin(2 * np.pi * (times.dayofyear.values / 365.25 - 0.28))
base = 10 + 15 * annual.reshape(-1, 1)
noise = np.random.default_rng(0).normal(size=(len(times), 700))
lowest = base + 3 * noise
highest = base + 10 + 3 * noise
table = xr.Dataset({"tmin": (("time", "place"), lowest), "tmax": (("time", "place"), highest)},
                   {"time": times, "place": np.arange(700)})  # fmt: skip
freeze = (table["tmin"] <= 0).groupby("time.month").mean("time")
climatology = table.groupby("time.month").mean("time")
anomalies = table.groupby("time.month") - climatology
print(f"{float(freeze.mean()):.5f} {float(anomalies['tmax'].std()):.5f}")
