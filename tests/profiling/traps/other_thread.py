"""Another thread uses an array that was handed to it."""

import threading

import numpy as np


def work(values, ready, results):
    ready.wait()
    results.append(values.sum())


def main():
    ready, results = threading.Event(), []
    values = np.ones(500_000)
    thread = threading.Thread(target=work, args=(values, ready, results))
    thread.start()
    other = np.ones(500_000) + 1
    ready.set()
    thread.join()
    print(results, other.sum())


main()
