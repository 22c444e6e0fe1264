"""The extension modules and how Cython compiles them; everything else is in pyproject.toml."""

import os
import sys
from sysconfig import get_config_var, get_platform

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from build_check import is_true, known_options, missing

# Of each interpreter its own: NumPy's declarations, which Cython reads, differ from version to version.
BUILD = f"build/{get_platform()}-{sys.implementation.cache_tag}"
found_missing = missing(BUILD)
if found_missing:
    sys.exit(found_missing)

import gc
import hashlib
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import Cython
import numpy as np
from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from Cython.Compiler.Main import CompilationOptions, Context
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

# Cython makes and keeps many small objects: to look for cycles after each 700 takes a third of its time.
gc.set_threshold(200_000)

# A .pyx is Cython; a .py that imports cython is plain Python, and compiled by Cython's pure Python mode.
PURE = [path for path in Path("tensix").rglob("*.py") if "\nimport cython\n" in path.read_text()]
MODULES = sorted(path.as_posix() for path in [*Path("tensix").rglob("*.pyx"), *PURE])

# TENSIX_DEBUG=1 turns on the assertions of tensix/core/assert.h, Cython's own checks, and debug symbols with
# the lines of Cython files. Build it in a folder of its own, as .ci/debug does: the other build would be lost.
DEBUG = os.environ.get("TENSIX_DEBUG") == "1"
# TENSIX_SANITIZE=address,undefined or =thread instruments the modules; .ci/sanitize builds and runs such copies.
SANITIZE = [f"-fsanitize={os.environ['TENSIX_SANITIZE']}"] if os.environ.get("TENSIX_SANITIZE") else []
#
# Note [Signatures of classes]
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# Cython writes signatures of functions and methods, but not of classes, where CPython looks for them: in front of the
# docstring, as its own classes in C have them. There they are written by hand, and checked against the .pyi files.
DIRECTIVES = {
    "language_level": 3,
    # Off: 5 ns less per call of a method, and a quarter less import. On, said there, for Python classes, whose
    # docstrings would begin with the signature, and for static methods, which pickle finds by their qualified names.
    "binding": False,
    "embedsignature": True,
    "infer_types": True,  # C integers stay C integers without a declaration each
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": True,
    "autotestdict": False,  # doctests are found by their docstrings; a second copy would run them twice
    "unraisable_tracebacks": False,  # True prints past sys.unraisablehook, and SystemExit would end the process
    "embedsignature.format": "clinic",  # what inspect.signature reads
    "freethreading_compatible": True,  # see Note [Without the GIL] in tensix/core/free_threading.pxd
    "auto_pickle": False,  # counts and addresses must never be pickled by accident
}
INCLUDED_FIRST = ["tensix/core/traceback.h", "tensix/_support/argument_errors.h"]
if sys.platform == "win32":
    COMPILE_ARGS = ["/O2", "/std:c11", *[f"/FI{header}" for header in INCLUDED_FIRST]]
else:
    COMPILE_ARGS = ["-fno-strict-aliasing", "-Wno-unused-function", "-g" if DEBUG else "-g0"]
    # A loop that lies across a cache line runs at half its speed: copies of every second float64 took 1.9 of NumPy's.
    # Small calls take 0.94 to 1.12 of their time by where functions begin, so these begin with a line.
    COMPILE_ARGS += ["-falign-loops=32", "-falign-functions=64"]
    if sys.platform == "linux":
        # Calls of CPython go through the address that the loader found, not through a jump to it: `empty` takes 15 ns
        # less of 155, `view` and `shape` 3.
        COMPILE_ARGS += ["-fno-plt"]
    # A product and a sum are rounded each, as NumPy does: where the processor has an instruction for both, as all ARM64
    # have, compilers would round once, and numbers would differ from machine to machine.
    COMPILE_ARGS += ["-ffp-contract=off"]
    # Errors for every compiler, because they are so for GCC 14 and later.
    COMPILE_ARGS += [f"-Werror={fault}" for fault in ("incompatible-pointer-types", "int-conversion")]
    COMPILE_ARGS = known_options(COMPILE_ARGS)
    COMPILE_ARGS += [part for header in INCLUDED_FIRST for part in ("-include", header)]
if SANITIZE:
    COMPILE_ARGS += [*SANITIZE, "-g1", "-fno-omit-frame-pointer"]
