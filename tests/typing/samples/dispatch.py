"""What a type checker knows about dispatch keys, operators and listeners."""

from collections.abc import Iterator
from typing import Any, assert_type

import tensix
from tensix import Tensor
from tensix.dispatch import DispatchKey, DispatchKeySet, FunctionSchema, OperatorTable, dispatcher
from tensix.dispatch.kernel import Kernel
from tensix.dispatch.schema import parse_schema
from tensix.library import Library


class Names:
    """A listener needs no base class."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def before_call(
        self, table: OperatorTable, key: DispatchKey, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.names.append(table.schema.qualified_name)

    def after_call(self, table: OperatorTable, key: DispatchKey, result: Any) -> None:
        self.names.append(key.name)

    def failed_call(self, table: OperatorTable, key: DispatchKey) -> None:
        self.names.append("failed")


keys = DispatchKeySet(DispatchKey.CPU, "AutogradCPU")
assert_type(keys.highest_priority_key(), DispatchKey)
assert_type(keys | DispatchKeySet("CUDA"), DispatchKeySet)
assert_type(keys.bits, int)
assert_type("CPU" in keys, bool)
assert_type(iter(keys), Iterator[DispatchKey])

table = dispatcher.get_op_table("add.Tensor")
assert_type(table, OperatorTable)
assert_type(table.schema, FunctionSchema)
assert_type(table.registered_keys(), list[str])
assert_type(table.kernel_for("CPU"), Kernel)
assert_type(parse_schema("f(Tensor self) -> Tensor").arguments[0].default, object)

listener = Names()
dispatcher.add_listener(listener)
dispatcher.remove_listener(listener)


# what is registered keeps its type, so impl() serves as a decorator's last step
def twice(x: Tensor) -> Tensor:
    return x + x


with Library("typed") as library:
    assert_type(library, Library)
    assert_type(library.define("twice(Tensor self) -> Tensor"), OperatorTable)
    assert_type(library.impl("twice", twice, DispatchKey.CPU)(tensix.ones(2)), Tensor)
    library.fallback(twice, "PrivateUse3")
