"""The stubs say what is true: mypy reads the samples by them, and stubtest compares them with the running modules."""

import ast
import inspect
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensix
from tensix.dispatch.tensor_function import TensorFunction

HERE = Path(__file__).parent
PACKAGE = Path(tensix.__file__).parent
STUBS = sorted(PACKAGE.rglob("*.pyi"))
SAMPLES = sorted(HERE.glob("samples/*.py"))
RUNNABLE = [sample for sample in SAMPLES if sample.stem != "mistakes"]
reads_numpy = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0",
    reason="stubs of NumPy before 2.4 declare operators of numbers as attributes, which mypy calls not callable",
)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Work in an empty folder, so that mypy finds tensix as users' mypy does: where it is installed, by its py.typed.

    An editable installation is an import hook, which no type checker runs: there mypy has to be told the place.
    """
    monkeypatch.chdir(tmp_path)
    if "site-packages" not in PACKAGE.parts:
        monkeypatch.setenv("MYPYPATH", str(PACKAGE.parent))


def outcome_of(module, *arguments):
    """Run a module in a process of its own: what mypy leaves in memory made every collection after it slow."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


@reads_numpy
def test_samples_pass_strict_checking(elsewhere):
    options = ["--strict", "--follow-imports=silent", "--config-file="]
    report, failure, status = outcome_of("mypy", *options, *map(str, SAMPLES))
    assert (report, failure, status) == (f"Success: no issues found in {len(SAMPLES)} source files\n", "", 0)


@reads_numpy
def test_every_public_name_is_known_to_checkers(elsewhere, tmp_path):
    """What loads its names when they are first used has to tell checkers and editors of each."""
    names = "core", "dispatch", "files", "fft", "linalg", "memory", "testing"
    spaces = [tensix, *(getattr(tensix, name) for name in names)]
    lines = [f"{space.__name__}.{name}" for space in spaces for name in space.__all__]
    program = tmp_path / "names.py"
    program.write_text("\n".join([*(f"import {space.__name__}" for space in spaces), *lines]))
    options = ["--follow-imports=silent", "--config-file=", "--disable-error-code=misc"]
    report, failure, status = outcome_of("mypy", *options, str(program))
    assert (report, failure, status) == ("Success: no issues found in 1 source file\n", "", 0)


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_samples_pass_pyright(tmp_path):
    """But those with mistakes, for its ignores have other words, and pointers, whose class it infers otherwise."""
    config = {"typeCheckingMode": "strict", "extraPaths": [str(PACKAGE.parent)], "reportPrivateUsage": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    for sample in (sample for sample in RUNNABLE if sample.stem != "memory"):
        shutil.copy(sample, tmp_path)
    command = ["pyright", "--pythonpath", sys.executable, "--project", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("sample", RUNNABLE, ids=lambda path: path.stem)
def test_sample_runs(sample):
    runpy.run_path(str(sample))


@reads_numpy
def test_stubs_fit_the_modules(elsewhere):
    """An entry of the allowlist that nothing needs is an error."""
    modules = [".".join(stub.relative_to(PACKAGE.parent).with_suffix("").parts) for stub in STUBS]
    options = ["--concise", f"--mypy-config-file={HERE}/stubtest.ini", f"--allowlist={HERE}/allowlist.txt"]
    if sys.version_info < (3, 12):
        options.append(f"--allowlist={HERE}/allowlist_before_3_12.txt")
    report, failure, status = outcome_of("mypy.stubtest", *options, *modules)
    assert (failure, status) == ("", 0), report


def test_stubs_of_functions_in_plain_python_are_made_of_them():
    """Which have no other names: those are added; tests/typing/stubs.py writes the files."""
    written = runpy.run_path(str(HERE / "stubs.py"))
    for path in written["MODULES"]:
        assert path.with_suffix(".pyi").read_text(encoding="utf-8") == written["stub_of"](path)
    for path in written["COMPILED"]:
        assert path.read_text(encoding="utf-8") == written["with_summaries"](path)


CHAPTERS = [path for path in STUBS if path.parent.name == "functions"]
NOT_IN_STUBS = {"roll": {"shifts"}, "permute_dims": {"dim", "dims"}}  # other names of what has no default


@pytest.mark.parametrize("stub", CHAPTERS, ids=lambda path: path.stem)
def test_stubs_have_the_other_names(stub):
    """Which the running functions do not show: those that the methods of the same declarations show are taken."""
    for node in ast.parse(stub.read_text()).body:
        function = getattr(tensix, node.name, None) if isinstance(node, ast.FunctionDef) else None
        if isinstance(function, TensorFunction):
            known = inspect.signature(TensorFunction(function.declaration, is_method=True)).parameters
            taken = {*known, *inspect.signature(function).parameters} - {"self"} - NOT_IN_STUBS.get(node.name, set())
            found = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            found += [node.args.vararg] if node.args.vararg else []
            assert {argument.arg for argument in found} - {"x"} == taken - {"x"}, node.name
