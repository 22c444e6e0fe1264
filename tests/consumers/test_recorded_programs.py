"""``python -m tensix memory`` and ``run`` with programs on other libraries, and with their processes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tensix.command_line.program import preloaded_library
from tensix.memory import load_snapshot

GROUP_BY = """
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
rows = pd.DataFrame({"city": rng.integers(0, 50, 1_000_000), "price": rng.random(1_000_000)})
print(len(rows.groupby("city")["price"].mean()))
"""
FOREST = """
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

x, y = make_classification(2000, 40, random_state=0)
print(len(cross_val_score(RandomForestClassifier(20, random_state=0), x, y, cv=4, n_jobs=2)))
"""


def tensix(folder, *words):
    """Run a command and return it when it has ended."""
    command = [sys.executable, "-m", "tensix", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, timeout=120)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "group_by.py").write_text(GROUP_BY)
    (tmp_path / "forest.py").write_text(FOREST)
    return tmp_path


def test_a_group_by(folder):
    done = tensix(folder, "memory", "--output", "out.json", "group_by.py")
    assert done.stdout.startswith("50\nmemory of group_by.py") and done.stderr == ""
    snapshot = load_snapshot(folder / "out.json")
    assert sum(nbytes == 8_000_000 for nbytes in snapshot["blocks"]["nbytes"]) >= 2
    done = tensix(folder, "run", "--limit", "2GiB", "--stats", "group_by.py")
    assert done.stdout == "50\n" and "reused" in done.stderr


def test_a_forest_in_processes_of_joblib(folder):
    done = tensix(folder, "memory", "--output", "out.json", "forest.py")
    assert done.stdout.startswith("4\nmemory of forest.py") and done.stderr == ""
    processes = load_snapshot(folder / "out.json")["processes"]
    workers = [one for one in processes if re.fullmatch(r"LokyProcess-\d", one["name"])]
    assert len(workers) == 2 and all(one["ended"] and len(one["blocks"]["nbytes"]) > 100 for one in workers)


PROGRAMS = Path(__file__).parent / "programs"
NEEDS = {"group_by": "pandas", "forest": "sklearn", "training": "torch", "server": "numpy", "images": "PIL"}
LIMITS = {"group_by": "1GiB", "forest": "1GiB", "training": "2GiB", "server": "1GiB", "images": "1GiB"}


@pytest.mark.parametrize("name", NEEDS)
def test_nearly_all_that_is_resident_is_named(tmp_path, name):
    pytest.importorskip(NEEDS[name])
    script = str(PROGRAMS / f"{name}.py")
    plain = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, cwd=tmp_path)
    done = tensix(tmp_path, "memory", "--output", "out.json", script)
    assert done.stdout.startswith(f"{plain.stdout}memory of ") and plain.stdout.endswith("True\n")
    resident = load_snapshot(tmp_path / "out.json")["resident"]
    row = max(range(len(resident["nbytes"])), key=resident["nbytes"].__getitem__)
    rest = re.search(r"^ +([\d.]+) MiB   the rest$", done.stdout, re.MULTILINE)
    assert rest is None or float(rest[1]) * 2**20 < 0.1 * resident["nbytes"][row], done.stdout


@pytest.mark.parametrize("name", NEEDS)
def test_a_limit_that_is_enough_changes_nothing(tmp_path, name):
    pytest.importorskip(NEEDS[name])
    done = tensix(tmp_path, "run", "--limit", LIMITS[name], str(PROGRAMS / f"{name}.py"))
    assert done.stdout.endswith("True\n") and done.stderr.count("\n") == 1, done.stderr
    assert f"; the limit is {LIMITS[name][0]}.00 GiB for a process" in done.stderr
    assert not [*tmp_path.iterdir()]


PARSER = """
import io
import pandas as pd

table = pd.read_csv(io.StringIO("number,name\\n" + "".join(f"{n},name {n}\\n" for n in range(100_000))))
"""
TREES = """
import numpy as np
from sklearn.tree import DecisionTreeRegressor

rng = np.random.default_rng(0)
tree = DecisionTreeRegressor().fit(rng.random((20_000, 4)), rng.random(20_000))
"""
COLUMNS = """
import numpy as np
import pyarrow as pa

column = pa.array(np.arange(1_000_000) % 7 == 0).cast(pa.string())
"""
SERVED = """
import torch

tensor = torch.ones(1_000_003, dtype=torch.uint8)
"""
LIBRARIES = {
    "pandas": (PARSER, "pandas._libs.pandas_parser"), "sklearn": (TREES, "sklearn.tree._utils"),
    "pyarrow": (COLUMNS, "libarrow.so"),
}  # fmt: skip
linux_only = pytest.mark.skipif(preloaded_library(True) is None, reason="needs Linux with glibc")


def native_program(folder, text):
    """Run a program and return the blocks that are not arrays, as library, line and size, and the snapshot."""
    (folder / "prog.py").write_text(text)
    tensix(folder, "memory", "--native", "-q", "-o", "out.json", "prog.py")
    snapshot = load_snapshot(folder / "out.json")
    blocks = snapshot["blocks"]
    rows = zip(blocks["allocator"], blocks["stack"], blocks["nbytes"], blocks["kind"], strict=True)
    found = [
        (snapshot["allocators"][library], snapshot["frames"][snapshot["call_sites"][stack]], nbytes)
        for library, stack, nbytes, kind in rows if kind == 3
    ]  # fmt: skip
    return found, snapshot


@linux_only
@pytest.mark.parametrize("package", LIBRARIES)
def test_other_libraries_are_named_with_lines(tmp_path, package):
    pytest.importorskip(package)
    text, name = LIBRARIES[package]
    line = len(text.splitlines())
    found, _ = native_program(tmp_path, text)
    assert sum(n for library, site, n in found if library.startswith(name) and site["line"] == line) > 500_000, found


@linux_only
def test_tensors_count_once(tmp_path):
    pytest.importorskip("torch")
    found, snapshot = native_program(tmp_path, SERVED)
    assert snapshot["blocks"]["nbytes"].count(1_000_003) == 1
    assert [n for _, _, n in found if 1_000_003 <= n < 1_010_000] == []
