"""``python -m tensix memory``: a script runs as ever, and what it did with memory is written down."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tensix.__main__ import main
from tensix.memory import load_snapshot

ALLOCATES = """
import tensix

def make(n):
    return tensix.empty(n, dtype=tensix.uint8)

kept = make(3000)
for _ in range(4):
    make(5000)
"""

# Whatever it is, it ends, prints and fails as under plain Python.
SCRIPTS = {
    "prints": "import sys; print(sys.argv, __name__, __file__, sys.path[0] == sys.argv[2])",
    "imports its neighbour": "import neighbour; print(neighbour.VALUE); import sys; sys.exit(neighbour.VALUE)",
    "is __main__": "import sys, pickle\nclass A: pass\nprint(pickle.loads(pickle.dumps(A())).__class__ is A)",
    "exits": "import sys; print('x'); sys.exit(3)",
    "exits with words": "raise SystemExit('words')",
    "exits with None": "raise SystemExit",
    "raises": "def f():\n    raise ValueError('deep')\n\ndef g():\n    f()\n\ng()",
    "raises from": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e",
    "cannot be compiled": "x = (1,\n",
    "has its own hook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__)\nraise OSError('o')",
    "has threads": "import threading, time\ndef late():\n    time.sleep(0.05)\n    print('late')\n"
                   "threading.Thread(target=late).start()\nprint('end')",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "neighbour", raising=False)
    (tmp_path / "neighbour.py").write_text("VALUE = 5")
    return tmp_path


@pytest.fixture
def memory(folder, capsys):
    """Return a function that writes a script, runs it and returns status, output and snapshot."""

    def run(code, *words, options=()):
        (folder / "script.py").write_text(code)
        status = main(["memory", "--output", "out.json", *options, "script.py", *words])
        captured = capsys.readouterr()
        assert captured.err == ""
        return status, captured.out, load_snapshot("out.json")

    return run


def refused(capsys, *words):
    """Return what is said of a command line that is refused."""
    assert main(["memory", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("tensix: ")
    return captured.err


# ---- the script


@pytest.mark.parametrize("code", SCRIPTS.values(), ids=SCRIPTS)
def test_scripts_run_as_under_python(folder, code, capsys, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    (folder / "script.py").write_text(code)
    words = ["script.py", "--output", str(folder)]
    plain = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    with pytest.raises(SystemExit) as ended:
        sys.exit(main(["memory", "--output", "out.html", *words]))
    captured = capsys.readouterr()
    before, _, after = captured.out.partition("memory of script.py")
    assert (before, after.rpartition("\n")[2]) == (plain.stdout, "")
    assert "wrote out.html" in after and (folder / "out.html").stat().st_size > 10_000
    if isinstance(ended.value.code, str):  # which the interpreter prints
        assert (plain.returncode, plain.stderr) == (1, f"{ended.value.code}\n")
    else:
        assert (plain.returncode, plain.stderr) == (ended.value.code or 0, captured.err)


def test_numbers(memory):
    status, text, snapshot = memory(ALLOCATES)
    assert status == 0
    assert snapshot["blocks"]["nbytes"] == [3000, 5000, 5000, 5000, 5000]
    assert [time is None for time in snapshot["blocks"]["freed_ns"]] == [True] + [False] * 4
    assert "kept in module __main__" in snapshot["holders"][0]["text"]
    lines = re.sub(" {2,}", "  ", text).splitlines()
    assert lines[:4] == [
        "memory of script.py", "  peak  7.81 KiB  2 blocks", "  total  22.46 KiB  5 blocks",
        "  at the end  2.93 KiB  1 block",
    ]  # fmt: skip
    assert lines[5:7] == [" at the peak  total  blocks  call site", "  7.81 KiB  22.46 KiB  5  script.py:5 make"]
    assert lines[7:9] == [
        "peak 7.81 KiB, 2.93 KiB of it not used again:",
        "  `del kept` after script.py:7 would make the peak 4.88 KiB, if it is not needed after the recording",
    ]
    assert lines[9].startswith("wrote out.json, ")


HELPER = """
import tensix

def make():
    return tensix.empty(10)
