"""The dispatcher: every operator by its name."""

from tensix.dispatch import operator_table
from tensix.dispatch.dispatch_key import FIRST_ALIAS, key_from_any
from tensix.dispatch.kernel import fallthrough
from tensix.dispatch.operator_table import OperatorTable
from tensix.dispatch.schema import parse_schema

__all__ = ["Dispatcher", "dispatcher"]


class Dispatcher:
    """Hold every operator; there is one, ``tensix.dispatch.dispatcher``.

    Notes
    -----
    Thread-safety: calls need no lock; registration is done with the GIL held.
    """

    def __init__(self):
        self._tables = {}
        self._owners = {}
        self._listeners = ()

    def define(self, schema, namespace="tensix", owner="tensix"):
        """Declare an operator and return its table.

        Parameters
        ----------
        schema : str
            How it is called.
        namespace, owner : str, optional
            Where it belongs, and who declares it.

        Raises
        ------
        RuntimeError
            If an operator of this name and overload is there.
        """
        parsed = parse_schema(schema, namespace)
        name = parsed.qualified_name
        if name in self._tables:
            raise RuntimeError(
                f"Tried to register an operator ({parsed}) with the same name and overload name multiple times: "
                f"{self._owners[name]} declared {self._tables[name].schema}, now {owner} declares it again."
            )
        self._owners[name] = owner
        table = self._tables[name] = OperatorTable(parsed)
        return table

    def undefine(self, table):
        """Take an operator's declaration back."""
        del self._tables[table.schema.qualified_name], self._owners[table.schema.qualified_name]

    def get_op_table(self, schema):
        """Return the table of an operator.

        Parameters
        ----------
        schema : str
            ``"ns::name.overload"`` or the full schema.

        Raises
        ------
        RuntimeError
            If there is none, or its schema is another one.
        """
        if not isinstance(schema, str):
            raise TypeError(f"an operator is asked for by its name or schema, a str; found {type(schema).__name__}.")
        parsed = parse_schema(schema) if "->" in schema else None
        name = schema if parsed is None else parsed.qualified_name
        table = self._tables.get(name if "::" in name else f"tensix::{name}")
        if table is None:
            raise RuntimeError(f"No functions are registered for schema {schema}.")
        if parsed is not None and not parsed.is_same_call(table.schema):
            raise RuntimeError(
                f"No functions are registered for schema {schema}: {name} has the schema {table.schema}."
            )
        return table

    def overloads(self, namespace, name):
        """Return the tables of every overload of an operator."""
        start = f"{namespace}::{name}"
        return [table for key, table in self._tables.items() if key == start or key.startswith(f"{start}.")]

    def operators(self):
        """Return the qualified names of all operators, sorted."""
        return sorted(self._tables)

    def set_fallback(self, key, function):
        """Serve every operator that has no kernel for a key by one callable, or by ``fallthrough``; None takes it back.

        Raises
        ------
        RuntimeError
            If the key has a fallback.
        ValueError
            If the key is an alias: it has no slot.
        """
        key = key_from_any(key)
        if int(key) >= FIRST_ALIAS:
            raise ValueError(f"{key.name} is an alias: it has no slot for a fallback. Name a key such as PrivateUse1.")
        if function is not None and function is not fallthrough and not callable(function):
            raise TypeError(f"a fallback must be callable, found {type(function).__name__}.")
        present = operator_table.get_fallback(int(key))
        if function is not None and present is not None:
            raise RuntimeError(
                f"Tried to register multiple backend fallbacks for the same dispatch key {key.name}: "
                f"{present!r} is there, found {function!r} as well."
            )
        operator_table.set_fallback(int(key), function)
        for table in self._tables.values():
            table.resolve()

    def add_listener(self, listener):
        """Tell `listener` of every call.

        Parameters
        ----------
        listener : object
            With methods ``before_call(table, key, args, kwargs)``, and ``after_call(table, key, result)`` or
            ``failed_call(table, key)``.
        """
        self._listeners = (*self._listeners, listener)
        operator_table.set_listeners(self._listeners)

    def remove_listener(self, listener):
        """Stop telling `listener`."""
        self._listeners = tuple(other for other in self._listeners if other is not listener)
        operator_table.set_listeners(self._listeners)


dispatcher = Dispatcher()
