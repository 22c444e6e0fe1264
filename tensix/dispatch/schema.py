"""Operator schemas: one line that says how an operator is called.

``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``: a name, an overload, arguments with types and
defaults, what is keyword-only, and what comes back. ``Tensor(a)`` marks what aliases, ``Tensor(a!)`` what is written.
"""

import ast
import re
from functools import cache
from typing import NamedTuple

from tensix.dispatch.argument_parser import PYTHON_TYPES, UNCHECKED, ArgumentParser

__all__ = ["Argument", "FunctionSchema", "parse_schema"]

KINDS = {*PYTHON_TYPES, *UNCHECKED}
# Patterns are text: `re` compiles each when it is first needed, which is after the import.
NAMED_KINDS = {"ScalarType", "Layout", "Device", "MemoryFormat"}  # their defaults are bare words
# What Python's parser reads without a warning: it has some for unknown escapes, and for numbers that run into words.
# Atomic: each part is read in one way, or a text of many quotes would be tried in all of them.
LITERAL = r"""(?ax)
    (?> [\s+\-\[\](){},:] | (?:True|False|None)(?!\w) | b?'[^'\\]*' | b?"[^"\\]*"
      | '(?:[^'\\]|\\[\\'"abfnrtvxuUN0])*' | "(?:[^"\\]|\\[\\'"abfnrtvxuUN0])*"
      | 0[xXoObB][\da-fA-F_]+(?!\w) | (?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d[\d_]*)?[jJ]?(?!\w) )+"""


class Argument(NamedTuple):
    """Describe one argument of an operator."""

    name: str
    type: str
    default: object = None
    has_default: bool = False
    optional: bool = False
    keyword_only: bool = False
    alias: str | None = None
    is_write: bool = False

    def __repr__(self):
        return f"Argument({self.type} {self.name})"


class FunctionSchema:
    """Describe how an operator is called.

    Attributes
    ----------
    namespace, name, overload : str
        The parts of its name.
    operator_name, qualified_name : str
        What all overloads are called, ``namespace::name``, and the key of the dispatcher's table,
        ``namespace::name.overload``.
    returns : str
        What comes back.
    returns_several : bool
        Whether it is a tuple of results, which is written in parentheses.
    text : str
        The line it was read from, without the namespace.

    Examples
    --------
    >>> from tensix.dispatch.schema import parse_schema
    >>> schema = parse_schema("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
    >>> schema.qualified_name, [argument.name for argument in schema.arguments]
    ('tensix::add.Tensor', ['self', 'other', 'alpha'])
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    def __init__(self, namespace, name, overload, *, body, returns, text):
        self.namespace, self.name, self.overload = namespace, name, overload
        self.operator_name = f"{namespace}::{name}"
        self.qualified_name = f"{self.operator_name}.{overload}" if overload else self.operator_name
        self.body, self.returns, self.text = body, returns, text
        self.returns_several = returns.startswith("(")
        self._parser = self._results = None

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """In order; what is in the parentheses is read when it is first asked for."""
        return self.parser.arguments

    @property
    def parser(self) -> ArgumentParser:
        """What fits the arguments of calls to these."""
        if self._parser is None:
            self._results = ArgumentParser(parse_results(self.returns, self.text))
            self._parser = ArgumentParser(parse_arguments(self.body, self.text))
        return self._parser

    @property
    def results(self) -> ArgumentParser:
        """What accepts each result."""
        self.parser  # noqa: B018 - reads both
        return self._results

    def bind(self, args, kwargs):
        """Fit arguments to the schema.

        Parameters
        ----------
        args : tuple
            As given by position.
        kwargs : dict
            As given by name.

        Returns
        -------
        tuple
            Positional and keyword arguments as a kernel takes them: what is not keyword-only by position as far as
            it was given, the rest by name.

        Raises
        ------
        TypeError
            If they do not fit; the text shows the signature and what did not fit.
        """
        bound = self.parser.bind(args, kwargs)
        if bound is None:
            problem = self.parser.problem_of(args, kwargs)
            raise TypeError(f"{self.qualified_name}(): {problem} The signature is {self}.")
        return bound

    def is_same_call(self, other):
        """Return whether another schema declares the same arguments and results, however it is written."""
        return self.arguments == other.arguments and self.returns == other.returns

    def __eq__(self, other):
        return str(self) == str(other) if isinstance(other, FunctionSchema) else NotImplemented

    def __hash__(self):
        return hash(str(self))

    def __str__(self) -> str:
        return f"{self.namespace}::{self.text}"


def parse_schema(text: str, namespace: str = "tensix") -> FunctionSchema:
    """Return the schema that a line describes, checked to its end.

    Parameters
    ----------
    text : str
        The schema, with or without a namespace of its own.
    namespace : str, optional
        Used if the line names none.

    Raises
    ------
    ValueError
        If the line cannot be read, or names a type that there is not, or a default does not fit; the text says where.
    """
    schema = declared_schema(text, namespace)
    schema.parser  # noqa: B018 - reads both
    return schema


def declared_schema(text: str, namespace: str = "tensix") -> FunctionSchema:
    """Return the schema that a line describes; its arguments are read, and checked, when they are first needed.

    The operators of tensix are declared so: to read the arguments of all took a third of the import.
    """
    if not isinstance(text, str):
        raise TypeError(f"a schema is a str such as 'f(Tensor x) -> Tensor', found {type(text).__name__}.")
    line = text.strip()
    head, opened, rest = line.partition("(")
    body, arrow, returns = rest.rpartition("->")
    own_namespace, qualified, full_name = head.strip().rpartition("::")
    name, dot, overload = full_name.partition(".")
    body, returns = body.strip(), returns.strip()
    is_named = name.isidentifier() and (overload.isidentifier() or not dot)
    is_qualified = own_namespace.isidentifier() or not qualified
    if not (opened and arrow and body.endswith(")") and returns and is_named and is_qualified):
        raise ValueError(f"cannot read the schema {text!r}: expected 'name.overload(Type arg, ...) -> Type'.")
    return FunctionSchema(
        own_namespace or namespace, name, overload, body=body[:-1], returns=returns,
        text=line.removeprefix(f"{own_namespace}::"),
    )  # fmt: skip


def parse_results(text, schema):
    """Yield what comes back, as arguments; names are optional."""
    for part in filter(None, map(str.strip, split_outside_brackets(text[1:-1] if text.startswith("(") else text))):
        result = parse_argument(part, False) or parse_argument(f"{part} result", False)
        if result is None:
            raise ValueError(f"cannot read the result {part!r} of the schema {schema!r}: a type is needed.")
        check_kind(result.type.partition("[")[0], schema)
        yield result


def parse_arguments(text, schema):
    """Yield the arguments of a schema's parentheses."""
    keyword_only, may_be_left_out, names = False, False, set()
    for part in filter(None, map(str.strip, split_outside_brackets(text))):
        if part == "*":
            if keyword_only:
                raise ValueError(f"the schema {schema!r} has two '*': after the first, all arguments are keyword-only.")
            keyword_only = True
            continue
        argument = parse_argument(part, keyword_only)
        if argument is None:
            raise ValueError(
                f"cannot read the argument {part!r} of the schema {schema!r}: 'Type name', or "
                "'Type name=default' with quotes and escapes as in Python, is needed."
            )
        if argument.name in names:
            raise ValueError(f"the schema {schema!r} names the argument '{argument.name}' twice.")
        names.add(argument.name)
        check_kind(argument.type.partition("[")[0], schema)
        check_default(argument, schema)
        if may_be_left_out and not (keyword_only or argument.has_default or argument.optional):
            raise ValueError(
                f"the schema {schema!r} has '{argument.name}' without a default behind one with a default."
            )
        may_be_left_out = may_be_left_out or argument.has_default
        yield argument


