"""What the tests of the source itself share."""

import importlib
import pkgutil
from pathlib import Path

import tensix

PACKAGE = Path(tensix.__file__).parent


def every_module():
    """Import and return every module of the package, tensix itself first."""
    found = pkgutil.walk_packages([str(PACKAGE)], "tensix.")
    return [tensix, *(importlib.import_module(info.name) for info in found if info.name != "tensix.__main__")]


def source_of(module):
    """Return the file that a module was written in, compiled or not."""
    base = Path(module.__file__).with_name(Path(module.__file__).name.partition(".")[0])
    return next(path for path in (base.with_suffix(".pyx"), base.with_suffix(".py")) if path.exists())


def pytest_generate_tests(metafunc):
    """Run tests that ask for one of these once for each: modules that define public names, sources with examples.

    The command line is there to be run, not to be imported: its modules are not public.
    """
    if "public_module" in metafunc.fixturenames:
        modules = [m for m in every_module() if getattr(m, "__all__", []) and not hasattr(m, "__path__")]
        modules = [m for m in modules if not m.__name__.startswith("tensix.command_line.")]
        metafunc.parametrize("public_module", modules, ids=lambda module: module.__name__)
    if "exemplary_module" in metafunc.fixturenames:
        modules = [(module, source_of(module).read_text()) for module in every_module()]
        modules = [pair for pair in modules if ">>> " in pair[1]]
        metafunc.parametrize("exemplary_module, source", modules, ids=[module.__name__ for module, _ in modules])
