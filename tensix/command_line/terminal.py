"""Colours on a terminal, and texts from elsewhere without control characters."""

import os
import sys

__all__ = ["Terminal", "printable"]


def printable(text):
    """Return a text with its control characters escaped."""
    return text if text.isprintable() else ascii(text)


class Terminal:
    """Colour words for the standard output, if it is a terminal and NO_COLOR is not set."""

    def __init__(self):
        is_terminal = sys.stdout is not None and sys.stdout.isatty()  # None: it is closed
        self._is_coloured = is_terminal and "NO_COLOR" not in os.environ

    def _colour(self, code, text):
        return f"\x1b[{code}m{text}\x1b[0m" if self._is_coloured else text

    def strong(self, text):
        """Bold."""
        return self._colour("1", text)

    def faint(self, text):
        """Dim."""
        return self._colour("2", text)

    def accent(self, text):
        """Cyan: structure."""
        return self._colour("36", text)

    def good(self, text):
        """Green: made."""
        return self._colour("32", text)

    def warm(self, text):
        """Yellow: gone."""
        return self._colour("33", text)

    def bad(self, text):
        """Red: failed."""
        return self._colour("31", text)
