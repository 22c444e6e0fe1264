"""Handles, raw counts and locks on targets: counts are exact, and each target is released once, by its last owner."""

import weakref

from hypothesis.stateful import Bundle, consumes, invariant, precondition, rule
from machine import Box, Machine

from tensix.core import IntrusivePtr, IntrusiveTarget, WeakIntrusivePtr, raw


class Model:
    """Count owners of targets, which are numbers, by plain integers."""

    def __init__(self):
        self.strong, self.weak, self.held, self.released = {None: 0}, {None: 0}, {}, []

    def new(self):
        name = len(self.held)
        self.strong[name], self.weak[name], self.held[name] = 1, 0, []
        return name

    def own(self, name):
        self.strong[name] += name is not None

    def lock(self, name):
        self.strong[name] += self.strong[name] > 0
        return name if self.strong[name] else None

    def drop(self, name):
        if name is None:
            return
        self.strong[name] -= 1
        if self.strong[name] == 0:
            if self.weak[name]:
                self.released.append(name)  # else it is destroyed, which releases what it has as well
            for child in self.held[name]:
                self.drop(child)

    def weaken(self, name, by=1):
        if name is not None:
            self.weak[name] += by


class Node(IntrusiveTarget):
    """A target that owns others."""

    def __init__(self, name, released):
        self.name, self.released, self.held = name, released, []

    def release_resources(self):
        self.released.append(self.name)
        self.held.clear()


class Ownership(Machine):
    strong, weak, counts, weak_counts = map(Bundle, ("strong", "weak", "counts", "weak_counts"))

    def __init__(self):
        super().__init__()
        self.model, self.released, self.nodes, self.boxes = Model(), [], [], []

    def box(self, it, name):
        self.boxes.append(Box(it, name))
        return self.boxes[-1]

    def node(self, name):
        return None if name is None else self.nodes[name]()

    @rule(target=strong)
    def new(self):
        name = self.model.new()
        node = Node(name, self.released)
        self.nodes.append(weakref.ref(node))
        return self.box(IntrusivePtr.unsafe_steal_from_new(node), name)

    # ---- strong handles

    @rule(target=strong, of=strong)
    def copy(self, of):
        self.model.own(of.name)
        return self.box(of.it.copy(), of.name)

    @rule(target=strong, of=strong)
    def reclaim_copy(self, of):
        self.model.own(of.name)
        return self.box(IntrusivePtr.reclaim_copy(of.it.get()), of.name)

    @rule(target=strong, of=strong)
    def move(self, of):
        name, of.name = of.name, None
        return self.box(of.it.move(), name)

    @rule(a=strong, b=strong)
    def swap(self, a, b):
        a.it.swap(b.it)
        a.name, b.name = b.name, a.name

    @rule(of=strong)
    def release_and_reclaim(self, of):
        of.it = IntrusivePtr.reclaim(of.it.release())

    @rule(of=strong)
    def reset(self, of):
        of.it.reset()
        name, of.name = of.name, None
        self.model.drop(name)

    @rule(of=strong)
    def reset_all(self, of):
        name = of.name
        for box in self.boxes:
            if box.name == name and isinstance(box.it, IntrusivePtr):
                self.reset(box)

    # ---- weak handles

    @rule(target=weak, of=strong)
    def weak_handle(self, of):
        self.model.weaken(of.name)
        return self.box(WeakIntrusivePtr(of.it), of.name)

    @rule(target=weak, of=weak)
    def copy_weak(self, of):
        self.model.weaken(of.name)
        return self.box(of.it.copy(), of.name)

    @rule(target=weak, of=weak)
    def move_weak(self, of):
        name, of.name = of.name, None
        return self.box(of.it.move(), name)

    @rule(a=weak, b=weak)
    def swap_weak(self, a, b):
        a.it.swap(b.it)
        a.name, b.name = b.name, a.name

    @rule(of=weak)
    def release_and_reclaim_weak(self, of):
        of.it = WeakIntrusivePtr.reclaim(of.it.release())

    @rule(of=weak)
    def reset_weak(self, of):
        of.it.reset()
        name, of.name = of.name, None
        self.model.weaken(name, -1)

    @rule(target=strong, of=weak)
    def lock(self, of):
        return self.box(of.it.lock(), self.model.lock(of.name))

    # ---- counts without handles, as C code holds them; here by name, for the count alone is to keep the target

    @rule(target=counts, of=strong)
    def incref(self, of):
        raw.incref(of.it.get())
        self.model.own(of.name)
        return of.name

    @rule(name=consumes(counts))
    def decref(self, name):
        raw.decref(self.node(name))
        self.model.drop(name)

    @rule(target=strong, name=consumes(counts))
    def reclaim(self, name):
        return self.box(IntrusivePtr.reclaim(self.node(name)), name)

    @rule(target=weak_counts, of=strong)
    def make_weak(self, of):
        raw.make_weak(of.it.get())
        self.model.weaken(of.name)
        return of.name

    @rule(name=consumes(weak_counts))
    def weak_decref(self, name):
        raw.weak_decref(self.node(name))
        self.model.weaken(name, -1)

    @rule(target=counts, name=weak_counts)
    def raw_lock(self, name):
        locked = self.model.lock(name)
        assert raw.lock(self.node(name)) is self.node(locked)
        return locked

    # ---- targets that own targets, without cycles

    @rule(a=strong, b=strong)
    def hold(self, a, b):
        if a.name is not None and b.name is not None and a.name < b.name:
            a.it.get().held.append(b.it.copy())
            self.model.own(b.name)
            self.model.held[a.name].append(b.name)

    @precondition(lambda self: any(self.model.held.values()))
    @rule(of=strong)
    def let_go(self, of):
        if of.name is not None and self.model.held[of.name]:
            of.it.get().held.pop()
            self.model.drop(self.model.held[of.name].pop())

    # ---- what holds

    @invariant()
    def counts_are_exact(self):
        model = self.model
        for box in self.boxes:
            strong = model.strong[box.name]
            assert box.it.use_count() == strong
            assert box.it.weak_use_count() == model.weak[box.name] + (strong > 0)
            assert bool(box.it) == (box.name is not None)
            if isinstance(box.it, WeakIntrusivePtr):
                assert box.it.expired() == (strong == 0)
            else:
                assert box.name is None or box.it.get().name == box.name
                assert box.it.unique() == (strong == 1)

    @invariant()
    def each_is_released_once(self):
        assert sorted(self.released) == sorted(self.model.released)
        for name in range(len(self.nodes)):
            is_there, strong, weak = self.node(name) is not None, self.model.strong[name], self.model.weak[name]
            assert (
                is_there if strong else not is_there or weak
            )  # of what is expired the collector may take all but the counts

    def teardown(self):
        for box in self.boxes:
            box.it.reset()


MACHINE = Ownership
MUTATIONS = {
    "a lock revives what has expired": (Model, "lock", lambda self, name: self.own(name) or name),
    "weak handles own": (
        Model, "weaken", lambda self, name, by=1: name is None or self.strong.update({name: self.strong[name] + by}),
    ),
    "what a target holds stays when it goes": (
        Model, "drop", lambda self, name: self.strong.update({name: self.strong[name] - (name is not None)}),
    ),
}  # fmt: skip
