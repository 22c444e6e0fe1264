"""Operators by name: ``tensix.ops.<namespace>.<operator>(...)``.

A call finds the overload that its arguments fit; ``tensix.ops.tensix.add.Tensor`` is one overload's table.
"""

from tensix.dispatch import dispatcher

__all__ = []


def __getattr__(namespace):
    """Return the operators of a namespace."""
    if namespace.startswith("__"):
        raise AttributeError(namespace)
    return Namespace(namespace)


class Namespace:
    """Give operators as attributes."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if not dispatcher.overloads(self._name, name):
            raise AttributeError(f"no operator is called {self._name}::{name}.")
        return Operator(self._name, name)

    def __dir__(self):
        start = f"{self._name}::"
        return sorted({n.removeprefix(start).partition(".")[0] for n in dispatcher.operators() if n.startswith(start)})

    def __repr__(self):
        return f"tensix.ops.{self._name}"


class Operator:
    """Call the overload that arguments fit; overloads are attributes."""

    def __init__(self, namespace, name):
        self._namespace, self._name = namespace, name

    def __call__(self, *args, **kwargs):
        """Call the first overload that the arguments fit.

        Raises
        ------
        TypeError
            If they fit none; the text lists the signatures and what did not fit.
        RuntimeError
            If the operator is gone.
        """
        problems = []
        tables = dispatcher.overloads(self._namespace, self._name)
        if not tables:
            raise RuntimeError(
                f"no operator is called {self._namespace}::{self._name} any more: "
                "the Library that declared it was closed."
            )
        for table in tables:
            problem = table.schema.parser.problem_of(args, kwargs)
            if problem is None:
                return table(*args, **kwargs)
            problems.append(f"  {table.schema}: {problem}")
        given = ", ".join([type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()])
        raise TypeError(
            f"{self._namespace}::{self._name}() fits no signature with ({given}):\n" + "\n".join(problems)
        )

    def __getattr__(self, overload):
        try:
            return dispatcher.get_op_table(f"{self._namespace}::{self._name}.{overload}")
        except RuntimeError:
            raise AttributeError(f"{self._namespace}::{self._name} has no overload {overload!r}.") from None

    def __repr__(self):
        return f"tensix.ops.{self._namespace}.{self._name}"
