"""What objects refer to, by the only functions that ask the collector."""

import asyncio
import gc
import types
from pathlib import Path

from tensix.core.referents import having, holding, referents_of, referring

import tensix


class Hiding(types.ModuleType):
    """Override what modules are asked for."""

    __slots__ = ("hidden",)

    def __getattribute__(self, name):
        raise AssertionError("this module is not to be asked")


def test_module_is_asked_for_its_variables_only():
    module = Hiding("module")
    module.hidden = object()
    assert referents_of(asyncio) == [vars(asyncio)]
    assert gc.get_referents(module) != referents_of(module) == [types.ModuleType.__dict__["__dict__"].__get__(module)]


def test_others_are_asked_by_the_collector():
    value = object()
    for container in ([value], (value,), {"key": value}, {value}):
        assert any(each is value for each in referents_of(container))


def test_large_lists_are_not_copied():
    large = list(range(10))
    assert referents_of(large) is large


class Sub(list):
    pass


def nested(value, depth):
    for _ in range(depth):
        value = (value,)
    return value


def test_walks_find_what_refers_to_objects():
    """By type, also through what the collector does not track, and by identity."""
    wanted = [Sub(), Sub()]
    module = Hiding("module")
    variables = types.ModuleType.__dict__["__dict__"].__get__(module)
    variables["name"] = 1.5
    things = [[wanted[0]], [], {"key": wanted[1]}, wanted[0], [nested(1, 500)], [nested(1.5, 3)], module, list, 3]
    gc.collect()  # tuples of numbers are tracked until then
    assert holding(things, [list]) == [things[0], things[2], *things[4:5][: not gc.is_tracked(things[4][0])]]
    found = [not gc.is_tracked(container) for container in (things[4][0], things[5][0], variables)]
    assert holding(things, [float]) == [thing for thing, is_found in zip(things[4:7], found, strict=True) if is_found]
    assert holding([], [Sub]) == [] == having((), [Sub])
    assert having(things, [float]) == [things[5]][: not gc.is_tracked(things[5])]
    assert having((*wanted, 3.5, "text", list), [Sub, float]) == [*wanted, 3.5]
    assert referring(things, {id(wanted[1])}) == [things[2]]
    assert referring(things, {id(one) for one in (*wanted, things[5][0])}) == [things[0], things[2], things[5]]
    assert referring(things, ()) == referring([], {1}) == []


def test_no_other_code_asks_the_collector():
    package = Path(tensix.__file__).parent
    sources = [path for end in ("py", "pyx") for path in package.rglob(f"*.{end}")]
    assert [path.name for path in sources if "gc.get_referents(" in path.read_text()] == ["referents.pyx"]