# Strings as they are: to unpack those of all modules at import would take longer than to read them.
MACROS = [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"), ("CYTHON_COMPRESS_STRINGS", "0")]
# All that NumPy 2.0 has: the headers of that version offer by themselves what 1.19 had.
MACROS += [("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION")]
# Code and constants in one mapping each: to map and link a module is a good part of what it costs at import.
LINK_ARGS = known_options(["-Wl,-z,noseparate-code"], "-shared") if sys.platform == "linux" else []
LINK_ARGS += SANITIZE
# What the compiler builds for may be another machine, so it is asked.
# See Note [Vector mathematics] in tensix/loops/vector_math.h, which has the same condition.
HAS_VECTOR_MATH = is_true("defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && __GLIBC_PREREQ(2, 35)")
# See tensix/memory/running_code.h.
HAS_PRELOADED = is_true("defined(__linux__) && defined(__GLIBC__)") and not get_config_var("Py_GIL_DISABLED")
# Loops of our own over elements that the compiler can take many at once; GCC does so from -O3 on.
VECTORISED = (
    "kernels/indexing", "kernels/manipulation", "kernels/random", "kernels/searching", "kernels/sets",
    "kernels/sorting", "kernels/statistical", "loops/conversion", "loops/corrected_loops",
)  # fmt: skip
# What small calls go through. The others are as fast at -O1, which takes GCC two thirds of the time.
HOT = (
    "_tensor", "core/", "dispatch/", "kernels/creation", "kernels/views", "loops/", "memory/caching_allocator",
    "memory/numpy_memory", "memory/torch_memory", "memory/block_records", "tensors/",
)  # fmt: skip


def further_args(path):
    """Return the compiler options of one module: how far to optimise it."""
    name = path.removeprefix("tensix/")
    if sys.platform == "win32":
        return []
    if name.startswith(VECTORISED):
        # Roots and choices take vectors: only if neither errno nor exceptions of floating point count.
        roots = ["-fno-math-errno", "-fno-trapping-math"] * name.startswith(("kernels/random", "loops/corrected_loops"))
        return ["-O3", *roots]
    throws = ["-fexceptions"] * (name == "memory/torch_memory.pyx")  # PyTorch's error passes through it
    return ["-O2" if name.startswith(HOT) else "-O1", *throws]


FURTHER_ARGS = {path: further_args(path) for path in MODULES}

# See Note [One shared object] in tensix/_modules.pyx, the importer. Cython names the function that makes a module after
# the last part of the module's name; in one shared object it needs the whole name.
IMPORTER = "tensix._modules"
NAMES = {path.rpartition(".")[0].replace("/", "."): path for path in MODULES}
TABLE = Path(BUILD, "modules.h")
ENTRIES = "".join(f'MODULE({name.replace(".", "_")}, "{name}")\n' for name in NAMES if name != IMPORTER)
RENAMED = {
    name: [("CYTHON_NO_PYINIT_EXPORT", "1"), (f"PyInit_{name.rpartition('.')[2]}", f"PyInit_{name.replace('.', '_')}")]
    for name in NAMES
    if name != IMPORTER
}

modules = [
    Extension(
        name,
        [path],
        include_dirs=[".", "tensix/include", TABLE.parent.as_posix(), np.get_include()],
        define_macros=MACROS + RENAMED.get(name, []) + [("TENSIX_DEBUG", "1")] * DEBUG,
        extra_compile_args=COMPILE_ARGS + FURTHER_ARGS[path] + os.environ.get("TENSIX_CFLAGS", "").split(),
        depends=[TABLE.as_posix()] if name == IMPORTER else [],
    )
    for name, path in NAMES.items()
]


# What everything that is compiled depends on. If it changes, all is made again.
SETTINGS = Path(BUILD, "settings")
MADE_WITH = "\n".join(map(str, [
    sys.version, Cython.__version__, np.__version__, *map(os.environ.get, ("CC", "CFLAGS")), DIRECTIVES,
    COMPILE_ARGS, FURTHER_ARGS, MACROS, os.environ.get("TENSIX_CFLAGS"), DEBUG,
]))  # fmt: skip

# Note [Made of]
# ~~~~~~~~~~~~~~
# A C file is kept if the .pyx or .py that it was made of, and what that cimports, have the same contents; an object
# file, if tensix's headers have as well. Times say nothing of files that were deleted, unpacked with their old times,
# or not written to the end. A C file ends with a fingerprint of what it was made of, which is added when Cython is
# done. An object file has one in its name, and gets that name when the compiler is done.


@cache
def headers_of(path):
    """Return the headers of tensix that a file names, directly or not."""
    text = Path(path).read_text(encoding="utf-8")
    found = re.findall(r'[<"](tensix/[\w/]+\.h)[">]', text)
    found = {name if Path(name).exists() else f"tensix/include/{name}" for name in found}
    return found.union(*map(headers_of, found))


@cache
def digest(path):
    """Return a hash of a file's contents."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def fingerprint(paths):
    """Return a text that differs if files have other names or contents."""
    return hashlib.sha256("".join(path + digest(path) for path in sorted(paths)).encode()).hexdigest()[:32]


def longest_first(module):
    """Return a key that brings modules into the order in which they are compiled, side by side."""
    return "-O3" not in module.extra_compile_args, -os.path.getsize(module.sources[0])


class BuildPy(build_py):
    """Copy the Python files to an empty folder: what was deleted since an earlier build is not to be installed."""

    def run(self):
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class BuildExt(build_ext):
    """Compile each module by itself, those that changed and side by side, and link them to one shared object."""

    def finalize_options(self):
        # An editable install builds where `build_ext --inplace` does: pip's folder is new each time.
        if self.editable_mode:
            self.build_lib = f"{BUILD}/lib"
        super().finalize_options()

    def run(self):
        if not SETTINGS.exists() or SETTINGS.read_text(encoding="utf-8") != MADE_WITH:
            SETTINGS.unlink(missing_ok=True)  # first, because what follows may be interrupted
            shutil.rmtree(BUILD, ignore_errors=True)
            # Copies, because an isolated build has Cython's and NumPy's declarations in a new place each time.
            shutil.copytree(Path(Cython.__file__).parent / "Includes", BUILD, dirs_exist_ok=True)
            for path in Path(np.__file__).parent.glob("*.pxd"):
                Path(BUILD, "numpy").mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, Path(BUILD, "numpy", path.name))
            SETTINGS.write_text(MADE_WITH, encoding="utf-8")
        if not TABLE.exists() or TABLE.read_text(encoding="utf-8") != ENTRIES:
            TABLE.write_text(ENTRIES, encoding="utf-8")
        self.extensions[0].modules = self.make_c_files()
        super().run()

    def copy_extensions_to_source(self):
        for path in Path("tensix").rglob(f"*{self.get_ext_filename('')}"):
            path.unlink()  # of modules that an earlier version had in files of their own
        super().copy_extensions_to_source()

    def make_c_files(self):
        """Let Cython compile what changed; return the modules with their C files as sources. See Note [Made of]."""
        places = [".", BUILD]
        tree = create_dependency_tree(Context.from_options(CompilationOptions(include_path=places)), quiet=True)
        ends, self.made_of = {}, {}
        for module in modules:
            (source,) = module.sources
            files = tree.all_dependencies(source)
            headers = set(INCLUDED_FIRST).union(*map(headers_of, [*files, *INCLUDED_FIRST]))
            self.made_of[module.name] = fingerprint({*files, *headers, *module.depends})
            c_file = Path(BUILD, source).with_suffix(".c")
            ends[c_file] = f"/* made of {fingerprint(files)} */\n".encode()
            if c_file.exists() and not c_file.read_bytes().endswith(ends[c_file]):
                c_file.unlink()
        made = cythonize(
            modules, compiler_directives=DIRECTIVES, emit_linenums=DEBUG, nthreads=os.cpu_count() or 1,
            build_dir=BUILD, include_path=places,
        )  # fmt: skip
        for c_file, end in ends.items():
            if not c_file.read_bytes().endswith(end):
                with c_file.open("ab") as file:
                    file.write(end)
        return made

    def build_extension(self, ext):
        if ext is not self.extensions[0]:  # it is no module and has no objects of others
            super().build_extension(ext)
            return
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            ext.extra_objects = list(pool.map(self.compile_module, sorted(ext.modules, key=longest_first)))
        for path in {*map(str, Path(BUILD).rglob("*.*.o*"))} - {*ext.extra_objects}:
            os.unlink(path)
        Path(self.get_ext_fullpath(ext.name)).unlink(missing_ok=True)  # if it is not whole, it looks new
        super().build_extension(ext)

    def compile_module(self, module):
        stem, extension = Path(module.sources[0]).with_suffix(""), self.compiler.obj_extension
        path = f"{stem}.{self.made_of[module.name]}{extension}"
        if self.force or not os.path.exists(path):
            (made,) = self.compiler.compile(
                module.sources,
                output_dir=f"{BUILD}/unfinished",
                macros=module.define_macros,
                include_dirs=module.include_dirs,
                debug=self.debug,
                extra_postargs=module.extra_compile_args,
            )
            os.replace(made, path)
        return path


if __name__ == "__main__":  # cythonize() starts processes, which read this file as well
    shared_object = Extension(
        IMPORTER,
        [],
        libraries=["m"] * (sys.platform != "win32") + ["mvec"] * HAS_VECTOR_MATH,
        extra_link_args=LINK_ARGS + os.environ.get("TENSIX_LDFLAGS", "").split(),
    )
    # A plain shared library, which programs load before all others; Python never imports it.
    preloaded = Extension(
        "tensix.memory.preloaded",
        ["tensix/memory/preloaded.c"],
        include_dirs=[".", "tensix/include"],
        depends=["tensix/memory/preloaded.h", "tensix/core/lock.h"],
        extra_compile_args=["-O2", "-fvisibility=hidden", "-fno-builtin", "-g0"],
        libraries=["dl", "pthread"],
    )
    setup(
        cmdclass={"build_ext": BuildExt, "build_py": BuildPy},
        ext_modules=[shared_object] + [preloaded] * HAS_PRELOADED,
    )
