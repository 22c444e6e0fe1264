"""Which kernel runs: dispatch keys, schemas, operator tables."""

from tensix.dispatch.dispatcher import dispatcher
from tensix.dispatch.kernel import fallthrough
from tensix.dispatch.local_state import exclude_keys, include_keys
from tensix.dispatch.operator_table import OperatorTable
from tensix.dispatch.schema import FunctionSchema
from tensix.tensors.dispatch_key import DispatchKey, DispatchKeySet

__all__ = [
    "DispatchKey", "DispatchKeySet", "FunctionSchema", "OperatorTable", "dispatcher", "exclude_keys", "fallthrough",
    "include_keys",
]  # fmt: skip
