"""Begin what ``python -m tensix memory`` and ``run`` ask for, in each process of their program with NumPy or PyTorch.

Python's `site` imports this first of all. See Note [How a program is set up] in ``command_line/program.py``.
It must do nothing in a Python that tensix was not built for, and cost nothing in a process without these.
"""

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder

__all__ = []

HERE = os.path.dirname(__file__)
FURTHER = ("torch", "distributed")
PACKAGE_HOME = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))


class BeginAfterImport:
    """A finder that begins once NumPy or tensix is imported, and once more for each of the others."""

    def __init__(self):
        self.awaited = {"numpy", "tensix", *FURTHER}

    def find_spec(self, name, path=None, target=None):
        """Have the module's loader begin when it is done."""
        if name not in self.awaited:
            return None
        self.awaited -= {name} if name in FURTHER else {"numpy", "tensix"}
        if not self.awaited:
            sys.meta_path.remove(self)
        spec = import_module("importlib.util").find_spec(name)
        if spec is not None:
            loader, execute = spec.loader, spec.loader.exec_module

            def execute_and_begin(module):
                del loader.exec_module
                execute(module)
                begin(name)

            loader.exec_module = execute_and_begin
        return spec


def begin(name):
    """Import tensix and begin, where tensix can be imported, after a module of this name was imported."""
    sys.path.append(PACKAGE_HOME)
    try:
        setup = import_module("tensix.command_line.program_setup")
    except ImportError:  # another version of Python, or of NumPy
        return
    finally:
        sys.path.remove(PACKAGE_HOME)
    setup.begin(os.environ["TENSIX_PROGRAM"])
    if name in FURTHER:
        setup.begin_further(name)


def pass_on():
    """Make way for the next module of this name, which the user may have."""
    sys.path[:] = [path for path in sys.path if path != HERE]
    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None:
        module = sys.modules["sitecustomize"] = import_module("importlib.util").module_from_spec(spec)
        spec.loader.exec_module(module)


if "TENSIX_PROGRAM" in os.environ:
    if "'usr2': True" in os.environ["TENSIX_PROGRAM"]:  # see Note [The black box] in command_line/black_box.py
        signal = import_module("signal")
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    if "numpy" in sys.modules:
        begin("numpy")
    else:
        sys.meta_path.insert(0, BeginAfterImport())
pass_on()
