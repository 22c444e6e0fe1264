"""The linters have nothing to say: those of the hooks before a commit, on all files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text()
FOLDERS = {"ruff": ["."], "cython-lint": ["asv_bench", "examples", "tensix", "tests"]}


@pytest.mark.parametrize("hook", re.findall(r"- id: (.+)", HOOKS))
def test_linter_finds_nothing(hook):
    entry = re.search(rf"- id: {hook}\n.*\n +entry: python (.+)", HOOKS)[1]
    command = [sys.executable, *entry.split(), *FOLDERS[hook]]
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    # cython-lint starts pycodestyle by its name, which is on the path only where the environment is activated.
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"PATH": path})
    assert found.returncode == 0, found.stdout + found.stderr


def is_compiled(path):
    """Whether a module is compiled."""
    return path.suffix == ".pyx" or "import cython\n" in path.read_text()


SOURCES = [path for path in ROOT.glob("tensix/**/*.py*") if path.suffix in {".py", ".pyx"} and is_compiled(path)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_isinstance_of_several_classes_cannot_fail(path):
    """What Cython makes of `isinstance(x, (A, B))` takes an error of B for a yes, and goes on with it pending.

    Only those of C have none. A class of Python's may ask its metaclass, as abstract ones and NumPy's types do.
    """
    for classes in re.findall(r"isinstance\([^()]*, \(([^()]*)\)\)", path.read_text()):
        of_python = [one for one in classes.split(",") if "." in one or one.strip() in {"Sequence", "Mapping"}]
        assert of_python == [], f"ask for {', '.join(of_python)} by an isinstance() of its own"
