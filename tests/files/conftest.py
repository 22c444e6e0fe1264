"""What the tests of files share."""

import os

import numpy as np
import pytest

import tensix


@pytest.fixture
def maps_of():
    """Return a function that returns the lines of this process's map of memory that name a path."""

    def lines_of(path):
        with open("/proc/self/maps") as maps:
            return [line for line in maps if str(path) in line]

    return lines_of


@pytest.fixture
def nothing_left(tmp_path, maps_of):
    """Check that a test leaves no descriptor open and nothing of its folder mapped, without the collector's help."""
    before = len(os.listdir("/proc/self/fd"))
    yield
    assert len(os.listdir("/proc/self/fd")) == before
    assert maps_of(tmp_path) == []


@pytest.fixture
def tensors():
    """Return tensors of many types and shapes."""
    made = {
        name: tensix.asarray((np.arange(6).reshape(2, 3) % 2).astype(name))
        for name in ("bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8")
    }
    return made | {
        "scalar": tensix.full((), 2.5), "empty": tensix.zeros(3, 0, 2), "long": tensix.arange(1001),
        "turned": tensix.arange(6).reshape(2, 3).T, "strided": tensix.arange(20)[3::-2],
    }  # fmt: skip
