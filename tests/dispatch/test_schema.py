"""Schemas: the line that says how an operator is called."""

import warnings

import pytest

import tensix
from tensix.dispatch import FunctionSchema, dispatcher
from tensix.dispatch.schema import Argument, literal, parse_schema


def arguments(text):
    return parse_schema(f"f({text}) -> Tensor").arguments


@pytest.mark.parametrize("line, namespace, name, overload, qualified", [
    ("add.Tensor(Tensor self) -> Tensor", "tensix", "add", "Tensor", "tensix::add.Tensor"),
    ("aten::add(Tensor self) -> Tensor", "aten", "add", "", "aten::add"),
    ("  x::copy_.out ( Tensor a )  ->  Tensor(a!)  ", "x", "copy_", "out", "x::copy_.out"),
    ("__and__(Tensor a) -> ()", "tensix", "__and__", "", "tensix::__and__"),
])
def test_names(line, namespace, name, overload, qualified):
    schema = parse_schema(line)
    assert (schema.namespace, schema.name, schema.overload) == (namespace, name, overload)
    assert schema.qualified_name == qualified


def test_namespace_from_outside():
    assert parse_schema("f() -> Tensor", namespace="mine").qualified_name == "mine::f"
    assert parse_schema("own::f() -> Tensor", namespace="mine").qualified_name == "own::f"


@pytest.mark.parametrize("returns", ["Tensor", "()", "(Tensor, Tensor)", "Tensor(a!)", "Tensor[]"])
def test_returns(returns):
    assert parse_schema(f"f(Tensor a) -> {returns}").returns == returns


@pytest.mark.parametrize("text, argument", [
    ("Tensor self", Argument("self", "Tensor")),
    ("Tensor(a) self", Argument("self", "Tensor", alias="a")),
    ("Tensor(a!) self", Argument("self", "Tensor", alias="a", is_write=True)),
    ("int[2] stride=[1, 2]", Argument("stride", "int[2]", [1, 2], has_default=True)),
    ("Scalar alpha=1", Argument("alpha", "Scalar", 1, has_default=True)),
    ("float eps=1e-05", Argument("eps", "float", 1e-5, has_default=True)),
    ("bool keepdim=False", Argument("keepdim", "bool", False, has_default=True)),
    ("ScalarType? dtype=None", Argument("dtype", "ScalarType", None, has_default=True, optional=True)),
    ("Generator? generator", Argument("generator", "Generator", optional=True)),
    ("MemoryFormat format=contiguous_format",
     Argument("format", "MemoryFormat", "contiguous_format", has_default=True)),
    ("str mode='mean'", Argument("mode", "str", "mean", has_default=True)),
    ("int[] size", Argument("size", "int[]")),
])
def test_one_argument(text, argument):
    assert arguments(text) == (argument,)


def test_many_arguments():
    found = arguments("Tensor self, int[2] pad=[0, 0], *, Scalar alpha=1, Tensor(b!)? out=None")
    assert [(argument.name, argument.keyword_only) for argument in found] == [
        ("self", False), ("pad", False), ("alpha", True), ("out", True),
    ]  # fmt: skip
    assert arguments("") == arguments("  ") == ()


def test_text_is_the_line_with_its_namespace():
    line = "add.Tensor(Tensor self, Tensor other) -> Tensor"
    assert str(parse_schema(line)) == f"tensix::{line}"
    assert str(parse_schema(f"aten::{line}")) == f"aten::{line}"
    assert parse_schema(str(parse_schema(line))).qualified_name == "tensix::add.Tensor"


@pytest.mark.parametrize("line", ["", "add", "add(Tensor a)", "add(Tensor a) ->", "(Tensor a) -> Tensor", "a b() -> T",
                                  "add.a.b(Tensor x) -> Tensor", "add(Tensor a -> Tensor", "x::y::z() -> Tensor"])
def test_line_that_is_no_schema(line):
    with pytest.raises(ValueError, match=r"cannot read the schema .* expected 'name"):
        parse_schema(line)


@pytest.mark.parametrize("text", ["Tensor", "Tensor a b", "self: Tensor", "Tensor self=", "Tensor 1a-b", "[] a"])
def test_argument_that_is_none_is_named(text):
    with pytest.raises(ValueError, match=r"cannot read the argument .* of the schema"):
        arguments(f"Tensor first, {text}")


def test_schemas_are_values():
    line = "f(Tensor a) -> Tensor"
    assert parse_schema(line) == parse_schema(line) and hash(parse_schema(line)) == hash(parse_schema(line))
    assert parse_schema(line) != parse_schema("g(Tensor a) -> Tensor")


