"""Run a program whose processes tensix sets up.

Note [How a program is set up]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Python itself runs the program, as if it had been started without tensix: a script, a module, a folder, with threads,
processes and exit status. Only its environment differs. ``PYTHONPATH`` begins with the folder ``at_startup``, whose
``sitecustomize`` every Python imports when it starts, and ``TENSIX_PROGRAM`` says what to do, as a dict.
``program_setup.py`` does it when the process imports NumPy. A process that the program starts inherits the environment
and does the same; a fork, which starts no interpreter, goes on by ``os.register_at_fork``.

So Python starts twice, for ``run`` and for the program. To run the program in the same interpreter would save one
start, but tracebacks, the stack and ``__main__`` would differ from those of the program by itself. Instead the first
start is kept short: ``tensix/__init__.py`` calls ``run`` and ``memory`` before it imports anything else, such as
NumPy. What ``memory`` needs of it, ``report.py`` imports while the program runs.
"""

import argparse
import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from tensix.command_line.process_memory import limit_to

__all__ = [
    "add_native", "add_program", "exchange_for", "folder_of", "name_of", "preloaded_library", "run_and_wait",
    "words_of",
]

PAUSE = 0.1
STARTUP = Path(__file__).with_name("at_startup")
PRELOADED = Path(__file__).parent.with_name("memory") / f"preloaded{EXTENSION_SUFFIXES[0]}"
PASSED_ON = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]


def add_program(parser, also=""):
    """Add the arguments that say what to run, which are those of Python; `also` is what else the first word may be."""
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE ARGS",
                        help="run a module, as python -m does")  # fmt: skip
    parser.add_argument("-c", dest="code", nargs=argparse.REMAINDER, metavar="CODE ARGS",
                        help="run code, as python -c does")  # fmt: skip
    program = parser.add_argument("program", nargs=argparse.PARSER, metavar=f"SCRIPT{also} ARGS",
                                  help="a script, a folder or zip file with a __main__.py; its arguments")  # fmt: skip
    program.required = False


def words_of(arguments):
    """Return the program and its arguments as words for Python.

    Raises ValueError if there is no program or more than one, FileNotFoundError if the script or folder is not there.
    """
    forms = {"-m": arguments.module, "-c": arguments.code, "": arguments.program}
    given = {flag: words for flag, words in forms.items() if words is not None}
    if len(given) != 1:
        found = " and ".join(" ".join([flag, *words]).strip() for flag, words in given.items()) or "none"
        raise ValueError(f"give one program: SCRIPT, -m MODULE or -c CODE, and its arguments after it; found {found}.")
    [(flag, words)] = given.items()
    if not words:
        raise ValueError(f"{flag} is followed by what to run: {'-m MODULE' if flag == '-m' else '-c CODE'}.")
    if flag:
        return [flag, *words]
    if words[0] != "-" and not os.path.exists(words[0]):
        raise FileNotFoundError(f"there is no script or folder {words[0]!r}. A module is run by -m, code by -c.")
    if os.path.isdir(words[0]) and not os.path.exists(os.path.join(words[0], "__main__.py")):
        raise FileNotFoundError(f"the folder {words[0]!r} has no __main__.py: name the script that begins the program.")
    return words


def name_of(words):
    """Return how to call a program in the name of a file."""
    if words[0] == "-m":
        return words[1]
    if words[0] in ("-c", "-"):
        return "code"
    return Path(words[0]).absolute().stem


def folder_of(words):
    """Return the folder from which a program imports before all others."""
    if words[0] in ("-m", "-c", "-"):
        return os.getcwd()
    return os.path.abspath(words[0] if os.path.isdir(words[0]) else os.path.dirname(words[0]))


