"""Operator schemas: one line that says how an operator is called.

``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``: a name, an overload, arguments with types and
defaults, what is keyword-only, and what comes back. ``Tensor(a)`` marks what aliases, ``Tensor(a!)`` what is written.
"""

import ast
import re
from dataclasses import dataclass

__all__ = ["Argument", "FunctionSchema", "parse_schema"]

HEAD = re.compile(r"\s*(?:(\w+)::)?(\w+)(?:\.(\w+))?\s*\((.*)\)\s*->\s*(.+?)\s*$")
ARGUMENT = re.compile(r"\s*(\w+)(?:\((\w+)(!)?\))?(\[\d*\])?(\?)?\s+(\w+)(?:\s*=\s*(.+?))?\s*$")


@dataclass(frozen=True)
class Argument:
    """Describe one argument of an operator."""

    name: str
    type: str
    default: object = None
    has_default: bool = False
    optional: bool = False
    keyword_only: bool = False
    alias: str | None = None
    is_write: bool = False


@dataclass(frozen=True)
class FunctionSchema:
    """Describe how an operator is called.

    Examples
    --------
    >>> from tensix.dispatch.schema import parse_schema
    >>> schema = parse_schema("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
    >>> schema.qualified_name, [argument.name for argument in schema.arguments]
    ('tensix::add.Tensor', ['self', 'other', 'alpha'])
    """

    namespace: str
    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: str
    text: str

    @property
    def qualified_name(self):
        """The key of the dispatcher's table: ``namespace::name.overload``."""
        return f"{self.namespace}::{self.name}" + (f".{self.overload}" if self.overload else "")

    def __str__(self):
        return f"{self.namespace}::{self.text}"


def parse_schema(text, namespace="tensix"):
    """Return the schema that a line describes.

    Parameters
    ----------
    text : str
        The schema, with or without a namespace of its own.
    namespace : str, optional
        Used if the line names none.

    Raises
    ------
    ValueError
        If the line cannot be read; the text says where.
    """
    match = HEAD.match(text)
    if match is None:
        raise ValueError(f"cannot read the schema {text!r}: it must look like 'name.overload(Type arg, ...) -> Type'.")
    own_namespace, name, overload, arguments, returns = match.groups()
    line = text.strip().removeprefix(f"{own_namespace}::") if own_namespace else text.strip()
    return FunctionSchema(
        own_namespace or namespace, name, overload or "", tuple(parse_arguments(arguments, text)), returns, line
    )


def parse_arguments(text, schema):
    """Yield the arguments of a schema's parentheses."""
    keyword_only = False
    for part in filter(None, (part.strip() for part in split_outside_brackets(text))):
        if part == "*":
            keyword_only = True
            continue
        match = ARGUMENT.match(part)
        if match is None:
            raise ValueError(f"cannot read the argument {part!r} of the schema {schema!r}: 'Type name' is needed.")
        kind, alias, write, brackets, optional, name, default = match.groups()
        yield Argument(
            name, kind + (brackets or ""), None if default is None else literal(default), default is not None,
            optional is not None, keyword_only, alias, write is not None,
        )  # fmt: skip


def split_outside_brackets(text):
    """Split at the commas that are not inside brackets."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def literal(text):
    """Return the value of a default; a bare word stands for itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
