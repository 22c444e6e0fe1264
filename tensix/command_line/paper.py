"""What the output is, if it is a terminal: colours, and texts of others as text."""

import os
import sys

__all__ = ["Paper", "printable"]


def printable(text):
    """Return a text of a file so that a terminal does not obey it."""
    return text if text.isprintable() else ascii(text)


class Paper:
    """Dress words for the standard output; plain where it is no terminal or NO_COLOR is set."""

    def __init__(self):
        is_terminal = sys.stdout is not None and sys.stdout.isatty()  # None: it is closed
        self._coloured = is_terminal and "NO_COLOR" not in os.environ

    def _dress(self, code, text):
        return f"\x1b[{code}m{text}\x1b[0m" if self._coloured else text

    def strong(self, text):
        """Bold."""
        return self._dress("1", text)

    def faint(self, text):
        """Dim."""
        return self._dress("2", text)

    def accent(self, text):
        """Cyan: structure."""
        return self._dress("36", text)

    def good(self, text):
        """Green: made."""
        return self._dress("32", text)

    def warm(self, text):
        """Yellow: gone."""
        return self._dress("33", text)

    def bad(self, text):
        """Red: failed."""
        return self._dress("31", text)
