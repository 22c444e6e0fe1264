"""Sizes for a person's eyes, and from a person's hand."""

import re

__all__ = ["format_size", "parse_size"]

UNITS = {"": 1, "b": 1, "byte": 1, "bytes": 1}
for _exponent, _letter in enumerate("kmgt", 1):
    UNITS[_letter] = UNITS[f"{_letter}ib"] = 1024**_exponent  # as systemd, Docker and the shell's tools count
    UNITS[f"{_letter}b"] = 1000**_exponent


def format_size(nbytes: int) -> str:
    """Return a number of bytes as a person reads it.

    Up to 1,024 in bytes, then in KiB, MiB or GiB with two decimals.

    Examples
    --------
    >>> from tensix.core import format_size
    >>> format_size(1024), format_size(67_108_864)
    ('1024 bytes', '64.00 MiB')
    """
    if abs(nbytes) <= 1024:
        return f"{nbytes} bytes"
    exponent = 3 if abs(nbytes) >= 1024**3 else 2 if abs(nbytes) >= 1024**2 else 1
    return f"{nbytes / 1024**exponent:.2f} {('KiB', 'MiB', 'GiB')[exponent - 1]}"


def parse_size(size: int | str) -> int:
    """Return the bytes that a number or a text such as ``"1.5GiB"`` means.

    Parameters
    ----------
    size : int or str
        Bytes, or a number and a unit, in small or capital letters: ``K``, ``M``, ``G``, ``T`` and ``KiB``, ``MiB``,
        ``GiB``, ``TiB`` count by 1024, ``KB``, ``MB``, ``GB``, ``TB`` by 1000; ``B``, ``byte``, ``bytes`` and no unit
        are bytes.

    Returns
    -------
    int
        Bytes, rounded down.

    Raises
    ------
    ValueError
        If the text is not a number with one of these units, or the size is negative.
    TypeError
        If the size is neither an int nor a text.

    Examples
    --------
    >>> from tensix.core import parse_size
    >>> parse_size("64 KiB"), parse_size("64K"), parse_size("2 MB"), parse_size(100)
    (65536, 65536, 2000000, 100)
    """
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", size.lower())
        if match is None or match[2] not in UNITS:
            raise ValueError(f"a size is a number and a unit such as '512M' or '1.5 GiB', found {size!r}.")
        whole, _, part = match[1].partition(".")
        return int(whole + part) * UNITS[match[2]] // 10 ** len(part)
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"a size is an int or a text such as '512MiB', found {type(size).__name__}.")
    if size < 0:
        raise ValueError(f"a size in bytes must be 0 or more, found {size}.")
    return size
