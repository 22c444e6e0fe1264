"""Every session and every console output in the documentation is true."""

import doctest
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.public_calls import operands

import tensix

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.rst"))
CONSOLES = sorted((DOCS / "console").glob("*.txt"))


def run(command, folder):
    """Run a command of the documentation with the tensix under test and return it, finished."""
    environment = os.environ | {"PYTHONPATH": str(Path(tensix.__file__).parents[1]), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, encoding="utf-8", check=False, cwd=folder,
        env=environment, timeout=300,
    )  # fmt: skip


def test_pages_build_without_a_warning(tmp_path):
    """A broken table or a reference to nothing is a warning."""
    done = run(["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(DOCS), str(tmp_path / "html")], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    links = re.findall(r'href="(gallery/\w+\.html)"', (tmp_path / "html" / "gallery.html").read_text(encoding="utf-8"))
    assert len(links) == 5
    for link in links:
        assert "<title>" in (tmp_path / "html" / link).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_sessions(page, capsys):
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
    assert result.failed == 0, capsys.readouterr().out


@pytest.mark.parametrize("page", sorted(DOCS.glob("coming_from_*.rst")), ids=lambda page: page.stem)
def test_what_the_tables_say_to_write_runs(page, tmp_path, monkeypatch):
    """Code in the second column of a table is Python that runs, with the operands that the benchmarks have."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.ones(3))
    rows = re.findall(r"^   \* - .*?\n(?:       .*\n)*     - ``([^`]+)``$", page.read_text(encoding="utf-8"), re.M)
    assert len(rows) >= 5
    for code in rows:
        exec(code, {**operands("tensix", 3, 4), "tensix": tensix, "a": np.ones((3, 4))})


@pytest.mark.parametrize("console", CONSOLES, ids=lambda console: console.stem)
def test_console_outputs(console, tmp_path):
    shutil.copy(ROOT / "examples" / "training.py", tmp_path)
    np.save(tmp_path / "weights.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    model = {"weight": tensix.ones(16, 32), "bias": tensix.ones(8, dtype="bfloat16"), "mask": tensix.ones(0) == 0}
    tensix.save(tmp_path / "model.safetensors", model, metadata={"made by": "tensix"})
    prompt, _, expected = console.read_text(encoding="utf-8").partition("\n")
    words = shlex.split(prompt)
    assert words[:2] == ["$", "python"]
    finished = run(words[2:], tmp_path)
    assert (finished.returncode, finished.stderr) == (0, "")
    # How far beyond 64 bytes a block happens to be aligned is chance.
    found = re.sub(r"aligned to \d+", "aligned to 64", finished.stdout)
    assert doctest.OutputChecker().check_output(expected, found, doctest.ELLIPSIS), found


CHAPTERS = sorted(DOCS.glob("api/*.rst"))


def test_the_pages_of_the_api_name_everything_public():
    page = "".join(path.read_text(encoding="utf-8") for path in CHAPTERS)
    described = set(re.findall(r"[\w.]+", page))
    for module in re.findall(r"^\.\. functions:: (\S+)", page, re.MULTILINE):
        described |= set(importlib.import_module(module).__all__)
    missing = {name for name in tensix.__all__ if not any(word.split(".")[-1] == name for word in described)}
    assert missing == set()


def test_every_page_is_in_the_table_of_contents():
    index = (DOCS / "index.rst").read_text(encoding="utf-8")
    assert [page.stem for page in PAGES if page.stem != "index" and f"   {page.stem}\n" not in index] == []
    listed = re.findall(r"^   api/(\w+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == [page.stem for page in CHAPTERS]


def test_the_developers_page_names_files_that_are_there():
    named = set(re.findall(r"``((?:tensix|tests)/[\w./]*)``", (DOCS / "developing.rst").read_text(encoding="utf-8")))
    assert len(named) > 20 and [name for name in named if not (ROOT / name).exists()] == []


def test_the_cython_examples_build_and_run(tmp_path):
    for name in ("shelf.pyx", "vector.pyx", "setup.py"):
        shutil.copy(ROOT / "examples" / "cython" / name, tmp_path)
    built = run(["setup.py", "-q", "build_ext", "--inplace"], tmp_path)
    assert built.returncode == 0, built.stdout + built.stderr
    used = run(
        ["-c", "import shelf; p = shelf.make_counter(3); s = shelf.Shelf(); s.put(p.get()); t = p.get(); p.reset()\n"
               "print(shelf.count_of(t), t.value); s.clear(); print(shelf.count_of(t))"],
        tmp_path,
    )  # fmt: skip
    assert (used.stdout.split(), used.stderr) == (["1", "3", "0"], "")
    used = run(
        ["-c", "import tensix, vector; x = vector.squares(5); print(vector.total(x), vector.total(x[::2]))\n"
               "print(tensix.ops.vector.halve_(x))"],
        tmp_path,
    )  # fmt: skip
    assert used.stderr == ""
    assert used.stdout == "30.0 20.0\ntensor([0.0, 0.5, 2.0, 4.5, 8.0], dtype=tensix.float64)\n"
