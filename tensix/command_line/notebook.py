"""``%load_ext tensix``: what ``python -m tensix memory`` does for a program, for a cell of a notebook."""

import argparse
import html
import shlex
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

from tensix.command_line.summary import lines_of_summary
from tensix.command_line.terminal import Terminal
from tensix.core import format_size
from tensix.memory import record, serve_numpy
from tensix.memory.torch_scope import TorchWhenImported
from tensix.profiling.timeline import html_of_snapshot

__all__ = ["load_ipython_extension"]

MOST_INLINE = 8 << 20  # bytes of a page that a notebook is to keep
FRAME = '<iframe srcdoc="{}" sandbox="allow-scripts" style="width: 100%; height: {}px; border: 0"></iframe>'


def load_ipython_extension(shell):
    """Make ``%tensix_memory`` and ``%%tensix_memory`` known; IPython calls this.

    Parameters
    ----------
    shell : InteractiveShell
        Which runs the cells.
    """

    def tensix_memory(line, cell=None):
        """Run a cell, or the rest of a line, and show what it did with memory.

        %%tensix_memory [-o FILE] [--height N] [--max-events N] [--no-numpy] [--no-torch]
        """
        options = parser.parse_args(shlex.split(line) if cell is not None else [])
        code = line if cell is None else cell
        if not code.strip():
            parser.error("there is nothing to run: give code on the same line, or use %%tensix_memory above a cell.")
        recording = record(max_events=options.max_events, resident=True)
        with ExitStack() as scopes:
            if not options.no_numpy:
                scopes.enter_context(serve_numpy())
            if not options.no_torch:
                scopes.enter_context(TorchWhenImported())
            scopes.enter_context(recording)
            shell.run_cell(code)
            snapshot = recording.snapshot()
        snapshot["program"] = code.strip().partition("\n")[0]
        show(snapshot, options)

    parser = Parser(prog="tensix_memory", add_help=False)
    parser.add_argument("-o", "--output")
    parser.add_argument("--height", type=int, default=800)
    parser.add_argument("--max-events", type=int, default=1_000_000)
    parser.add_argument("--no-numpy", action="store_true")
    parser.add_argument("--no-torch", action="store_true")
    shell.register_magic_function(tensix_memory, "line_cell")


class Parser(argparse.ArgumentParser):
    """A parser that does not end the process."""

    def error(self, message):
        """Raise what IPython shows as one line."""
        usage = " ".join(self.format_usage().split()).removeprefix("usage: ")
        raise import_module("IPython.core.error").UsageError(f"{message} Usage: %%{usage}")


def show(snapshot, options):
    """Print the summary, and show the page or write the file."""
    for line in lines_of_summary(snapshot, Terminal()):
        print(line)
    output = options.output
    if output is None:
        page = html_of_snapshot(snapshot)
        if len(page) <= MOST_INLINE:
            shown = {"text/html": FRAME.format(html.escape(page), options.height), "text/plain": "(a page)"}
            import_module("IPython.display").display(shown, raw=True)
            return
        output = "tensix_memory.html"
    snapshot.save(output)
    print(f"wrote {output}, {format_size(Path(output).stat().st_size)}")
