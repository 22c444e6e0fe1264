"""A coroutine waits, and uses its array afterwards."""

import asyncio

import numpy as np


async def load(ready):
    values = np.ones(500_000)
    await ready.wait()
    return values.sum()


async def main():
    ready = asyncio.Event()
    task = asyncio.create_task(load(ready))
    await asyncio.sleep(0)
    other = np.ones(500_000) + 1
    ready.set()
    print(other.sum(), await task)


asyncio.run(main())
