"""Chains of blocks that own each other are freed one after the other: no stack is deep enough for one in the other."""

import subprocess
import sys

import pytest

PROGRAM = """
import threading
import numpy as np
import tensix

def arrays(x):
    return tensix.from_numpy(np.asarray(x))

def buffers(x):
    return tensix.asarray(memoryview(x))

def dlpack(x):
    return tensix.from_dlpack(np.from_dlpack(x))

def gradients(x):
    y = tensix.ones(3)
    y.impl.autograd_meta = x
    return y

def chain(link, length):
    x = tensix.ones(3)
    for _ in range(length):
        x = link(x)

chain({link}, 80_000)
threading.stack_size(128 * 1024)  # the least on ARM64
thread = threading.Thread(target=chain, args=({link}, 3_000))
thread.start()
thread.join()
print("freed")
"""


@pytest.mark.parametrize("link", ["arrays", "buffers", "dlpack", "gradients"])
def test_long_chains_are_freed(link):
    program = PROGRAM.replace("{link}", link)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "freed\n", "")
