"""Progress on a terminal."""

import contextlib
import sys

__all__ = ["progress"]


@contextlib.contextmanager
def progress(text):
    """Show a line on the standard error until the work is done; nothing if that is not a terminal."""
    is_shown = sys.stderr is not None and sys.stderr.isatty()
    if is_shown:
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
