"""The classic demonstrations of counted pointers: sharing, cycles, weak back edges, expiry.

Each line of the output is a step and both counts after it: strong ones, and weak ones plus one while a strong is left.
"""

import gc

from tensix import IntrusivePtr, IntrusiveTarget, WeakIntrusivePtr, make_intrusive, raw


class Node(IntrusiveTarget):
    """A target that says when it dies; `link` points to another node, strongly or weakly."""

    name = "a node whose attributes the collector has taken"

    def __init__(self, name):
        self.name = name
        self.link = None

    def release_resources(self):
        """Give up what weak pointers do not need: in C++ the weak cycle below leaks without this."""
        note(f"{self.name}: release_resources()")
        self.link = None

    def __del__(self):
        note(f"{self.name}: __del__()")


def title(text):
    print(f"\n{text}\n{'-' * len(text)}")


def step(text, pointer):
    """Print a step and the counts that a strong or weak pointer sees after it."""
    print(f"{text:<48} use_count {pointer.use_count()}   weak_use_count {pointer.weak_use_count()}")


def note(text):
    print(f"    {text}")


def several_pointers():
    """Show that each copy adds a count, that a move does not, and that the last reset destroys."""
    title("several pointers to one object")
    first = make_intrusive(Node, "shared")
    step("first = make_intrusive(Node)", first)
    second = first.copy()
    step("second = first.copy()", first)
    third = second.move()
    first.reset()
    step("third = second.move(), first.reset()", third)
    third.reset()
    step("third.reset()", third)


def pair(back_edge):
    """Return pointers to two nodes: the first points to the second, which points back through a `back_edge`."""
    parent, child = make_intrusive(Node, "parent"), make_intrusive(Node, "child")
    parent.get().link = child.copy()
    child.get().link = back_edge(parent)
    return parent, child


def strong_cycle():
    """Show a cycle that counting alone never frees, the collector that does, and what keeps it from that."""
    title("a cycle of strong pointers")
    parent, child = pair(back_edge=IntrusivePtr)
    watch = WeakIntrusivePtr(parent)
    step("parent -> child -> parent, and a weak watch", watch)
    raw.incref(parent.get())
    child.reset()
    parent.reset()
    step("raw.incref(parent.get()), both handles reset", watch)
    gc.collect()
    step("gc.collect(): the raw count keeps the cycle", watch)
    raw.decref(watch.unsafe_get_target())
    step("raw.decref(): in C++ this has leaked", watch)
    gc.collect()
    step("gc.collect() again", watch)


def weak_cycle():
    """Show that a weak back edge needs no collector."""
    title("a weak pointer for the back edge")
    parent, child = pair(back_edge=WeakIntrusivePtr)
    step("parent -> child ~> parent, seen from parent", parent)
    step("                           seen from child", child)
    child.reset()
    parent.reset()
    step("both handles reset: no collector needed", parent)


def lock_and_expired():
    """Show what a weak pointer says before and after death."""
    title("lock() and expired()")
    strong = make_intrusive(Node, "watched")
    weak = WeakIntrusivePtr(strong)
    step("weak = WeakIntrusivePtr(strong)", weak)
    locked = weak.lock()
    strong.reset()
    step("locked = weak.lock(), strong.reset()", weak)
    locked.reset()
    step("locked.reset()", weak)
    note(f"weak.expired() is {weak.expired()}, weak.lock() is {weak.lock()!r}")
    weak.reset()
    step("weak.reset()", weak)


def main():
    """Run all demonstrations; the collector runs only where they call it."""
    gc.disable()
    several_pointers()
    strong_cycle()
    weak_cycle()
    lock_and_expired()


if __name__ == "__main__":
    main()
