"""``%load_ext tensix``: what ``python -m tensix memory`` does for a program, for a cell of a notebook."""

import argparse
import html
import linecache
import re
import shlex
import sys
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path

from tensix.command_line.summary import lines_of_summary
from tensix.command_line.terminal import Terminal
from tensix.core import format_size
from tensix.memory import record, serve_numpy
from tensix.memory.call_site import set_file_name
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
            following = shell.execution_count
            shell.execution_count = number_of_running_cell(shell)  # what the magic runs is part of that cell
            scopes.callback(setattr, shell, "execution_count", following)
            shell.run_cell(code if cell is None else f"# the line of the magic\n{cell}")  # lines keep their numbers
            snapshot = recording.snapshot()
        snapshot["program"] = code.strip().partition("\n")[0]
        show(snapshot, options)

    set_file_name(partial(name_of_cell, shell.compile))
    parser = Parser(prog="tensix_memory", add_help=False)
    parser.add_argument("-o", "--output")
    parser.add_argument("--height", type=int, default=800)
    parser.add_argument("--max-events", type=int, default=1_000_000)
    parser.add_argument("--no-numpy", action="store_true")
    parser.add_argument("--no-torch", action="store_true")
    shell.register_magic_function(tensix_memory, "line_cell")


def number_of_running_cell(shell):
    """Return the number of the cell that called a magic; the shell may be at the next one already."""
    frame = sys._getframe()
    while frame is not None:
        known = shell.compile.format_code_name(frame.f_code.co_filename)
        if known is not None:
            return int(re.search(r"\d+", known[1])[0])
        frame = frame.f_back
    return shell.execution_count


def name_of_cell(compiler, file):
    """Return ``cell [2]`` for the file that IPython names for a cell, whose text is known by that name, too."""
    known = compiler.format_code_name(file)
    if known is None:
        return file
    name, lines = f"cell {known[1].removeprefix('In')}", linecache.getlines(file)
    if "run_cell_magic(" not in "".join(lines[:1]):  # one line, for a cell whose text has another file
        linecache.cache[name] = sum(map(len, lines)), None, lines, name
    return name


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
