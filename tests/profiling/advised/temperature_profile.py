"""Depths below a limit, in the manner of xarray's "Compare weighted and unweighted mean temperature".

https://docs.xarray.dev/en/stable/examples/area_weighted_temperature.html
"""

import numpy as np
import xarray as xr


def simulated(number, shape):
    return np.random.default_rng(number).normal(loc=280, scale=10, size=shape)


def main():
    surface = simulated(0, (200, 90, 90))[0]
    weights = np.cos(np.deg2rad(np.linspace(-80, 80, 90)))
    field = xr.DataArray(simulated(1, (150, 90, 90)), dims=("time", "lat", "lon"))
    mean = field.weighted(xr.DataArray(weights, dims="lat")).mean(("lat", "lon"))
    print(f"{float(mean.std()):.6f} {surface.mean():.5f}")


main()