def environment_of(settings):
    """Return the environment of a program that tensix sets up."""
    if sys.flags.ignore_environment or sys.flags.no_site:
        raise ValueError("Python's options -I, -E and -S turn off PYTHONPATH, by which tensix gets inside a program: "
                         "leave them out.")  # fmt: skip
    paths = [str(STARTUP), os.environ.get("PYTHONPATH")]
    path = os.pathsep.join(filter(None, paths))
    environment = {**os.environ, "PYTHONPATH": path, "TENSIX_PROGRAM": repr(settings)}
    if "t" in getattr(sys, "abiflags", ""):  # without the GIL, Python commits a gigabyte at once, which limits count
        environment = {"MIMALLOC_ARENA_EAGER_COMMIT": "0", "MIMALLOC_EAGER_COMMIT": "0", **environment}
    if settings.get("native"):
        environment["LD_PRELOAD"] = ":".join(filter(None, [settings["native"], os.environ.get("LD_PRELOAD")]))
        environment.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # its own maps a gigabyte and divides it unseen
    return environment


def add_native(parser):
    """Add the option that records blocks of other libraries."""
    parser.add_argument("--native", action="store_true", help="also record blocks of 64 KiB and more that other "
                        "libraries and Python itself allocate. Linux with glibc only")  # fmt: skip


def preloaded_library(wanted):
    """Return the library that hears of the blocks of other libraries, None where there is none, after saying so."""
    if not wanted:
        return None
    if sys.platform != "linux" or not PRELOADED.exists():
        print("tensix: --native is left out: it needs Linux with glibc, and the GIL.", file=sys.stderr)
        return None
    path = PRELOADED
    if set(str(path)) & set(" :"):  # which divide the names in LD_PRELOAD
        folder = import_module("tempfile").mkdtemp(prefix="tensix-")  # few programs need it
        atexit.register(import_module("shutil").rmtree, folder, ignore_errors=True)
        path = Path(folder, PRELOADED.name)
        path.symlink_to(PRELOADED)
    return str(path)


def command_of(words):
    """Return a program's command line, with the options that this Python runs with."""
    return [sys.executable, *subprocess._args_from_interpreter_flags(), *words]


def exchange_for(words, settings):
    """Become the program: the process stays the same, what runs in it is exchanged."""
    command, environment = command_of(words), environment_of(settings)
    if sys.platform == "win32":  # there the process would end at once, and the program go on by itself
        return subprocess.call(command, env=environment)
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None: it is closed
        stream.flush()
    return os.execve(command[0], command, environment)


def run_and_wait(words, settings, meanwhile, limit=None):
    """Run a program beside this process, to which signals for the program are sent.

    `meanwhile` is called with the number of the process at once, every `PAUSE` seconds while it runs, and when it has
    ended. `limit` is the most private memory of the process, in bytes. See Note [Limits of processes] in
    ``process_memory.py``. Returned are the number of the process, and its exit status as shells count: 128 and the
    signal, if one ended it.
    """
    process = None

    def pass_on(number, frame):
        if process is not None and not (number == signal.SIGINT and is_in_foreground()):
            process.send_signal(number)

    passed_on = [*PASSED_ON, *([signal.SIGUSR2] if settings.get("black_box", {}).get("usr2") else [])]
    # Not to be ignored: that the program would inherit.
    before = {number: signal.getsignal(number) for number in passed_on}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, pass_on)
    try:
        process = subprocess.Popen(command_of(words), env=environment_of(settings))
        if limit is not None:  # Python has not begun yet
            with contextlib.suppress(ProcessLookupError):
                limit_to(limit, process.pid)
        waiter = threading.Thread(target=process.wait, daemon=True)  # with a timeout it polls, 20 times a second
        waiter.start()
        has_ended = False
        while not has_ended:
            has_ended = not waiter.is_alive()
            meanwhile(process.pid)
            waiter.join(PAUSE)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    status = process.wait()
    return process.pid, status if status >= 0 else 128 - status


def is_in_foreground():
    """Whether Ctrl-C on our terminal reaches this process, and so the program too."""
    try:
        with open("/dev/tty") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
