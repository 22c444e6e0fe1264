from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tensix.dispatch.operator_table import OperatorTable

__all__ = ["alias", "enter", "function", "method", "operator", "tensors_only"]

_Declaration = TypeVar("_Declaration", bound=Callable[..., Any])

def function(declaration: _Declaration) -> _Declaration: """Make the function that users call, of its declaration."""
def method(declaration: _Declaration) -> _Declaration:
    """Make the function that users call, of its declaration, and the method of tensors of that name."""
def alias(name: str, function: _Declaration) -> _Declaration:
    """Give a function, as function and as method, a second name, and return it."""
def enter(name: str, descriptor: object) -> None:
    """Enter the value of a name of tensors into the class that `Tensor` is made of."""
def operator(
    table: OperatorTable,
    *,
    out: OperatorTable | None = None,
    in_place: OperatorTable | None = None,
    method: bool = True,
    result_class: type | None = None,
    hint: str | None = None,
) -> Callable[[_Declaration], _Declaration]: """Make the function of an operator, of a declaration without a body."""
def tensors_only(arrays: Iterable[Any], name: str) -> tuple[Any, ...]:
    """Return several tensors as a tuple; raise an error of the function of a name if one is something else."""
