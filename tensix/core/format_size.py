"""Sizes for a person's eyes."""

__all__ = ["format_size"]


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
