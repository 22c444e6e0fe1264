"""What an object refers to, by the one function that asks the collector."""

import asyncio
import gc
import types
from pathlib import Path

import tensix
from tensix.core.referents import referents_of


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


def test_no_other_code_asks_the_collector():
    package = Path(tensix.__file__).parent
    sources = [path for end in ("py", "pyx") for path in package.rglob(f"*.{end}")]
    assert [path.name for path in sources if "gc.get_referents(" in path.read_text()] == ["referents.py"]
