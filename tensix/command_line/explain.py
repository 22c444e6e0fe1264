"""``python -m tensix explain``: run code and say who owns the memory of what it gives."""

import ast
import json
from pathlib import Path

import tensix
from tensix.command_line.terminal import Terminal
from tensix.command_line.trace import execute, public_names, text_of

__all__ = ["fill"]


def fill(parser):
    """Describe this command and its options to its parser."""
    parser.description = (
        "Run Python code with all names of tensix imported, and print the owners of the memory of the last "
        "expression's value, from the handle to the bytes."
    )
    parser.add_argument("code", help="an expression, or statements separated by ';' or lines, an expression last")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument("--svg", metavar="FILE", help="also draw them, into this file")
    parser.set_defaults(run=run)


def run(arguments):
    """Print the explanation; the exit status is 1 if the code raised."""
    namespace = public_names()
    value = None
    try:
        for statement in ast.parse(arguments.code.strip(), "<string>").body:
            value = execute(statement, namespace)
    except Exception as error:
        print(Terminal().bad(text_of(error)))
        return 1
    explanation = tensix.explain(value)  # the names are still there, and so are their tensors
    if arguments.svg:
        Path(arguments.svg).write_text(explanation.svg(), encoding="utf-8")
    print(json.dumps(explanation.to_dict(), indent=2) if arguments.json else explanation)
    return 0
