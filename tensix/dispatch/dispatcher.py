"""The dispatcher: every operator by its name."""

from types import ModuleType

from tensix._support.loaded_later import Suggestion
from tensix.dispatch import operator_table
from tensix.dispatch.kernel import fallthrough
from tensix.dispatch.operator import Operator
from tensix.dispatch.operator_table import OperatorTable
from tensix.dispatch.schema import FunctionSchema, parse_schema
from tensix.tensors.dispatch_key import FIRST_ALIAS, name_of_slot, slot_from_any

__all__ = ["Dispatcher", "dispatcher"]


class Dispatcher:
    """Hold every operator; there is one, ``tensix.dispatch.dispatcher``.

    Notes
    -----
    Thread-safety: calls need no lock, and may go on while operators are declared and taken back.
    """

    def __init__(self):
        self._tables = {}
        self._owners = {}
        self._operators = {}  # namespace::name -> Operator; deleted ones stay, for code that holds them
        self._namespaces = {}  # name -> module of operators, without those that are gone

    def define(self, schema, namespace="tensix", owner="tensix"):
        """Declare an operator and return its table.

        Parameters
        ----------
        schema : str or FunctionSchema
            How it is called.
        namespace, owner : str, optional
            Where it belongs, and who declares it.

        Raises
        ------
        RuntimeError
            If an operator of this name and overload is there.
        """
        parsed = schema if isinstance(schema, FunctionSchema) else parse_schema(schema, namespace)
        name = parsed.qualified_name
        table = OperatorTable(parsed)
        present = self._tables.setdefault(name, table)
        if present is not table:
            raise RuntimeError(
                f"Tried to register an operator ({parsed}) with the same name and overload name multiple times: "
                f"{self._owners.get(name, owner)} declared {present.schema}, now {owner} declares it again."
            )
        try:
            self._owners[name] = owner
            operator = self._operators.setdefault(parsed.operator_name, Operator(parsed.operator_name))
            operator.enter(table)
            setattr(self.namespace(parsed.namespace), parsed.name, operator)
        except MemoryError:
            self.undefine(table)
            raise
        return table

    def undefine(self, table):
        """Take an operator's declaration back, also one that was not completed."""
        schema = table.schema
        operator, operators = self._operators.get(schema.operator_name), vars(self.namespace(schema.namespace))
        if operator is not None:
            operator.remove(table)
            if not operator.tables:
                operators.pop(schema.name, None)
                if operator.tables:  # another thread has declared an overload meanwhile
                    operators[schema.name] = operator
        self._owners.pop(schema.qualified_name, None)
        del self._tables[schema.qualified_name]  # last what opens the name; without memory nothing comes so far

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

    def namespace(self, name):
        """Return the module whose attributes are the operators of a namespace that are declared at the moment."""
        # A module, because CPython finds attributes of modules fastest.
        module = self._namespaces.get(name)
        if module is None:
            module = ModuleType(f"tensix.ops.{name}")

            def refuse(operator):  # PEP 562: called for attributes that the module does not have
                text = f"no operator is called {name}::{operator}; dir({module.__name__}) lists the operators"
                if not any(one.startswith(f"{name}::") for one in self._tables):
                    text = f"no operator is declared in the namespace {name}; dir(tensix.ops) lists the namespaces"
                raise AttributeError(Suggestion(text, operator, vars(module)), name=operator)

            module.__getattr__ = refuse
            module = self._namespaces.setdefault(name, module)
        return module

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
        slot = slot_from_any(key)
        if slot >= FIRST_ALIAS:
            name = name_of_slot(slot)
            raise ValueError(f"{name} is an alias: it has no slot for a fallback. Name a key such as PrivateUse1.")
        if function is not None and function is not fallthrough and not callable(function):
            raise TypeError(f"a fallback must be callable, found {type(function).__name__}.")
        present = operator_table.get_fallback(slot)
        if function is not None and present is not None:
            raise RuntimeError(
                f"Tried to register multiple backend fallbacks for the same dispatch key {name_of_slot(slot)}: "
                f"{present!r} is there, found {function!r} as well."
            )
        operator_table.set_fallback(slot, function)
        try:
            for table in list(self._tables.values()):
                table.resolve()
        except MemoryError:
            if function is not None:
                self.set_fallback(key, None)
            raise

    def add_listener(self, listener):
        """Tell `listener` of every call.

        Parameters
        ----------
        listener : object
            With methods ``before_call(table, key, args, kwargs)``, and ``after_call(table, key, result)`` or
            ``failed_call(table, key)``.
        """
        operator_table.set_listeners(lambda present: (*present, listener))

    def remove_listener(self, listener):
        """Stop telling `listener`."""
        operator_table.set_listeners(lambda present: tuple([other for other in present if other is not listener]))


dispatcher = Dispatcher()
