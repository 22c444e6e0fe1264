"""Pack a wheel of the tensix that is built in place: ``python pack_wheel.py ROOT TARGET``. Nothing is compiled.

It is the wheel that ``pip wheel`` would build, by the same pyproject.toml, in seconds in place of minutes: only the
step that compiles the modules copies the shared object that lies beside its source.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class CopyBuilt(build_ext):
    """Copy the shared object that is built in place."""

    def build_extension(self, ext):
        built = Path(self.get_ext_filename(ext.name))
        newer = [path for path in ext.sources if Path(path).stat().st_mtime > built.stat().st_mtime]
        if newer:
            sys.exit(f"{built} is older than {newer[0]}: build it again with pip install -e .")
        self.copy_file(str(built), self.get_ext_fullpath(ext.name))


root, target = (Path(argument).resolve() for argument in sys.argv[1:])
os.chdir(root)
compiled = [path for path in Path("tensix").rglob("*.py") if "\nimport cython\n" in path.read_text()]
sources = sorted(path.as_posix() for path in [*Path("tensix").rglob("*.pyx"), *compiled])
setup(
    ext_modules=[Extension("tensix._modules", sources)],
    cmdclass={"build_ext": CopyBuilt},
    options={"build": {"build_base": str(target / "build")}, "egg_info": {"egg_base": str(target)}},
    script_args=["-q", "bdist_wheel", "--dist-dir", str(target)],
)
