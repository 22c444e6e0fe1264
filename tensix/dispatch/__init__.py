"""Which kernel runs: dispatch keys, schemas, operator tables."""

from tensix.dispatch.dispatch_key import DispatchKey, DispatchKeySet
from tensix.dispatch.dispatcher import OperatorTable, dispatcher
from tensix.dispatch.schema import FunctionSchema

__all__ = ["DispatchKey", "DispatchKeySet", "FunctionSchema", "OperatorTable", "dispatcher"]
