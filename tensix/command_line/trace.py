"""``python -m tensix trace``: run an expression and print the calls and blocks of its tensors, step by step."""

import argparse
import ast
import json
import os
import textwrap
import traceback
from itertools import count

import tensix
from tensix._tensor import Tensor
from tensix.command_line.terminal import Terminal
from tensix.command_line.trace_listener import TraceListener
from tensix.core import format_size

__all__ = ["fill"]

EPILOG = """examples:
  python -m tensix trace "rand(3, 4)[0] + rand(3, 4)"
  python -m tensix trace "t = randn(1000, 1000); v = t[100:200, :]; c = t.clone()"
"""


def fill(parser):
    """Describe this command and its options to its parser."""
    parser.description = (
        "Run Python code with all names of tensix imported, and print what happened: operators, dispatch keys, "
        "allocations, views, owners, frees, and a total."
    )
    parser.epilog, parser.formatter_class = EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument("code", help="an expression, or statements separated by ';' or lines")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(run=run)


def run(arguments):
    """Trace the code and print what was seen; the exit status is 1 if it raised."""
    if os.path.isfile(arguments.code) or arguments.code.endswith(".py"):
        raise ValueError(
            f"trace takes code, and {arguments.code!r} names a file. To record what the program in it allocates, run: "
            f"python -m tensix memory {arguments.code}"
        )
    report = trace(arguments.code)
    if arguments.json:
        print(json.dumps(report, indent=2))
    else:
        print("\n".join(render(report)))
    return 1 if report["error"] else 0


def trace(code):
    """Run code under the recorder; return a dict.

    It has ``"statements"`` with their events and results, ``"balance"``, and ``"error"``, None if nothing was raised.
    """
    code = textwrap.dedent(code).strip()
    report = {"code": code, "statements": [], "error": None}
    namespace = public_names()
    known = dict(namespace)
    listener = TraceListener()
    try:
        statements = ast.parse(code, "<string>").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        report["error"] = text_of(error)
        statements = []
    with listener:
        for number, statement in enumerate(statements):
            listener.events = []
            entry = {"source": ast.get_source_segment(code, statement), "events": listener.events}
            report["statements"].append(entry)
            try:
                value = execute(statement, namespace)
            except Exception as error:
                report["error"] = text_of(error)
                break
            if value is not None:
                entry["result"] = repr(value)
                entry["result_tensor"] = listener.name_of(value) if isinstance(value, Tensor) else None
                if number == len(statements) - 1:
                    namespace["the result"] = value
            del value  # a statement's value dies with it, unless it is the last: then it is the result
        report["balance"] = balance(listener, {k: v for k, v in namespace.items() if known.get(k) is not v})
    return report


def public_names():
    """Return the names that code is run with: tensix itself, and what is public in it."""
    return {"tensix": tensix} | {name: value for name, value in vars(tensix).items() if not name.startswith("_")}


def execute(statement, namespace):
    """Run one statement; return the value of an expression."""
    if isinstance(statement, ast.Expr):
        return eval(compile(ast.Expression(statement.value), "<string>", "eval"), namespace)
    exec(compile(ast.Module([statement], []), "<string>", "exec"), namespace)
    return None


def text_of(error):
    """Return an exception as Python prints it, without its traceback."""
    return "".join(traceback.format_exception_only(error)).rstrip()


def balance(listener, variables):
    """Return what was allocated and freed, and who holds what is left."""
    alive = []
    for block in listener.blocks.values():
        holders = [
            name for name, value in variables.items() if isinstance(value, Tensor) and listener.block_of(value) is block
        ]
        alive.append({"block": block["name"], "nbytes": block["nbytes"], "held_by": holders})
    return {
        "blocks_allocated": listener.blocks_made,
        "bytes_allocated": listener.stat.allocated,
        "blocks_freed": listener.blocks_freed,
        "bytes_freed": listener.stat.freed,
        "peak_bytes": listener.stat.peak,
        "alive": alive,
    }


