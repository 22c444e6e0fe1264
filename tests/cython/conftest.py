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
def counting(tmp_path_factory):
    """The extension module of counting.pyx. Its only include path is where the tensix package lies, for Cython."""
    folder = tmp_path_factory.mktemp("cython")
    source = shutil.copy(HERE / "counting.pyx", folder)
    package_parent = Path(tensix.__file__).parent.parent
    modules = cythonize(
        [Extension("counting", [str(source)])], include_path=[str(package_parent)], language_level=3, quiet=True
    )
    command = build_ext(Distribution({"name": "counting", "ext_modules": modules}))
    command.build_lib = command.build_temp = str(folder)
    command.ensure_finalized()
    command.run()
    spec = importlib.util.spec_from_file_location("counting", command.get_ext_fullpath("counting"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
