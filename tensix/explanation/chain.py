"""From a handle down: which links the chain of an object has.

Nothing here counts: bodies and storages are read through bare references, so that the numbers are those of the caller.
"""

from typing import Any

from tensix._tensor import Tensor
from tensix.core import (
    Allocator,
    DataPtr,
    IntrusivePtr,
    IntrusiveTarget,
    Storage,
    StorageImpl,
    WeakIntrusivePtr,
    format_size,
)
from tensix.core.memory_facts import facts_of_data_ptr, facts_of_storage, facts_of_target
from tensix.dispatch import DispatchKey, DispatchKeySet
from tensix.explanation.link import Link, plural
from tensix.explanation.memory import address_text, link_of_allocator, link_of_block
from tensix.tensors.sparse_tensor_impl import SparseTensorImpl
from tensix.tensors.tensor_impl import TensorImpl


def link_of(x: Any) -> Link:
    """Return the first link of an object's chain, with all the others in it; TypeError if it owns no memory."""
    if isinstance(x, Tensor):
        return link_of_handle(x, x.impl if x.defined() else None, "strong")
    if isinstance(x, Storage):
        return link_of_handle(x, x.impl, "strong")
    if isinstance(x, IntrusivePtr):
        return link_of_handle(x, x.get() if x.defined() else None, "strong")
    if isinstance(x, WeakIntrusivePtr):
        return link_of_handle(x, x.unsafe_get_target(), "weak")
    if isinstance(x, IntrusiveTarget):
        return link_of_target(x)
    if isinstance(x, DataPtr):
        return link_of_block(facts_of_data_ptr(x))
    if isinstance(x, Allocator):
        return link_of_allocator(x)
    raise TypeError(
        "explain() explains tensors, storages, pointers, targets, data pointers and allocators, found "
        f"{type(x).__name__}."
    )


def link_of_handle(handle: Any, target: IntrusiveTarget | None, how: str) -> Link:
    """Return the link of a handle, and what it points to."""
    link = Link(type(handle).__qualname__, "handle")
    if target is None:
        null = "undefined: the null of tensors, which" if isinstance(handle, Tensor) else "null:"
        return link.say("state", "null", f"{null} owns nothing")
    counts = facts_of_target(target)
    share = counts[how]
    link.say("owns", how, f"1 of {share} {how} counts" if share > 1 else f"the only {how} count")
    body = link_of_target(target)
    if how == "strong" and share > 1:
        body.others = plural(share - 1, "other owner")
    return link.own(how, body)


def link_of_target(target: IntrusiveTarget) -> Link:
    """Return the link of a target, whose counts come first."""
    link = Link(type(target).__qualname__, "target")
    link.say("address", id(target), address_text(id(target)))
    counts = facts_of_target(target)
    is_new = counts["strong"] == 0 and not counts["is_expired"]
    link.say("owners", counts, "none yet" if is_new else f"{counts['strong']} strong, {counts['weak']} weak")
    if counts["is_expired"]:
        return link.say("state", "expired", "expired: the last owner is gone, and what it owned with it")
    if isinstance(target, StorageImpl):
        return describe_storage(link, target)
    if isinstance(target, TensorImpl):
        return describe_body(link, target)
    return link


def describe_body(link: Link, impl: TensorImpl) -> Link:
    """Say what the body of a tensor is."""
    dtype = impl.dtype
    link.say("sizes", list(impl.shape), str(impl.shape))
    if not isinstance(impl, SparseTensorImpl):
        link.say("strides", list(impl.stride), f"{impl.stride} elements")
        link.say("offset", impl.storage_offset, f"{impl.storage_offset} elements")
    link.say("dtype", str(dtype), f"{dtype}, {plural(dtype.itemsize, 'byte')} each")
    link.say("device", str(impl.device))
    keys = [key.name for key in DispatchKey if holds(impl.key_set, DispatchKeySet(key).bits)]
    link.say("keys", keys, ", ".join(keys) or "none")
    if impl.autograd_meta is not None:
        link.say("gradients", type(impl.autograd_meta).__qualname__)
    if isinstance(impl, SparseTensorImpl):
        link.say("nonzero", impl.values.numel(), plural(impl.values.numel(), "element"))
        link.say("coalesced", bool(impl.is_coalesced), "yes" if impl.is_coalesced else "no")
        return link.own("indices", link_of(impl.indices)).own("values", link_of(impl.values))
    if impl.storage is None:
        return link.say("state", "undefined", "the body of all undefined tensors, which is never counted")
    storage = link_of_target(impl.storage)
    others = facts_of_target(impl.storage)["strong"] - 1
    if others:
        storage.others = plural(others, "other owner")
    return link.own("strong", storage)


def holds(key_set: int, bits: int) -> bool:
    """Return whether all bits of a key are in a set; keys without bits are in none."""
    return bits != 0 and key_set & bits == bits


def describe_storage(link: Link, impl: StorageImpl) -> Link:
    """Say what a storage is."""
    facts = facts_of_storage(impl)
    link.say("size", facts["nbytes"], format_size(facts["nbytes"]))
    link.say("written", facts["version"], f"{plural(facts['version'], 'time')} in place")
    link.say("resizable", facts["is_resizable"], "yes" if facts["is_resizable"] else "no")
    link.say("read-only", facts["is_readonly"], "yes" if facts["is_readonly"] else "no")
    if facts["exports"]:
        exports = plural(facts["exports"], "export")
        link.say("exported", facts["exports"], f"{exports} now: lazy_clone() copies at once, the block stays")
    if facts["has_escaped"]:
        link.say("escaped", True, "its address was handed out: lazy_clone() copies at once, the block stays")
    if facts["is_foreign"]:
        link.say("foreign", True, "others had the block first and may write it: lazy_clone() copies at once")
    link.say("next write", *next_write(facts))
    link.own("owns", link_of_block(facts["block"]))
    if facts["allocator"] is not None:
        link.own("keeps", link_of_allocator(facts["allocator"], facts["block"]["device"]))
    return link


def next_write(facts: dict[str, Any]) -> tuple[str, str]:
    """Return what the next write to a storage does, for a program and for a person."""
    block = facts["block"]
    if facts["is_readonly"] or facts["refuses_writing"] or facts["refuses_reading"]:
        return "refused", "is refused"
    if block["data"] == 0:
        return "no memory", "finds no memory"
    if not facts["is_copy_on_write"] or "sharers" not in block:
        return "in place", "in place"
    if block["sharers"] == 1 and block["deleter_name"] == "cow_deleter":
        return "takes back", "takes the bytes back, no one else shares them"
    return "copies", f"copies {format_size(facts['nbytes'])} first"
