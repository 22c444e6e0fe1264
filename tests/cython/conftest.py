"""Build the Cython test module against the tensix under test, as any other project would."""

import importlib.util
import shutil
from pathlib import Path

import pytest
from Cython.Build import cythonize
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext

import tensix

HERE = Path(__file__).parent
collect_ignore = ["consumer"]  # a package of its own, whose tests run where it is installed: test_consumer.py


@pytest.fixture(scope="session")
def build_extension(tmp_path_factory):
    """Return a function that builds an extension module of C, or of Cython, and imports it."""

    def build(name, sources, **options):
        folder = tmp_path_factory.mktemp(name)
        modules = [Extension(name, [str(source) for source in sources], include_dirs=[tensix.get_include()])]
        if options:
            modules = cythonize(modules, **options)
        command = build_ext(Distribution({"name": name, "ext_modules": modules}))
        command.build_lib = command.build_temp = str(folder)
        command.ensure_finalized()
        command.run()
        spec = importlib.util.spec_from_file_location(name, command.get_ext_fullpath(name))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return build


@pytest.fixture(scope="session")
def counting(build_extension, tmp_path_factory):
    """The extension module of counting.pyx. Its only include path for Cython is where the tensix package lies."""
    source = shutil.copy(HERE / "counting.pyx", tmp_path_factory.mktemp("cython"))
    package_parent = Path(tensix.__file__).parent.parent
    return build_extension("counting", [source], include_path=[str(package_parent)], language_level=3, quiet=True)