def test_every_operator_has_one():
    for name in dispatcher.operators():
        schema = dispatcher.get_op_table(name).schema
        assert isinstance(schema, FunctionSchema) and schema.qualified_name == name
        assert dispatcher.get_op_table(str(schema)) is dispatcher.get_op_table(name)


@pytest.mark.parametrize("quote", ["'", '"'])
def test_default_of_many_quotes_is_read_in_bounded_time(quote):
    """Each pair of quotes could be read in two ways: of 200 pairs all ways would take years."""
    with pytest.raises(ValueError, match="cannot read the argument"):
        arguments(f"Tensor x, int n={quote * 400}nan")


# ---- what is read, and cannot be


@pytest.mark.parametrize("text, problem", [
    ("tensro x", "names the type 'tensro'"), ("Tensor x, Foo[] y", "names the type 'Foo'"),
    ("int n='a'", "gives 'n' the default 'a', which is not of type int"), ("int n=1.5", "not of type int"),
    ("bool b=1", "not of type bool"), ("int[] n=[1, 'a']", "not of type int"), ("Tensor x=3", "not of type Tensor"),
    ("str s=3", "not of type str"), ("float f=a", "not of type float"), ("Device d=3", "not of type Device"),
    ("ScalarType t=3", "not of type ScalarType"), ("int n=None", "not of type int"),
    ("int n=1, Tensor x", "has 'x' without a default behind one with a default"),
    ("int n=1, int? m, Tensor x", "has 'x' without"), ("Tensor x, *, int n, *, int m", "has two '[*]'"),
])
def test_argument_that_cannot_be(text, problem):
    with pytest.raises(ValueError, match=f"the schema .*{problem}"):
        arguments(text)


@pytest.mark.parametrize("text", [
    "int n=1, int? m=None", "int n=1, *, Tensor x", "Scalar s=1j", "float f=1", "bool[] b=[True]", "Layout l=strided",
    "int[2] n=1", "Device d=cpu", "Tensor[]? x=None", "Any x=3", "Scalar? ord, bool keepdims",
])
def test_argument_that_can_be(text):
    assert arguments(text)


# Python's parser warns of each: of 1if and 0x1for always, of unknown escapes as a DeprecationWarning before 3.12.
WARNED = ["Layout l=1if", "Layout l=0x1for", "Layout l=1_0in", "str s='\\d'", 'str s="\\400"', "Layout l=b'\\d'"]


@pytest.mark.parametrize("text", WARNED)
def test_odd_defaults_print_no_warning(text):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if text.startswith("str"):
            with pytest.raises(ValueError, match="quotes and escapes as in Python"):
                arguments(text)
        else:
            assert arguments(text)[0].default == text.partition("=")[2]
    assert caught == []


@pytest.mark.parametrize(("text", "default"), [
    (r"'a\n\x41\\\'\0'", "a\nA\\'\0"), ('"it\'s"', "it's"), ("-1.5e-3", -1.5e-3), ("0x1F", 31), ("1+2j", 1 + 2j),
    ("[(1, -2), []]", [(1, -2), []]), ("{'a': None}", {"a": None}), ("b'x'", b"x"), (".5", 0.5), ("True", True),
    ("{[]: 1}", "{[]: 1}"), ("(" * 300, "(" * 300), ("Truely", "Truely"), ("a.b", "a.b"),
])  # fmt: skip
def test_defaults(text, default):
    assert literal(text) == default


@pytest.mark.parametrize("returns", ["Tensro", "(Tensor, Tensro)", "tensor[]", "Tensro(a!)"])
def test_unknown_type_that_comes_back(returns):
    with pytest.raises(ValueError, match=r"names the type '[Tt]ens[ro]"):
        parse_schema(f"f(Tensor a) -> {returns}")


@pytest.mark.parametrize("schema", [3, None, b"f() -> Tensor"])
def test_schema_that_is_no_text(schema):
    with pytest.raises(TypeError, match="a schema is a str"):
        parse_schema(schema)


def test_every_declared_schema_can_be_read():
    """Those of tensix itself are read when they are first needed."""
    for name in dispatcher.operators():
        schema = dispatcher.get_op_table(name).schema
        assert parse_schema(str(schema)).is_same_call(schema)


def test_a_library_is_told_at_once():
    with tensix.Library("told") as library, pytest.raises(ValueError, match="names the type 'Tesnor'"):
        library.define("f(Tesnor x) -> Tensor")
