"""`CachingAllocator` against a list of what is kept: sizes, hits, who goes first, the bound, no block twice."""

import ctypes

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, invariant, rule
from machine import Box, Machine

from tensix.core import OutOfMemoryError
from tensix.memory import CachingAllocator
from tensix.testing import FakeAllocator

KIB, MIB = 1 << 10, 1 << 20
SIZES = st.one_of(
    st.integers(1, 1100), st.integers(1, 200 * KIB), st.integers(MIB - 9, MIB + 9), st.integers(MIB, 9 * MIB),
    st.sampled_from([0, 64, 4096, 4097, 2 * MIB, 2 * MIB + 1]),
)  # fmt: skip


def class_size(nbytes):
    """Return what is taken for a size: steps of 64 bytes up to 1 KiB, then eight steps in each doubling."""
    step, end = 64, KIB
    while nbytes > end:
        step, end = end // 8, end * 2
    return -(-nbytes // step) * step


class Model:
    """Know which blocks are out and which are kept, in front or not; each is its address and its size.

    Blocks in front are in no order, and so are those of up to 1 KiB elsewhere. Of the others the longest unused goes
    first.
    """

    def __init__(self, bound):
        self.bound, self.out, self.front, self.others, self.upstream = bound, {}, [], [], {}
        self.hits = self.misses = self.reused = 0

    @property
    def kept(self):
        return self.others + self.front

    def take(self, size):
        """Return the address of the newest block that is kept of a size, or None."""
        for blocks in (self.front, self.others):
            for block in reversed(blocks):
                if block[1] == size:
                    blocks.remove(block)
                    self.hits += 1
                    self.reused += size
                    return block[0]
        return None

    def new(self, address, size):
        assert address not in self.upstream
        self.upstream[address] = size
        self.misses += 1

    def keep(self, address, size, has_gil=True):
        """Take a block back; below 1 MiB a few of each size are kept, up to 64 KiB some of them in front."""
        most = max(256 * KIB // size, 8)
        most_in_front = 128 * KIB // size if size <= KIB else 1 if size <= 64 * KIB else 0
        count = [sum(its == size for _, its in blocks) for blocks in (self.front, self.others)]
        total = sum(its for _, its in self.kept)
        if has_gil and count[0] < most_in_front and total + size <= self.bound:
            self.front.append((address, size))
        elif size > self.bound or (size < MIB and count[1] >= most - most_in_front):
            del self.upstream[address]
        else:
            self.others.append((address, size))
            self.shrink(self.bound, has_gil)

    def shrink(self, bound, has_gil=True):
        """Let go what was unused for longest, then the newest of the largest size, and what is in front last."""
        freed = 0
        while sum(size for _, size in self.kept) > bound and (self.others or has_gil):
            in_order = [block for block in self.others if block[1] > KIB]
            gone = in_order[0] if in_order else max(reversed(self.others or self.front), key=lambda block: block[1])
            (self.others or self.front).remove(gone)
            del self.upstream[gone[0]]
            freed += gone[1]
        return freed


class Cache(Machine):
    blocks = Bundle("blocks")

    def __init__(self):
        super().__init__()
        self.fake = FakeAllocator()
        self.model = Model(4 * MIB)
        self.caching = CachingAllocator(self.fake, max_cached=4 * MIB, max_idle=float("inf"))
        self.held = []

    @rule(target=blocks, nbytes=SIZES)
    def allocate(self, nbytes):
        block = self.caching.allocate(nbytes)
        if nbytes == 0:
            assert block.get() == 0
            return Box(None, None)
        size = class_size(nbytes)
        expected = self.model.take(size)
        if expected is None:
            self.model.new(block.get(), size)
        else:
            assert block.get() == expected
        assert block.get() not in self.model.out
        self.model.out[block.get()] = size
        self.held.append(Box(block, block.get()))
        return self.held[-1]

    @rule(target=blocks, of=blocks)
    def allocate_such_a_block(self, of):
        return self.allocate(self.model.out[of.name]) if of.it is not None else of

    @rule(of=blocks, has_gil=st.booleans())
    def free(self, of, has_gil):
        if of.it is None:
            return
        if has_gil:
            of.it.clear()
        else:  # ctypes lets it go around the call
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(of.it.get_deleter())(of.it.release_context())
        self.model.keep(of.name, self.model.out.pop(of.name), has_gil)
        of.it = None

    @rule(nbytes=SIZES, count=st.integers(1, 12))
    def come_and_go(self, nbytes, count):
        for block in [self.allocate(nbytes) for _ in range(count)]:
            self.free(block, True)

    @rule(nbytes=SIZES.filter(bool))
    def allocate_without_memory(self, nbytes):
        """What is kept goes back before the request is refused."""
        size = class_size(nbytes)
        if any(its == size for _, its in self.model.kept):
            return
        self.fake.capacity = 0
        try:
            self.caching.allocate(nbytes)
        except OutOfMemoryError as error:
            assert error.nbytes == nbytes
        else:
            raise AssertionError("memory from nowhere")
        finally:
            self.fake.capacity = None
        self.model.shrink(0)

    @rule()
    def trim(self):
        assert self.caching.trim() == self.model.shrink(0)

    @rule(bound=st.integers(0, 8 * MIB))
    def set_bound(self, bound):
        self.caching.max_cached = self.model.bound = bound
        self.model.shrink(bound)

    @invariant()
    def statistics_are_the_models(self):
        model, stats = self.model, self.caching.stats()
        assert stats.in_use == sum(model.out.values())
        assert stats.cached == sum(size for _, size in model.kept) <= stats.max_cached == model.bound
        assert (stats.hits, stats.misses, stats.reused) == (model.hits, model.misses, model.reused)

    @invariant()
    def upstream_has_given_what_is_out_or_kept(self):
        assert self.fake.blocks == self.model.upstream
        assert sorted([*self.model.out.items(), *self.model.kept]) == sorted(self.fake.blocks.items())

    def teardown(self):
        outlive = [box.it for box in self.held if box.it is not None]
        del self.caching
        assert self.fake.blocks == self.model.out  # what was kept went with the allocator
        for block in outlive:
            block.clear()
        assert not self.fake.blocks


MACHINE = Cache
MUTATIONS = {
    "the oldest block of a size comes first": (
        Model, "take",
        lambda self, size, take=Model.take: (self.others.reverse(), take(self, size), self.others.reverse())[1],
    ),
    "any number of small blocks is kept": (
        Model, "keep",
        lambda self, address, size, has_gil=True: (
            self.upstream.pop(address) if size > self.bound else self.others.append((address, size)),
            self.shrink(self.bound),
        ),
    ),
    "the bound may be exceeded by one block": (
        Model, "shrink",
        lambda self, bound, has_gil=True, shrink=Model.shrink: shrink(
            self, bound + self.kept[-1][1] if bound and self.kept else bound, has_gil),
    ),
}  # fmt: skip