"""


def sites_of(snapshot):
    """Return the names of the files that blocks belong to."""
    return {Path(snapshot["frames"][site]["file"]).name for site in snapshot["call_sites"]}


def test_whose_line_it_was(memory, folder, monkeypatch):
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    (folder / "helper.py").write_text(HELPER)
    code = "import helper\nhelper.make()"
    _, text, snapshot = memory(code)
    assert sites_of(snapshot) == {"helper.py"} and "helper.py:5 make" in text
    _, text, snapshot = memory(code, options=["--through", "helper", "--through", "site-packages"])
    assert sites_of(snapshot) == {"script.py"} and "script.py:2 <module>" in text
    stack = [snapshot["frames"][frame]["function"] for frame in snapshot["stacks"][0]]
    assert stack[:2] == ["make", "<module>"]
    monkeypatch.delitem(sys.modules, "helper")


def test_packages_that_are_not_there(folder, capsys):
    (folder / "script.py").write_text("print('it ran')")
    assert "there is no package 'nothere'" in refused(capsys, "--through", "nothere", "script.py")
    (folder / "x.json").write_text("{}")
    assert "--through belongs to the run" in refused(capsys, "--through", "numpy", "x.json")


def test_no_tensor_at_all(memory):
    status, text, snapshot = memory("print('hello')")
    assert status == 0 and snapshot["blocks"]["nbytes"] == [] and "0 blocks" in text


def test_what_was_alive_when_it_failed(folder, capsys):
    """What the functions that were running held is in the snapshot: one wants to know what filled the memory."""
    (folder / "script.py").write_text(
        "import tensix\ndef f():\n    big = tensix.empty(1000, dtype=tensix.uint8)\n    tensix.empty(2**60)\nf()"
    )
    assert main(["memory", "--output", "out.json", "script.py"]) == 1
    captured = capsys.readouterr()
    assert "OutOfMemoryError" in captured.err and "in f\n" in captured.err
    assert "refused" in captured.out and "the largest of 1 failure" in captured.out
    snapshot = load_snapshot("out.json")
    assert snapshot["blocks"]["freed_ns"] == [None] and snapshot["failures"][0]["nbytes"] >= 2**60


def test_threads_are_waited_for_and_recorded(memory):
    _, _, snapshot = memory(
        "import threading, time, tensix\n"
        "def work():\n    time.sleep(0.05)\n    tensix.empty(100)\n"
        "threading.Thread(target=work, name='worker').start()"
    )
    assert snapshot["blocks"]["nbytes"] == [400] and snapshot["threads"] == ["worker"]


def test_a_fork_that_comes_back_writes_nothing(folder):
    code = "import os, sys\npid = os.fork()\npid and os.waitpid(pid, 0)\nsys.exit(7 if pid else 0)"
    (folder / "script.py").write_text(code)
    command = [sys.executable, "-m", "tensix", "memory", "script.py"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (7, "")
    assert finished.stdout.count("memory of script.py") == finished.stdout.count("wrote script.memory.html") == 1


def test_interpreter_is_as_before(memory):
    before = sys.modules["__main__"], sys.argv, list(sys.path)
    memory("import sys; sys.argv = None; sys.path.clear()")
    assert (sys.modules["__main__"], sys.argv, sys.path) == before


def test_an_interrupt_ends_it(folder, capsys):
    (folder / "script.py").write_text("raise KeyboardInterrupt")
    assert main(["memory", "script.py"]) == 130
    assert "KeyboardInterrupt" in capsys.readouterr().err and (folder / "script.memory.html").exists()


# ---- the files


def test_a_snapshot_becomes_a_page_later(memory, folder, capsys):
    _, text, snapshot = memory(ALLOCATES)
    assert main(["memory", "out.json"]) == 0
    captured = capsys.readouterr()
    assert captured.out.replace("out.memory.html", "out.json").splitlines()[:-1] == text.splitlines()[:-1]
    page = (folder / "out.memory.html").read_text(encoding="utf-8")
    embedded = re.search(r'<script type="application/json" id="snapshot">(.*?)</script>', page, re.DOTALL)[1]
    shown = json.loads(embedded)
    assert [one["kind"] for one in shown.pop("advice")] == ["idle"]
    assert shown == snapshot


def test_few_events_are_remembered_on_request(memory):
    code = "import tensix\nfor n in range(100): tensix.empty(n + 1, dtype=tensix.uint8)"
    _, text, snapshot = memory(code, options=["--max-events", "20"])
    assert snapshot["dropped"] == 100 - len(snapshot["blocks"]["nbytes"]) >= 80
    assert f"{snapshot['dropped']} events not kept" in text


@pytest.mark.parametrize("words, said", [
    (["nonesuch.py"], "nonesuch.py"),
    (["--output", "x.txt", "script.py"], "ends in .html or .json, found 'x.txt'"),
    (["--output", "no/where.html", "script.py"], "no folder 'no'"),
    (["--output", "data.json", "data.json"], "'data.json' is the input"),
    (["--max-events", "3", "script.py"], "max_events"),
    (["data.json", "--output", "x.html"], "before its name"),
    (["data.json"], "data.json"),
    (["newer.json"], "99.0"),
    (["other.json"], "other.json"),
    (["nonesuch.json"], "nonesuch.json"),
])  # fmt: skip
def test_bad_input(folder, capsys, words, said):
    """Nothing is run, nothing is written, the status is 2."""
    (folder / "script.py").write_text("open('it_ran', 'w')")
    (folder / "data.json").write_text('{"format": "tensix memory snapshot", "version": 1, "blo')
    (folder / "newer.json").write_text('{"format": "tensix memory snapshot", "version": 2, "tensix": "99.0"}')
    (folder / "other.json").write_text("[1, 2]")
    before = sorted(os.listdir())
    assert said in refused(capsys, *words)
    assert sorted(os.listdir()) == before


def test_a_terminal_sees_progress(folder):
    """On the standard error, and gone at the end; test_scripts_run_as_under_python sees that a pipe gets nothing."""
    (folder / "script.py").write_text(ALLOCATES)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "tensix", "memory", "script.py"]
    subprocess.run(command, stderr=theirs, stdout=subprocess.DEVNULL, check=True)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "writing script.memory.html: 5 blocks" in shown and shown.endswith("\r\x1b[K")
