"""What several tests of allocators need."""

import pytest

from tensix.core import Allocator, DataPtr, OutOfMemoryError


class Fake(Allocator):
    """Addresses without memory; writes down what it gave and what came back."""

    def __init__(self, room=1 << 62):
        self.room, self.next, self.given, self.back = room, 1 << 44, [], []

    def allocate(self, nbytes):
        if nbytes > self.room:
            raise OutOfMemoryError(nbytes, 64, 0)
        self.room -= nbytes
        self.next += 1 << 32
        self.given.append(nbytes)
        return DataPtr.from_callable(self.next, lambda address: self.freed(nbytes))

    def freed(self, nbytes):
        self.room += nbytes
        self.back.append(nbytes)


@pytest.fixture
def fake():
    return Fake()


@pytest.fixture
def make_fake():
    return Fake
