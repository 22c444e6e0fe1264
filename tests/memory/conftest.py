"""What several tests of allocators need."""

import pytest

from tensix.testing import FakeAllocator


class Fake(FakeAllocator):
    """Addresses without memory, and the sizes alone of what was given out and came back."""

    @property
    def given(self):
        return [nbytes for _, nbytes in self.allocated]

    @property
    def back(self):
        return [nbytes for _, nbytes in self.freed]


@pytest.fixture
def fake():
    return Fake()


@pytest.fixture
def make_fake():
    return Fake