# ---- for a person's eyes


def render(report):
    """Yield the lines of a report."""
    terminal, numbers = Terminal(), map(str, count(1))
    for entry in report["statements"]:
        yield terminal.strong(f">>> {entry['source']}")
        yield from render_events(terminal, entry["events"], numbers, 0)
        if "result" in entry:
            yield from entry["result"].splitlines()
        yield ""
    if report["error"]:
        yield terminal.bad(report["error"])
        yield ""
    if "balance" in report:
        yield from render_balance(terminal, report["balance"])


def render_events(terminal, events, numbers, depth):
    """Yield the lines of calls and of what happened to memory between them."""
    for event in events:
        if event["kind"] == "call":
            yield from render_call(terminal, event, next(numbers), depth)
        else:
            yield "    " * max(depth, 1) + render_memory(terminal, event)


def render_call(terminal, call, number, depth):
    """Yield the lines of one call and of what happened inside it."""
    indent = "    " * depth
    arguments = ", ".join(call["arguments"])
    name = call["operator"].partition("::")[2]
    yield f"{indent}{terminal.accent(number + '.')} {terminal.strong(name)}({arguments})"
    indent += "    "
    yield terminal.faint(f"{indent}schema  {call['schema']}")
    dtype = call["result"]["dtype"] if "result" in call else "none"
    yield f"{indent}chosen  key {call['key']}, kernel {call['kernel']}, dtype {dtype}"
    yield from render_events(terminal, call["events"], (f"{number}.{inner}" for inner in count(1)), depth + 1)
    if call.get("failed"):
        yield indent + terminal.bad("raised")
    elif "result" in call:
        yield f"{indent}gives   {render_result(terminal, call['result'])}"
        owners = [
            f"{name} {call['owners_before'].get(name, 0)} -> {after}" for name, after in call["owners_after"].items()
        ]
        if owners:
            yield f"{indent}owners  of the storage of {', '.join(owners)}"


def render_memory(terminal, event):
    """Return the line of one event of memory."""
    size = format_size(event["nbytes"])
    if event["kind"] == "allocate":
        maker = f", by {event['allocator']}" if "allocator" in event else ""
        return terminal.good(f"alloc   block {event['block']}: {size}, aligned to {event['aligned']}{maker}")
    if event["kind"] == "free":
        return terminal.warm(f"freed   block {event['block']}: {size}")
    return terminal.bad(f"failed  {size} could not be allocated")


def render_result(terminal, result):
    """Return what a call gave, in words."""
    name = terminal.strong(result["tensor"])
    where = f"shape {result['shape']}, stride {result['stride']}, offset {result['storage_offset']}"
    block = f"block {result['block']}" if result["block"] else "memory from outside"
    if result["in_place"]:
        return f"{name} again, written in place ({block})"
    if result["view_of"]:
        return f"{name}: {where}; {terminal.accent('a view of ' + result['view_of'])} on {block}"
    if result["copy_on_write_of"]:
        sharing = terminal.accent(f"shares {block} with {result['copy_on_write_of']}")
        return f"{name}: {where}; {sharing} until a write"
    return f"{name}: {where}; on {block}"


def render_balance(terminal, facts):
    """Yield the lines of the balance."""
    yield terminal.strong("balance")
    for word in ("allocated", "freed"):
        yield f"    {word:<10} {facts['blocks_' + word]:>3} blocks {format_size(facts['bytes_' + word]):>12}"
    yield f"    {'peak':<21}{format_size(facts['peak_bytes']):>12}"
    if not facts["alive"]:
        yield "    still alive: nothing"
    for block in facts["alive"]:
        holders = ", ".join(block["held_by"]) or "nothing that has a name here"
        yield f"    still alive: block {block['block']}, {format_size(block['nbytes'])}, held by {holders}"
