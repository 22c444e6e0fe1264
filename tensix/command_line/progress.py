"""Progress on a terminal."""

import sys

__all__ = ["Progress"]


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
