"""Which kernel runs: dispatch keys, schemas, operator tables."""

from typing import TYPE_CHECKING

from tensix._support.loaded_later import loaded_later
from tensix.dispatch.dispatcher import dispatcher
from tensix.dispatch.kernel import fallthrough
from tensix.dispatch.local_state import exclude_keys, include_keys
from tensix.dispatch.operator_table import OperatorTable
from tensix.dispatch.schema import FunctionSchema
from tensix.tensors.dispatch_key import DispatchKeySet

if TYPE_CHECKING:
    from tensix.tensors.dispatch_key import DispatchKey

__all__ = [
    "DispatchKey", "DispatchKeySet", "FunctionSchema", "OperatorTable", "dispatcher", "exclude_keys", "fallthrough",
    "include_keys",
]  # fmt: skip

if not TYPE_CHECKING:  # a checker that knew of __getattr__ would take any name for one of the package
    __getattr__, __dir__ = loaded_later(__name__, {"DispatchKey": ".tensors.dispatch_key"})
