"""The linters have nothing to say: those of the hooks before a commit, on all files."""

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
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
