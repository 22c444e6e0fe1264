"""Build an extension once per state of its sources, into a cache that git ignores."""

import hashlib
import importlib.util
import os
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".asv" / "native"


def build_extension(name, source, *, include_path=None, depends=(), **options):
    """Return the path of the built extension.

    Parameters
    ----------
    name : str
        Of the module or library.
    source : Path
        A ``.pyx`` or a C++ file.
    include_path : Path or None, optional
        Where Cython looks for the ``.pxd`` files of packages.
    depends : iterable of Path, optional
        What else the result depends on; a change builds again.
    **options
        For `setuptools.Extension`.
    """
    digest = hashlib.sha256(repr(sorted(options.items())).encode())
    for path in sorted([source, *depends]):
        digest.update(path.read_bytes())
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    built = CACHE / digest.hexdigest()[:16] / (name + suffix)
    if not built.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            _compile(name, source, include_path, folder, options)
            built.parent.mkdir(exist_ok=True)
            os.replace(Path(folder, name + suffix), built)  # whole or not at all, even if others build it too
    return built


def import_extension(name, source, **options):
    """Build an extension module and import it under its bare name."""
    spec = importlib.util.spec_from_file_location(name, build_extension(name, source, **options))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compile(name, source, include_path, folder, options):
    try:
        from Cython.Build import cythonize  # noqa: PLC0415  only who builds needs them
        from setuptools import Distribution, Extension  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            f"cannot build {source.name}: {error.name} is missing. Run: pip install 'Cython>=3.2.8' setuptools"
        ) from error
    extensions = [Extension(name, [str(source)], **{"extra_compile_args": ["-O2"], **options})]
    if source.suffix == ".pyx":
        extensions = cythonize(extensions, include_path=[str(include_path)], build_dir=folder, quiet=True)
    command = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib = command.build_temp = folder
    command.ensure_finalized()
    command.run()
