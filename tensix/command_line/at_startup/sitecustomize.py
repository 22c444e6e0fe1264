"""Begin what ``python -m tensix memory`` and ``run`` ask for, in each process of their program with NumPy or PyTorch.

Python's `site` imports this first of all. See Note [How a program is set up] in ``command_line/program.py``.
It must do nothing in a Python that tensix was not built for, and cost nothing in a process without these.
"""

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder

HERE = os.path.dirname(__file__)
PACKAGE = os.path.dirname(os.path.dirname(HERE))
PACKAGE_HOME = os.path.dirname(PACKAGE)
FURTHER = ("torch", "distributed")


def module_at(name, path=None):
    """Return a module that is not executed yet, and its loader; None if there is none."""
    spec = PathFinder.find_spec(name, path)
    return spec and (import_module("importlib.util").module_from_spec(spec), spec.loader)


def wait():
    """Begin once NumPy or tensix is imported, and once more for each of the others."""
    module, loader = module_at("after_import", [os.path.join(PACKAGE, "_support")])
    loader.exec_module(module)
    for names in (("numpy", "tensix"), *[(name,) for name in FURTHER]):
        module.AfterImport(begin, *names)


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
    found = module_at("sitecustomize")
    if found is not None:
        sys.modules["sitecustomize"], loader = found
        loader.exec_module(sys.modules["sitecustomize"])


if "TENSIX_PROGRAM" in os.environ:
    if "'usr2': True" in os.environ["TENSIX_PROGRAM"]:  # see Note [The black box] in command_line/black_box.py
        signal = import_module("signal")
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    if "numpy" in sys.modules:
        begin("numpy")
    else:
        wait()
pass_on()
