"""The command line: ``python -m tensix``."""

import argparse
import sys

from tensix._version import __version__
from tensix.command_line import bench, explain, info, inspect_file, memory, run, trace
from tensix.command_line.paper import printable


def main(words=None):
    """Run a command and return the exit status.

    Parameters
    ----------
    words : list of str, optional
        The command line; that of the process if not given.
    """
    parser = argparse.ArgumentParser(
        prog="tensix",
        description="Tensors whose memory you can see and steer.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tensix {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (trace, explain, memory, run, bench, inspect_file, info):
        command.add_parser(commands)
    arguments = parser.parse_args(words)
    try:
        return arguments.run(arguments)
    except (OSError, TypeError, ValueError) as error:
        print("\n".join(map(printable, f"tensix: {error}".split("\n"))), file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
