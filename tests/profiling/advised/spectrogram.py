"""Spectra of a signal over time, in the manner of SciPy's documentation of scipy.signal.spectrogram.

https://docs.scipy.org/doc/scipy/reference/generated/scipy.signal.spectrogram.html
"""

import numpy as np
from scipy.signal import butter, sosfilt, spectrogram


def signal_of(samples, rate):
    time = np.arange(samples) / rate
    modulation = 500 * np.cos(2 * np.pi * 0.25 * time)
    carrier = np.sin(2 * np.pi * 3e3 * time + modulation)
    noise = np.random.default_rng(0).normal(scale=0.1, size=samples)
    noise *= np.exp(-time / 5)
    return carrier + noise


def main():
    rate = 10e3
    signal = signal_of(1_000_000, rate)
    filtered = sosfilt(butter(4, 1000, "hp", fs=rate, output="sos"), signal)
    frequencies, times, power = spectrogram(filtered, rate)
    decibels = 10 * np.log10(power + 1e-12)
    print(len(frequencies), len(times), f"{decibels.mean():.4f}")


main()
