"""Sizes as text, both ways."""

import pytest

from tensix.core import format_size, parse_size


@pytest.mark.parametrize(
    "nbytes, text",
    [(0, "0 bytes"), (1024, "1024 bytes"), (1025, "1.00 KiB"), (-(1 << 20), "-1.00 MiB"), (5 << 40, "5120.00 GiB")],
)
def test_format(nbytes, text):
    assert format_size(nbytes) == text


@pytest.mark.parametrize(
    "text, nbytes",
    [("100", 100), ("1 b", 1), ("7 bytes", 7), ("2KiB", 2048), ("2 kb", 2000), ("1.5GiB", 3 << 29), (0, 0),
     (" 1 TiB ", 1 << 40), ("500M", 500 << 20), ("2g", 2 << 30), ("1.5 k", 1536), ("3T", 3 << 40),
      (1 << 70, 1 << 70), ("9007199254740993", 9007199254740993), ("0.29 KB", 290), ("9" * 400 + ".5", 10**400 - 1)],
)  # fmt: skip
def test_parse(text, nbytes):
    assert parse_size(text) == nbytes


@pytest.mark.parametrize("text", ["", "GiB", "-1", "1 parsec", "1e9", "1,000", "½ GiB", -1, "1 m m", "M", "1ki"])
def test_no_size(text):
    with pytest.raises(ValueError, match="a size"):
        parse_size(text)


@pytest.mark.parametrize("thing", [None, 1.5, True, b"1"])
def test_no_number(thing):
    with pytest.raises(TypeError, match="a size is an int or a text"):
        parse_size(thing)
