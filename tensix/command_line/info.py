"""``python -m tensix info``: print versions and the default allocator."""

import json
import platform

import numpy as np

import tensix
from tensix.command_line.terminal import Terminal
from tensix.core import CPUAllocator, format_size, get_allocator
from tensix.dispatch import dispatcher
from tensix.loops.corrected_loops import math_in_use

__all__ = ["fill"]


def fill(parser):
    """Describe this command and its options to its parser."""
    parser.description = "Print the versions of tensix, Python and NumPy, and the default allocator."
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(run=run)


def run(arguments):
    """Print the facts."""
    facts = {
        "tensix": tensix.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "mathematics": math_in_use(),
        "cpu allocator": repr(get_allocator("cpu")),
        "bytes in use": CPUAllocator.bytes_in_use(),
        "operators": dispatcher.operators(),
    }
    if arguments.json:
        print(json.dumps(facts, indent=2))
        return 0
    terminal = Terminal()
    facts["bytes in use"] = format_size(facts["bytes in use"])
    facts["operators"] = f"{len(facts['operators'])}, named by --json"
    for name, value in facts.items():
        print(f"{terminal.strong(f'{name:<14}')} {value}")
    return 0
