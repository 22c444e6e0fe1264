"""Operator schemas: one line that says how an operator is called.

``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``: a name, an overload, arguments with types and
defaults, what is keyword-only, and what comes back. ``Tensor(a)`` marks what aliases, ``Tensor(a!)`` what is written.
"""

import ast
import re
from functools import cache

from tensix.dispatch.argument_parser import ArgumentParser

__all__ = ["Argument", "FunctionSchema", "parse_schema"]

HEAD = re.compile(r"\s*(?:(\w+)::)?(\w+)(?:\.(\w+))?\s*\((.*)\)\s*->\s*(.+?)\s*$")
BRACKETS_AND_QUOTES = re.compile(r"[\[(\"']")
ARGUMENT = re.compile(r"\s*(\w+)(?:\((\w+)(!)?\))?(?:\?(?=\[))?(\[\d*\])?(\?)?\s+(\w+)(?:\s*=\s*(.+?))?\s*$")


class Argument:
    """Describe one argument of an operator."""

    default: object

    def __init__(
        self, name, type, default=None, *, has_default=False, optional=False, keyword_only=False, alias=None,
        is_write=False,
    ):  # fmt: skip
        self.name, self.type, self.default, self.has_default = name, type, default, has_default
        self.optional, self.keyword_only, self.alias, self.is_write = optional, keyword_only, alias, is_write

    def __eq__(self, other):
        if not isinstance(other, Argument):
            return NotImplemented
        return vars(self) == vars(other)

    __hash__ = None

    def __repr__(self):
        return f"Argument({self.type} {self.name})"


class FunctionSchema:
    """Describe how an operator is called.

    Attributes
    ----------
    namespace, name, overload : str
        The parts of its name.
    arguments : tuple of Argument
        In order.
    returns : str
        What comes back.
    text : str
        The line it was read from, without the namespace.

    Examples
    --------
    >>> from tensix.dispatch.schema import parse_schema
    >>> schema = parse_schema("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
    >>> schema.qualified_name, [argument.name for argument in schema.arguments]
    ('tensix::add.Tensor', ['self', 'other', 'alpha'])
    """

    arguments: tuple[Argument, ...]

    def __init__(self, namespace, name, overload, *, arguments, returns, text):
        self.namespace, self.name, self.overload = namespace, name, overload
        self.arguments, self.returns, self.text = arguments, returns, text
        self.parser = ArgumentParser(arguments)

    @property
    def qualified_name(self) -> str:
        """The key of the dispatcher's table: ``namespace::name.overload``."""
        return f"{self.namespace}::{self.name}" + (f".{self.overload}" if self.overload else "")

    @property
    def returns_one_tensor(self):
        """Whether a single tensor comes back."""
        return re.fullmatch(r"Tensor(\(.*\))?", self.returns) is not None

    @property
    def has_device(self):
        """Whether a call says where its result shall be."""
        return any(argument.name == "device" for argument in self.arguments)

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
        problem, bound = self.parser.bind(args, kwargs)
        if problem:
            raise TypeError(f"{self.qualified_name}(): {problem} The signature is {self}.")
        return bound

    def __eq__(self, other):
        return str(self) == str(other) if isinstance(other, FunctionSchema) else NotImplemented

    def __hash__(self):
        return hash(str(self))

    def __str__(self) -> str:
        return f"{self.namespace}::{self.text}"


def parse_schema(text: str, namespace: str = "tensix") -> FunctionSchema:
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
        own_namespace or namespace, name, overload or "", arguments=tuple(parse_arguments(arguments, text)),
        returns=returns, text=line,
    )  # fmt: skip


def parse_arguments(text, schema):
    """Yield the arguments of a schema's parentheses."""
    keyword_only, names = False, set()
    for part in filter(None, map(str.strip, split_outside_brackets(text))):
        if part == "*":
            keyword_only = True
            continue
        argument = parse_argument(part, keyword_only)
        if argument is None:
            raise ValueError(f"cannot read the argument {part!r} of the schema {schema!r}: 'Type name' is needed.")
        if argument.name in names:
            raise ValueError(f"the schema {schema!r} names the argument '{argument.name}' twice.")
        names.add(argument.name)
        yield argument


@cache  # most operators have the same few; to read them anew took a good part of the import
def parse_argument(text, keyword_only):
    """Return the argument that a text describes, or None."""
    match = ARGUMENT.match(text)
    if match is None:
        return None
    kind, alias, write, brackets, optional, name, default = match.groups()
    return Argument(
        name, kind + (brackets or ""), default=None if default is None else literal(default),
        has_default=default is not None, optional=optional is not None, keyword_only=keyword_only, alias=alias,
        is_write=write is not None,
    )  # fmt: skip


def split_outside_brackets(text):
    """Split at the commas that are not inside brackets or quotes."""
    if not BRACKETS_AND_QUOTES.search(text):
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
    """Return the value of a default; a bare word stands for itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
