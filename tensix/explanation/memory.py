"""From a block of memory down: its pointer, its context, what it keeps alive, and who made it."""

import mmap
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from tensix.core import Allocator, format_size, get_allocator
from tensix.explanation.link import Link, plural

MAX_DEPTH = 16  # of objects that hold each other, and of allocators over each other
SAID = {  # facts with lines or links of their own
    "data", "ctx", "deleter", "deleter_name", "library", "context", "device", "keeps_alive", "block", "function",
    "sharers", "nbytes", "capacity", "mapped_bytes",
}  # fmt: skip


def address_text(address: int) -> str:
    """Return an address as people write it."""
    return f"{address:#x}" if address else "null"


def link_of_block(facts: dict[str, Any]) -> Link:
    """Return the link of a data pointer and of what is behind it, by the facts of `facts_of_data_ptr`."""
    data, context = facts["data"], facts["ctx"]
    link = Link("DataPtr", "memory")
    aligned = f", aligned to {min(data & -data, 4096)}" if data else ": no memory"
    link.say("data", data, address_text(data) + aligned)
    link.say("context", context, context_text(facts))
    link.say("deleter", facts["deleter_name"], deleter_text(facts))
    link.say("device", facts["device"])
    if context and facts["deleter"]:
        link.own("ctx", link_of_context(facts))
    if facts["keeps_alive"] is not None:
        link.own("keeps alive", link_of_object(facts["keeps_alive"]))
    return link


def context_text(facts: dict[str, Any]) -> str:
    """Return what the context is, in words."""
    if facts["ctx"] == 0:
        if facts["keeps_alive"] is not None:
            return "null: an object is kept alive instead"
        return "null: nothing is freed" if facts["data"] else "null"
    if facts["ctx"] == facts["data"]:
        return "the same address: nothing but the allocation"
    return address_text(facts["ctx"])


def deleter_text(facts: dict[str, Any]) -> str:
    """Return who frees the context."""
    if facts["deleter"] == 0:
        return "null"
    if facts["context"] is not None:
        return f"{facts['deleter_name']}, tensix's own"
    name = facts["deleter_name"] or f"a function at {address_text(facts['deleter'])}"
    return f"{name} in {facts['library']}" if facts["library"] else name


def link_of_context(facts: dict[str, Any]) -> Link:
    """Return the link of what a deleter will free."""
    link = Link(facts["context"] or "context that tensix does not know", "context")
    if "sharers" in facts:
        link.say("shared by", facts["sharers"], plural(facts["sharers"], "storage"))
        if facts["sharers"] > 1:
            link.others = plural(facts["sharers"] - 1, "other storage")
    if "nbytes" in facts:
        link.say("size", facts["nbytes"], format_size(facts["nbytes"]))
    if "capacity" in facts:
        link.say("capacity", facts["capacity"], format_size(facts["capacity"]))
    if "mapped_bytes" in facts:
        region = f"a region of its own, {format_size(facts['mapped_bytes'])}"
        link.say("mapped", facts["mapped_bytes"], region if facts["mapped_bytes"] else "no, in the C library's heap")
    for name in sorted(set(facts) - SAID):
        value, said = facts[name], name.replace("_", " ")
        if isinstance(value, Allocator):
            link.own(said, link_of_allocator(value))
        else:
            link.say(said, value if isinstance(value, (str, int, float, type(None))) else str(value))
    if "function" in facts:
        link.own("calls", link_of_object(facts["function"]))
    if "block" in facts:
        link.own("owns", link_of_block(facts["block"]))
    return link


def link_of_object(thing: Any, depth: int = 0) -> Link:
    """Return the link of a Python object that memory keeps alive, and of what it views itself."""
    cls = type(thing)
    link = Link(cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}", "object")
    inner = None
    if isinstance(thing, np.ndarray):
        link.what, inner = "NumPy array", thing.base
        link.say("shape", list(thing.shape), str(thing.shape))
        link.say("dtype", str(thing.dtype))
        link.say("writable", bool(thing.flags.writeable), "yes" if thing.flags.writeable else "no")
        link.say("memory", bool(thing.flags.owndata), "its own" if thing.flags.owndata else "another's")
        if isinstance(thing, np.memmap):
            link.say("file", str(thing.filename))
    elif isinstance(thing, mmap.mmap):
        link.what = "file mapping"
        link.say("size", None if thing.closed else len(thing), "closed" if thing.closed else format_size(len(thing)))
    elif isinstance(thing, (memoryview, bytes, bytearray)):
        if isinstance(thing, memoryview):
            inner = thing.obj
        size = memoryview(thing).nbytes
        link.say("size", size, format_size(size))
    elif isinstance(thing, FunctionType):
        place = f"{thing.__code__.co_filename}:{thing.__code__.co_firstlineno}"
        link.say("name", thing.__qualname__).say("defined", place)
    elif isinstance(thing, BuiltinFunctionType):
        link.say("name", thing.__qualname__)
    else:
        link.say("address", id(thing), address_text(id(thing)))
    if inner is not None and depth < MAX_DEPTH:
        link.own("is a view of", link_of_object(inner, depth + 1))
    return link


def link_of_allocator(allocator: Allocator, device: str | None = None, depth: int = 0) -> Link:
    """Return the link of an allocator, and of those below it."""
    link = Link(type(allocator).__qualname__, "allocator")
    try:
        serves = device is not None and get_allocator(device.partition(":")[0]) is allocator
    except RuntimeError:
        serves = False
    if serves:
        link.say("serves", device, f"{device}, here and now")
    alignment = getattr(allocator, "alignment", None)
    if isinstance(alignment, int):
        link.say("alignment", alignment, plural(alignment, "byte"))
    upstream = getattr(allocator, "upstream", None)
    if isinstance(upstream, Allocator) and depth < MAX_DEPTH:
        link.own("upstream", link_of_allocator(upstream, None, depth + 1))
    return link
