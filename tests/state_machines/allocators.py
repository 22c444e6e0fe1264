"""Which allocator serves: registrations with priorities, and scopes that end in any order."""

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from machine import Machine

from tensix.core import CPUAllocator, get_allocator, set_allocator, use_allocator

DEVICE = "fpga"  # for which tensix itself registers none
ALLOCATORS = [CPUAllocator(alignment=64 << n) for n in range(4)]


class Model:
    """Allocators are numbers; the newest scope that is open wins, then the registration."""

    def __init__(self):
        self.registered, self.scopes = None, []

    def register(self, allocator, priority):
        if self.registered is None or priority >= self.registered[1]:
            self.registered = None if allocator is None else (allocator, priority)

    def serving(self):
        if self.scopes:
            return self.scopes[-1]
        return self.registered and self.registered[0]

    def leave(self, allocator):
        """End the newest scope of this allocator that is open."""
        del self.scopes[len(self.scopes) - 1 - self.scopes[::-1].index(allocator)]


class Allocators(Machine):
    def __init__(self):
        super().__init__()
        self.model = Model()
        self.scopes = [use_allocator(allocator, device=DEVICE) for allocator in ALLOCATORS]

    @rule(n=st.none() | st.integers(0, 3), priority=st.integers(0, 3))
    def register(self, n, priority):
        set_allocator(DEVICE, None if n is None else ALLOCATORS[n], priority)
        self.model.register(n, priority)

    @rule(n=st.integers(0, 3))
    def enter(self, n):
        assert self.scopes[n].__enter__() is ALLOCATORS[n]
        self.model.scopes.append(n)

    @rule(n=st.integers(0, 3))
    def leave(self, n):
        if n in self.model.scopes:
            self.scopes[n].__exit__(None, None, None)
            self.model.leave(n)

    @invariant()
    def the_right_one_serves(self):
        expected = self.model.serving()
        try:
            found = get_allocator(DEVICE)
        except RuntimeError:
            found = None
        assert found is (None if expected is None else ALLOCATORS[expected])

    def teardown(self):
        for n in self.model.scopes:
            self.scopes[n].__exit__(None, None, None)
        set_allocator(DEVICE, None, priority=255)


MACHINE = Allocators
MUTATIONS = {
    "a lower priority replaces": (
        Model, "register", lambda self, allocator, priority: setattr(
            self, "registered", None if allocator is None else (allocator, priority)),
    ),
    "the oldest scope of an allocator ends": (Model, "leave", lambda self, allocator: self.scopes.remove(allocator)),
}  # fmt: skip
