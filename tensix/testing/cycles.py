"""Finding cycles of strong pointers that nothing frees, and saying how they go.

Python's collector frees a cycle if every owner in it is a handle and nothing outside owns a member. Others stay: those
with a count held by C code, and those through a storage's allocator, a deleter's closure or a tensor's
``autograd_meta``, which the collector does not visit. Here all of those are followed.

Every object is asked once what it owns. A way back can only lead through objects that all own one another, directly or
not, a strongly connected component of the graph; so each search for a cycle stays in one of those.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from types import BuiltinMethodType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from tensix._tensor import Tensor
from tensix.core import DataPtr, IntrusivePtr, IntrusiveTarget, Storage, StorageImpl, WeakIntrusivePtr
from tensix.core.memory_facts import facts_of_storage
from tensix.core.referents import referents_of
from tensix.tensors.sparse_tensor_impl import SparseTensorImpl
from tensix.tensors.tensor_impl import TensorImpl

MAX_LOOKED_AT = 100_000  # objects; what is farther away is not found
MAX_LINES = 20

# What leads everywhere, or owns nothing.
OPAQUE = (type, ModuleType, FrameType, CodeType, WeakIntrusivePtr, DataPtr, str, bytes, int, float, complex, type(None))

Edge = tuple[str, Any]  # how it is owned, such as ".next", and what
Graph = dict[int, list[tuple[str, int]]]  # for the id of each object what it owns: how, and the id


def strong_cycles(targets: Iterable[IntrusiveTarget]) -> list[str]:
    """Return a line for each cycle of ownership that leads from one of the targets back to it.

    Parameters
    ----------
    targets : iterable of IntrusiveTarget
        Where to begin. Each is in one line at most, by its shortest cycle.

    Returns
    -------
    list of str
        Such as ``"Node.next -> Node.next -> Node"``. After many, that there are more.
    """
    targets = list(targets)
    things, graph = owned_from(targets)
    component = components_of(graph)
    lines: list[str] = []
    said: set[int] = set()
    for target in targets:
        path = shortest_cycle(id(target), graph, component) if id(target) not in said else []
        if path and len(lines) == MAX_LINES:
            return [*lines, "and more"]
        if path:
            said.update(owner for owner, _ in path)
            lines.append(render([(things[owner], how) for owner, how in path]))
    return lines


def owned_from(targets: list[IntrusiveTarget]) -> tuple[dict[int, Any], Graph]:
    """Return all objects that targets lead to, by their ids, and what each of them owns, the nearest first."""
    things: dict[int, Any] = {id(target): target for target in targets}  # kept alive, so that an id is an identity
    graph: Graph = {}
    waiting = list(things.values())
    for owner in waiting:  # which grows meanwhile
        graph[id(owner)] = edges = []
        for how, owned in owned_by(owner):
            if id(owned) not in things:
                if len(things) >= MAX_LOOKED_AT:
                    continue
                things[id(owned)] = owned
                waiting.append(owned)
            edges.append((how, id(owned)))
    return things, graph


def components_of(graph: Graph) -> dict[int, int]:
    """Return for each object a representative of its strongly connected component, by Kosaraju's algorithm."""
    finished: dict[int, None] = {}  # in the order in which a depth-first search is through with them
    begun: set[int] = set()
    owners = defaultdict(list)
    for root in graph:
        path = [(root, iter(graph[root]))] if root not in begun else []
        begun.add(root)
        while path:
            owner, edges = path[-1]
            for _, owned in edges:
                owners[owned].append(owner)
                if owned not in begun:
                    begun.add(owned)
                    path.append((owned, iter(graph[owned])))
                    break
            else:
                finished[owner] = None
                path.pop()
    component: dict[int, int] = {}
    for root in reversed(finished):
        waiting = [root]
        while waiting:
            thing = waiting.pop()
            if thing not in component:
                component[thing] = root
                waiting += owners[thing]
    return component


def shortest_cycle(start: int, graph: Graph, component: dict[int, int]) -> list[tuple[int, str]]:
    """Return the steps of the shortest way from an object back to it: owners, and how they own the next one."""
    came_from: dict[int, tuple[int, str]] = {}  # who owns an object, and how
    waiting = [start]
    for owner in waiting:  # which grows meanwhile
        for how, owned in graph[owner]:
            if owned == start:
                steps = [(owner, how)]
                while steps[-1][0] != start:
                    steps.append(came_from[steps[-1][0]])
                return steps[::-1]
            if owned not in came_from and component[owned] == component[start]:
                came_from[owned] = (owner, how)
                waiting.append(owned)
    return []


def render(path: list[tuple[Any, str]]) -> str:
    """Return a cycle in one line: targets and allocators by their classes, with what leads from one to the next."""
    text = ""
    for owner, how in path:
        if isinstance(owner, (IntrusivePtr, Storage, Tensor, dict)):
            text += how
        else:
            text += (" -> " if text else "") + type(owner).__qualname__ + how
    return f"{text} -> {type(path[0][0]).__qualname__}"


def owned_by(owner: Any) -> Iterator[Edge]:
    """Yield what an object owns, as strongly as Python or a handle does."""
    if isinstance(owner, OPAQUE):
        return
    if isinstance(owner, IntrusivePtr):
        if owner.defined():
            yield "", owner.get()
    elif isinstance(owner, (Storage, Tensor)):
        yield "", owner.impl
    else:
        if isinstance(owner, (StorageImpl, TensorImpl)):
            yield from owned_in_c(owner)
        for how, owned in owned_in_python(owner):
            if not isinstance(owned, IntrusiveTarget):  # a bare reference owns nothing
                yield how, owned


def owned_in_c(target: StorageImpl | TensorImpl) -> Iterator[Edge]:
    """Yield what a storage or the body of a tensor owns in fields that Python's collector does not see."""
    if isinstance(target, StorageImpl):
        facts = facts_of_storage(target)
        yield ".allocator", facts["allocator"]
        block = facts["block"]
        while block:
            yield ".deleter", block["keeps_alive"]
            yield ".deleter", block.get("function")
            block = block.get("block")
        return
    yield ".storage", target.storage
    yield ".autograd_meta", target.autograd_meta
    if isinstance(target, SparseTensorImpl):
        yield ".indices", target.indices
        yield ".values", target.values


def owned_in_python(owner: Any) -> Iterable[Edge]:
    """Return what the collector sees of an object; attributes by their names."""
    if isinstance(owner, FunctionType):
        return [("", cell.cell_contents) for cell in owner.__closure__ or () if has_contents(cell)]
    if isinstance(owner, (MethodType, BuiltinMethodType)):
        return [("", owner.__self__)]
    if isinstance(owner, dict):
        return [(f"[{key!r}]" if isinstance(key, (str, int)) else "[...]", value) for key, value in owner.items()]
    named = getattr(owner, "__dict__", None)
    named = dict(named) if isinstance(named, dict) else {}
    for cls in type(owner).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else tuple(slots):
            if hasattr(owner, slot):
                named[slot] = getattr(owner, slot)
    known = {id(value) for value in named.values()} | {id(getattr(owner, "__dict__", None)), id(type(owner))}
    others = [("", value) for value in referents_of(owner) if id(value) not in known]
    return [(f".{name}", value) for name, value in named.items()] + others


def has_contents(cell: Any) -> bool:
    """Return whether a closure's variable is set."""
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
