"""What a build needs of the machine. setup.py asks first, so that what is missing is said before Cython starts.

Older versions of Python read this as well.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile

ROOM = 200 << 20  # bytes: what is generated and compiled takes 100 MiB
COMPILER = (
    "type `sudo apt install gcc libc6-dev` on Debian or Ubuntu, `sudo dnf install gcc glibc-devel` on Fedora, "
    "`xcode-select --install` on macOS"
)
HEADERS = (
    "type `sudo apt install python3-dev` on Debian or Ubuntu, `sudo dnf install python3-devel` on Fedora, "
    "`brew install python` on macOS, or install a Python that has its headers"
)
PYTHON = (
    "type `sudo apt install python3 python3-venv python3-dev` on Debian or Ubuntu, "
    "`sudo dnf install python3 python3-devel` on Fedora, `brew install python` on macOS, "
    "and make a new environment with that Python"
)


def missing(folder):
    """Return a sentence that says what this machine lacks and what to type, None if it lacks nothing.

    Parameters
    ----------
    folder : str
        Where the build writes.
    """
    version = sys.version_info[:3]
    if version < (3, 11):
        return f"tensix needs Python 3.11 or newer, found {'.'.join(map(str, version))} ({sys.executable}): {PYTHON}."
    if sys.maxsize < 1 << 32:
        return f"tensix needs a Python of 64 bits, found one of 32 ({sys.executable}): on a 64-bit system, {PYTHON}."
    return missing_compiler() or missing_room(folder)


def missing_compiler():
    """Return a sentence if there is no C compiler, or no Python.h."""
    if sys.platform == "win32":
        return None  # setuptools finds Microsoft's compiler, or says that it is missing
    command = compiler()
    name = " ".join(command)
    if not command or shutil.which(command[0]) is None:
        chosen = ", which CC names," if os.environ.get("CC") else ""
        unset = "unset CC, or " if chosen else ""
        return f"tensix needs a C compiler, and `{name}`{chosen} was not found: {unset}{COMPILER}."
    if compiles("#include <Python.h>"):
        return None
    if not compiles("#include <stdio.h>"):
        return f"tensix needs a C compiler, and `{name}` compiles no program that includes <stdio.h>: {COMPILER}."
    include = sysconfig.get_path("include")
    return f"tensix needs the header Python.h of {sys.executable}, and it was not found in {include}: {HEADERS}."


def missing_room(folder):
    """Return a sentence if what a build makes does not fit."""
    above = os.path.abspath(folder)
    made = sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(above) for name in names)
    while not os.path.exists(above):
        above = os.path.dirname(above)
    have = shutil.disk_usage(above).free + made
    if have >= ROOM:
        return None
    return (
        f"tensix needs {ROOM >> 20} MiB to be built, and {above} has {have >> 20} MiB: free some, by `sudo apt clean` "
        "on Debian or Ubuntu, `sudo dnf clean all` on Fedora, `brew cleanup` on macOS, or `pip cache purge`."
    )


def known_options(options, step="-c"):
    """Return those of some options that the compiler knows, or the linker if the step is ``-shared``."""
    if compiles("int tensix;", ["-Werror", *options], step):
        return options
    return [option for option in options if compiles("int tensix;", ["-Werror", option], step)]


def is_true(condition):
    """Whether a condition of the preprocessor holds for what the compiler builds for."""
    return sys.platform != "win32" and compiles(f"#include <stdlib.h>\n#if !({condition})\n#error\n#endif")


def compiler():
    """Return the words of the command by which setuptools compiles C."""
    return shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")


def compiles(text, options=(), step="-c"):
    """Whether the compiler compiles a text, and links it if the step says so."""
    places = {f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tensix.c")
        with open(path, "w", encoding="ascii") as file:
            file.write(text + "\n")
        flags = shlex.split(os.environ.get("CFLAGS", ""))
        command = [*compiler(), *flags, *options, *sorted(places), step, path, "-o", f"{path}.o"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
