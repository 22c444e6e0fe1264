from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tensix.dispatch.operator_table import OperatorTable

__all__ = ["alias", "enter", "function", "method", "operator", "tensors_only"]

_Declaration = TypeVar("_Declaration", bound=Callable[..., Any])

def function(declaration: _Declaration) -> _Declaration: ...
def method(declaration: _Declaration) -> _Declaration: ...
def alias(name: str, function: _Declaration) -> _Declaration: ...
def enter(name: str, descriptor: object) -> None: ...
def operator(
    table: OperatorTable,
    *,
    out: OperatorTable | None = None,
    in_place: OperatorTable | None = None,
    method: bool = True,
    result_class: type | None = None,
    hint: str | None = None,
) -> Callable[[_Declaration], _Declaration]: ...
def tensors_only(arrays: Iterable[Any], name: str) -> tuple[Any, ...]: ...
