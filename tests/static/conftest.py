"""What the tests of the source itself share."""

import importlib
from importlib.util import find_spec

from floors import SOURCES, module_of

# Modules for an engine, which import it.
NEEDS = {"tensix.files.dask": "distributed", "tensix.profiling.dask": "distributed", "tensix.profiling.ray": "ray"}


def every_module():
    """Import every module of the package and return it with the file that it was written in, compiled or not.

    Those for an engine that is not installed are left out.
    """
    without = tuple(begin for begin, engine in NEEDS.items() if find_spec(engine) is None)
    files = {
        module_of(path): path for path in SOURCES
        if path.suffix != ".pxd" and path.name != "__main__.py" and path.with_name("__init__.py").exists()
    }  # fmt: skip
    return [(importlib.import_module(name), files[name]) for name in sorted(files) if not name.startswith(without)]


def pytest_generate_tests(metafunc):
    """Run tests that ask for one of these once for each: modules that define public names, sources with examples.

    The command line is there to be run, not to be imported: its modules are not public.
    """
    if "public_module" in metafunc.fixturenames:
        modules = [m for m, _ in every_module() if getattr(m, "__all__", []) and not hasattr(m, "__path__")]
        modules = [m for m in modules if not m.__name__.startswith("tensix.command_line.")]
        metafunc.parametrize("public_module", modules, ids=lambda module: module.__name__)
    if "exemplary_module" in metafunc.fixturenames:
        modules = [(module, path.read_text()) for module, path in every_module()]
        modules = [pair for pair in modules if ">>> " in pair[1]]
        metafunc.parametrize("exemplary_module, source", modules, ids=[module.__name__ for module, _ in modules])