def check_kind(kind, schema):
    """Check that there is a type."""
    if kind not in KINDS:
        raise ValueError(f"the schema {schema!r} names the type {kind!r}. Known are {', '.join(sorted(KINDS))}.")


def check_default(argument, schema):
    """Check that an argument's default is of its type."""
    default = argument.default
    if not argument.has_default:
        return
    if default is None:
        fits = argument.optional
    elif argument.type in NAMED_KINDS:
        fits = isinstance(default, str)
    else:
        fits = ArgumentParser([argument]).problem_of((), {argument.name: default}) is None
    if not fits:
        raise ValueError(
            f"the schema {schema!r} gives '{argument.name}' the default {default!r}, which is not of type "
            f"{argument.type}."
        )


@cache  # most operators have the same few; reading them each time took a good part of the import
def parse_argument(text, keyword_only):
    """Return the argument that a text such as ``Tensor(a!)? out=None`` describes, or None."""
    declared, equals, default = text.partition("=")
    kind, _, name = declared.strip().rpartition(" ")
    kind, default = kind.strip(), default.strip()
    optional, brackets, alias = kind.endswith("?"), "", None
    kind = kind.removesuffix("?")
    if kind.endswith("]"):
        kind, _, count = kind[:-1].partition("[")
        kind, brackets = kind.removesuffix("?"), f"[{count}]"
        if count and not count.isdecimal():
            return None
    if kind.endswith(")"):
        kind, _, alias = kind[:-1].partition("(")
    is_write = alias is not None and alias.endswith("!")
    if is_write:
        alias = alias.removesuffix("!")
    words = (name, kind) if alias is None else (name, kind, alias)
    if not all(map(str.isidentifier, words)) or (equals and not default):
        return None
    if default.startswith(("'", '"')) and not re.fullmatch(LITERAL, default):  # else it would be a bare word
        return None
    return Argument(
        name, kind + brackets, default=literal(default) if equals else None, has_default=bool(equals),
        optional=optional, keyword_only=keyword_only, alias=alias, is_write=is_write,
    )  # fmt: skip


def split_outside_brackets(text):
    """Split at the commas that are not inside brackets or quotes."""
    if not any(mark in text for mark in "[(\"'"):
        yield from text.split(",")
        return
    depth, start, quote = 0, 0, ""
    for position, character in enumerate(text):
        if quote or character in "'\"":
            quote = "" if character == quote else quote or character
            continue
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def literal(text):
    """Return the value of a default; a bare word is a string."""
    if not re.fullmatch(LITERAL, text):
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
