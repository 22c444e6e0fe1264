"""An operator: its overloads under one name, of which a call takes the first that its arguments fit."""

import cython
from cython.cimports.tensix.dispatch.operator_table import OperatorTable, OperatorTable_parser

from tensix.dispatch.operator_table import REGISTRATION

__all__ = ["Operator"]


@cython.final
@cython.cclass
class Operator:
    """Call the overload that arguments fit; overloads are attributes.

    Attributes
    ----------
    name : str
        Such as ``"tensix::add"``.
    tables : tuple of OperatorTable
        One per overload; empty while none is declared.

    Notes
    -----
    Lifetime: an operator stays the same object when libraries close and declare it again.

    Thread-safety: it may be called while overloads come and go; a call sees those of its beginning.

    Examples
    --------
    >>> tensix.ops.tensix.add(tensix.ones(2), tensix.ones(2), alpha=3)
    tensor([4., 4.])
    """

    def __cinit__(self, name: str):
        self.name, self.tables = name, ()

    def enter(self, table: OperatorTable):
        """Add an overload's table."""
        with REGISTRATION:
            exchange_tables(self, (*self.tables, table))

    def remove(self, table: OperatorTable):
        """Take an overload's table away."""
        with REGISTRATION:
            exchange_tables(self, tuple([other for other in self.tables if other is not table]))

    def __call__(self, *args, **kwargs):
        """Call the first overload that the arguments fit.

        Raises
        ------
        TypeError
            If they fit none; the text lists the signatures and what did not fit.
        RuntimeError
            If the operator is gone.
        """
        tables = self.tables
        for one in tables:
            table = cython.cast(OperatorTable, one)
            if kwargs:
                if OperatorTable_parser(table).problem_of(args, kwargs) is None:
                    return table(*args, **kwargs)
            elif OperatorTable_parser(table).takes(args):
                return table.call(args, None)
        if not tables:
            raise RuntimeError(f"no operator is called {self.name} any more: the Library that declared it was closed.")
        problems = [f"  {table.schema}: {table.schema.parser.problem_of(args, kwargs)}" for table in tables]
        given = ", ".join([type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()])
        raise TypeError(f"{self.name}() fits no signature with ({given}):\n" + "\n".join(problems))

    def __getattr__(self, overload):
        for table in self.tables:
            if overload and table.schema.overload == overload:
                return table
        raise AttributeError(f"{self.name} has no overload {overload!r}.")

    def __repr__(self):
        return f"tensix.ops.{self.name.replace('::', '.')}"
