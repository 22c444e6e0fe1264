"""Memory that comes with a deleter: wherever its `DataPtr` goes, the deleter runs once, when the last owner goes."""

import copy
import ctypes

from hypothesis.stateful import Bundle, invariant, rule
from machine import Box, Machine

import tensix
from tensix.core import DataPtr, Storage

NBYTES = 8
SIZED = {"shape": (NBYTES,), "stride": (1,), "dtype": "uint8"}


class Model:
    """Count owners of blocks, and of storages, which have a block each. Blocks are addresses, storages numbers."""

    def __init__(self):
        self.owners, self.deleted, self.handles, self.block_of = {}, [], [], []

    def block(self):
        address = NBYTES * (len(self.owners) + 1)
        self.owners[address] = 1
        return address

    def drop_block(self, block):
        if block is not None:
            self.owners[block] -= 1
            if self.owners[block] == 0:
                self.deleted.append(block)

    def storage(self, block):
        self.handles.append(1)
        self.block_of.append(block)
        return len(self.handles) - 1

    def drop(self, storage):
        if storage is not None:
            self.handles[storage] -= 1
            if self.handles[storage] == 0:
                self.drop_block(self.block_of[storage])

    def exchange(self, storage, block):
        old, self.block_of[storage] = self.block_of[storage], block
        return old


class Deleters(Machine):
    pointers, storages, tensors = map(Bundle, ("pointers", "storages", "tensors"))

    def __init__(self):
        super().__init__()
        self.model, self.deleted, self.boxes = Model(), [], []

    def box(self, it, name):
        self.boxes.append(Box(it, name))
        return self.boxes[-1]

    # ---- pointers: a block, or none

    @rule(target=pointers)
    def new(self):
        block = self.model.block()
        return self.box(DataPtr.from_callable(block, self.deleted.append), block)

    @rule(of=pointers)
    def clear(self, of):
        of.it.clear()
        self.model.drop_block(of.name)
        of.name = None

    @rule(of=pointers)
    def delete_by_hand(self, of):
        """As C code does that takes the context over."""
        deleter, context = of.it.get_deleter(), of.it.release_context()
        if of.name is not None:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(context)
        self.clear(of)

    @rule(target=storages, of=pointers)
    def into_storage(self, of):
        block, of.name = of.name, None
        return self.box(Storage.from_data_ptr(NBYTES, of.it), self.model.storage(block))

    # ---- storages: handles on what has a block

    @rule(target=storages, of=storages)
    def copy(self, of):
        if of.name is not None:
            self.model.handles[of.name] += 1
            return self.box(copy.copy(of.it), of.name)
        return self.box(Storage(), None)

    @rule(of=storages)
    def reset(self, of):
        of.it.reset()
        self.model.drop(of.name)
        of.name = None

    @rule(target=storages, of=storages)
    def share(self, of):
        """Another storage over the same block."""
        if of.name is None:
            return self.box(Storage(), None)
        block = self.model.block_of[of.name]
        if block is not None:
            self.model.owners[block] += 1
        return self.box(of.it.share(), self.model.storage(block))

    @rule(target=pointers, of=storages, by=pointers)
    def set_data_ptr(self, of, by):
        if of.name is None:
            return self.box(DataPtr(), None)
        block, by.name = by.name, None
        return self.box(of.it.set_data_ptr(by.it), self.model.exchange(of.name, block))

    @rule(of=storages, by=pointers)
    def set_data_ptr_noswap(self, of, by):
        if of.name is not None:
            block, by.name = by.name, None
            of.it.set_data_ptr_noswap(by.it)
            self.model.drop_block(self.model.exchange(of.name, block))

    # ---- tensors

    @rule(target=tensors, of=storages)
    def tensor(self, of):
        if of.name is None or self.model.block_of[of.name] is None:
            return Box(None, None)
        self.model.handles[of.name] += 1
        return self.box(tensix.Tensor.from_storage(of.it, 0, **SIZED), of.name)

    @rule(target=tensors, of=tensors)
    def view(self, of):
        if of.name is None:
            return of
        self.model.handles[of.name] += 1
        return self.box(of.it[2:], of.name)

    @rule(of=tensors)
    def drop_tensor(self, of):
        of.it = None
        self.model.drop(of.name)
        of.name = None

    # ---- what holds

    @invariant()
    def deleters_have_run_once(self):
        assert self.deleted == self.model.deleted

    @invariant()
    def each_block_is_where_it_belongs(self):
        for box in self.boxes:
            if isinstance(box.it, DataPtr):
                assert box.it.get() == (box.name or 0)
            elif isinstance(box.it, Storage) and box.name is not None:
                assert box.it.data_ptr() == (self.model.block_of[box.name] or 0)
                assert box.it.use_count() == self.model.handles[box.name]

    def teardown(self):
        for box in self.boxes:
            box.it = None
        assert sorted(self.deleted) == sorted(self.model.owners)  # each, once


MACHINE = Deleters
MUTATIONS = {
    "the last handle of a storage keeps its block": (
        Model, "drop",
        lambda self, storage: storage is None or self.handles.__setitem__(storage, self.handles[storage] - 1),
    ),
    "what is exchanged goes at once": (
        Model, "exchange",
        lambda self, storage, block: (
            self.drop_block(self.block_of[storage]) or self.block_of.__setitem__(storage, block)),
    ),
    "one owner is enough to delete": (
        Model, "drop_block", lambda self, block: block is None or self.deleted.append(block),
    ),
}  # fmt: skip
