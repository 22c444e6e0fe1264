"""Colours and progress on a terminal, and texts from elsewhere without control characters."""

import os
import sys
from functools import partialmethod

__all__ = ["Progress", "Terminal", "printable"]


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

    strong = partialmethod(_colour, "1")
    faint = partialmethod(_colour, "2")
    accent = partialmethod(_colour, "36")  # structure
    good = partialmethod(_colour, "32")  # made
    warm = partialmethod(_colour, "33")  # gone
    bad = partialmethod(_colour, "31")  # failed


class Progress:
    """One line on the standard error, removed when the work is done; nothing if that is not a terminal."""

    def __enter__(self):
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        return self

    def say(self, text):
        """Put a text in place of the one before."""
        if self._is_shown:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *exc_info):
        self.say("")
