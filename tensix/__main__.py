"""The command line: ``python -m tensix``."""

import argparse
import sys
from importlib import import_module

from tensix._version import __version__
from tensix.command_line.terminal import printable

# Command -> its module in ``command_line``, and what it does. The module of the one that is asked for is imported.
COMMANDS = {
    "trace": ("trace", "run an expression and print its calls, blocks and owners"),
    "explain": ("explain", "print who owns the memory of an expression's result"),
    "memory": ("memory", "run a program and draw its memory over time"),
    "run": ("run", "run a program with NumPy's arrays in tensix's memory"),
    "inspect": ("inspect_file", "list what is in a .npy, .npz or .safetensors file"),
    "info": ("info", "print the version, the processor and the settings"),
}


def main(words=None):
    """Run a command and return the exit status.

    Parameters
    ----------
    words : list of str, optional
        The command line; that of the process if not given.
    """
    words = sys.argv[1:] if words is None else words
    parser = argparse.ArgumentParser(prog="tensix", description="Tensors whose memory you can see and steer.")
    add_version(parser)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, (module, does) in COMMANDS.items():
        command = commands.add_parser(name, help=does)
        if words[:1] == [name]:
            add_version(command)
            import_module(f"tensix.command_line.{module}").fill(command)
    arguments = parser.parse_args(words)
    try:
        return arguments.run(arguments)
    except (OSError, TypeError, ValueError) as error:
        print("\n".join(map(printable, f"tensix: {error}".split("\n"))), file=sys.stderr)
        return 2


def add_version(parser):
    """Add the option that prints the version."""
    parser.add_argument("-V", "--version", action="version", version=f"tensix {__version__}")


if __name__ == "__main__":
    sys.exit(main())
