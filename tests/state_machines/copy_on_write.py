"""Lazy clones against byte strings: who sees a write, who has which block, and when one is copied."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, invariant, rule
from machine import Box, Machine

import tensix
from tensix.core import cow

SIZE = 6
BYTES = st.lists(st.integers(0, 255), min_size=SIZE, max_size=SIZE)


class Model:
    """Storages are numbers; each has a block, whose bytes are a list, and shares it until it is written, or not."""

    def __init__(self):
        self.handles, self.block, self.lazy, self.readonly, self.bytes, self.exports = [], [], [], [], [], []
        self.counted = set()  # blocks that have been shared for writing

    def storage(self, block, lazy=False):
        for of_each, first in ((self.handles, 1), (self.block, block), (self.lazy, lazy), (self.readonly, False)):
            of_each.append(first)
        self.exports.append(0)
        return len(self.block) - 1

    def new_block(self, content):
        self.bytes.append(list(content))
        return len(self.bytes) - 1

    def sharers(self, block):
        return [s for s, its in enumerate(self.block) if its == block and self.handles[s]]

    def lazy_clone(self, of):
        block = self.block[of]
        if self.exports[of] or block in self.counted:
            return self.storage(self.new_block(self.bytes[block]))  # others may write: copied at once
        self.lazy[of] = True
        return self.storage(block, lazy=True)

    def own(self, storage):
        """Give a storage its own bytes, if it shares them lazily; the last one keeps them."""
        if self.lazy[storage]:
            self.lazy[storage] = False
            if len(self.sharers(self.block[storage])) > 1:
                self.block[storage] = self.new_block(self.bytes[self.block[storage]])

    def write(self, storage, at, value):
        self.own(storage)
        self.bytes[self.block[storage]][at] = value

    def content(self, storage):
        return self.bytes[self.block[storage]]


class CopyOnWrite(Machine):
    tensors, exports = Bundle("tensors"), Bundle("exports")

    def __init__(self):
        super().__init__()
        self.model, self.boxes, self.exported, self.seen = Model(), [], [], {}

    def box(self, it, name):
        self.boxes.append(Box(it, name))
        return self.boxes[-1]

    @rule(target=tensors, content=BYTES)
    def new(self, content):
        it = tensix.asarray(content, dtype="uint8")
        return self.box(it, self.model.storage(self.model.new_block(content)))

    @rule(target=tensors, of=tensors)
    def lazy_clone(self, of):
        return of if of.it is None else self.box(of.it.lazy_clone(), self.model.lazy_clone(of.name))

    @rule(target=tensors, of=tensors)
    def clone(self, of):
        if of.it is None:
            return of
        return self.box(of.it.clone(), self.model.storage(self.model.new_block(self.model.content(of.name))))

    @rule(target=tensors, of=tensors)
    def view(self, of):
        if of.it is None:
            return of
        self.model.handles[of.name] += 1
        return self.box(of.it.reshape(2, -1).reshape(-1), of.name)

    @rule(target=tensors, of=tensors)
    def share(self, of):
        """Another storage over the same bytes: no copy-on-write."""
        if of.it is None or self.model.readonly[of.name]:
            return of
        it = tensix.Tensor.from_storage(of.it.storage().share(), 0, (SIZE,), (1,), "uint8")
        self.model.own(of.name)
        self.model.counted.add(self.model.block[of.name])
        return self.box(it, self.model.storage(self.model.block[of.name]))

    @rule(of=tensors, at=st.integers(0, SIZE - 1), value=st.integers(0, 255))
    def write(self, of, at, value):
        if of.it is None:
            return
        try:
            of.it[at] = value
        except RuntimeError as error:
            assert self.model.readonly[of.name] and "read-only" in str(error)
        else:
            assert not self.model.readonly[of.name]
            self.model.write(of.name, at, value)

    @rule(of=tensors)
    def materialize(self, of):
        if of.it is not None and of.it.is_cow() and not self.model.readonly[of.name]:
            cow.materialize_cow_storage(of.it.storage())
            self.model.own(of.name)

    @rule(of=tensors)
    def make_readonly(self, of):
        if of.it is not None and not self.model.exports[of.name]:
            of.it.storage().readonly = self.model.readonly[of.name] = True

    @rule(target=exports, of=tensors, by=st.sampled_from([np.asarray, memoryview, np.from_dlpack]))
    def export(self, of, by):
        """Memory that was handed out can be written by others, so it is the storage's own from then on."""
        if of.it is None or self.model.readonly[of.name]:
            return Box(None, None)
        it = by(of.it)
        self.model.own(of.name)
        self.model.exports[of.name] += 1
        self.exported.append(Box(it, of.name))
        self.model.handles[of.name] += 1
        return self.exported[-1]

    @rule(of=exports, at=st.integers(0, SIZE - 1), value=st.integers(0, 255))
    def write_outside(self, of, at, value):
        if of.it is not None and not memoryview(of.it).readonly:  # as np.from_dlpack() of NumPy 2.1 makes it
            of.it[at] = value
            self.model.bytes[self.model.block[of.name]][at] = value

    @rule(of=exports)
    def drop_export(self, of):
        if of.it is not None:
            of.it = None
            self.model.exports[of.name] -= 1
            self.model.handles[of.name] -= 1

    @rule(of=tensors)
    def drop(self, of):
        if of.it is not None:
            of.it = None
            self.model.handles[of.name] -= 1

    @invariant()
    def bytes_and_blocks_are_the_models(self):
        blocks = {}
        for box in self.boxes + self.exported:
            if box.it is not None:
                assert list(box.it.tolist()) == self.model.content(box.name)
            if isinstance(box.it, tensix.Tensor):
                assert box.it.is_cow() == self.model.lazy[box.name]
                assert box.it.readonly == self.model.readonly[box.name]
                block, address = self.model.block[box.name], box.it.data_ptr()
                assert blocks.setdefault(block, address) == address
                last_block, last_address = self.seen.get(box.name, (block, address))
                assert (block == last_block) == (address == last_address)  # who copies leaves a block that others have
                self.seen[box.name] = block, address
        assert len(set(blocks.values())) == len(blocks)

    def teardown(self):
        for box in self.exported + self.boxes:
            box.it = None


MACHINE = CopyOnWrite
MUTATIONS = {
    "a write is seen by lazy clones": (Model, "own", lambda self, storage: None),
    "the last sharer copies as well": (
        Model, "own",
        lambda self, storage: self.lazy[storage] and (
            self.lazy.__setitem__(storage, False),
            self.block.__setitem__(storage, self.new_block(self.bytes[self.block[storage]])),
        ),
    ),
    "what was exported is shared lazily": (
        Model, "lazy_clone",
        lambda self, of: (self.lazy.__setitem__(of, True), self.storage(self.block[of], lazy=True))[1],
    ),
}  # fmt: skip
