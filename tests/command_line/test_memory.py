"""``python -m tensix memory``: a program runs as ever, and what its processes did with memory is written down."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest

from tensix.__main__ import main
from tensix.command_line import program
from tensix.command_line.recorded_process import ColumnFiles, name_of_process
from tensix.memory import load_snapshot
from tensix.profiling import advice

ALLOCATES = """
import numpy as np
import tensix

def make(n):
    return np.empty(n, np.uint8)

array, tensor = make(3000), tensix.empty(1000, dtype=tensix.uint8)
for _ in range(4):
    make(5000)
"""

# What a program sees of how it was started, and how it may end.
PROGRAM = """
import os, sys, threading, time
import neighbour
import numpy as np

print(sys.argv[1:], __name__, __file__ if "__file__" in globals() else None, sys.path[0], neighbour.VALUE, __spec__)
late = threading.Thread(target=lambda: (time.sleep(0.1), print(np.ones(3).sum())))
late.start()
if sys.argv[1] == "raises":
    raise KeyError("k")
sys.exit(int(sys.argv[1]))
"""
FORMS = {"script": ["prog.py"], "module": ["-m", "prog"], "code": ["-c", PROGRAM], "folder": ["folder"]}

PROCESSES = """
import multiprocessing, os, shlex, signal, sys, threading
from concurrent.futures import ProcessPoolExecutor
import numpy as np

def work(n):
    x = np.empty(n, np.uint8)
    x[:] = 1
    return int(x.sum())

def die(n):
    x = np.ones(n, np.uint8)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    pid = os.fork()  # before multiprocessing is used: some versions of it write errors at the end of such a child
    if pid == 0:
        work(6_000_000)
        sys.exit(0)
    os.waitpid(pid, 0)
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with context.Pool(1) as pool:
            print(pool.map(work, [1_000_000, 2_000_000]))
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            print(list(pool.map(work, [3_000_000])))
    process = multiprocessing.get_context("fork").Process(target=die, args=(4_000_000,), name="killed")
    process.start()
    process.join()
    os.system(shlex.quote(sys.executable) + " -c 'import numpy as np; np.ones(5_000_000, np.uint8)'")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "neighbour.py").write_text("VALUE = 5")
    return tmp_path


@pytest.fixture
def memory(folder, capfd):
    """Return a function that writes a script, runs it and returns status, output and snapshot."""

    def run(code, *words, options=()):
        (folder / "script.py").write_text(code)
        status = main(["memory", "--output", "out.json", *options, "script.py", *words])
        captured = capfd.readouterr()
        assert captured.err == ""
        return status, captured.out, load_snapshot("out.json")

    return run


def finished(*words):
    """Run Python and return it when it has ended."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=60)


# ---- the program


@pytest.mark.parametrize("form, end", [("script", "raises"), ("module", "3"), ("code", "0"), ("folder", "0")])
def test_programs_run_as_under_python(folder, form, end):
    (folder / "prog.py").write_text(PROGRAM)
    (folder / "folder").mkdir()
    (folder / "folder" / "__main__.py").write_text(PROGRAM)
    (folder / "folder" / "neighbour.py").write_text("VALUE = 6")
    words = [*FORMS[form], end, "--output", "x"]
    plain, recorded = finished(*words), finished("-m", "tensix", "memory", *words)
    program, summary, _ = re.split(r"(?<=\n)(?=memory of .*\n    peak)|(?<=\n)$", recorded.stdout)
    hidden = re.compile(r" object at \w+")  # of a loader
    assert hidden.sub("", program) == hidden.sub("", plain.stdout)
    assert (recorded.returncode, recorded.stderr) == (plain.returncode, plain.stderr)
    page = f"{ {'code': 'code', 'folder': 'folder'}.get(form, 'prog') }.memory.html".replace(" ", "")
    assert f"wrote {page}, " in summary and (folder / page).stat().st_size > 10_000


def test_numbers(memory):
    status, text, snapshot = memory(ALLOCATES)
    assert status == 0
    assert [size for size in snapshot["blocks"]["nbytes"] if size >= 1000] == [3000, 1000, 5000, 5000, 5000, 5000]
    large = [n for n, size in enumerate(snapshot["blocks"]["nbytes"]) if size >= 1000]
    assert [snapshot["blocks"]["freed_ns"][n] is None for n in large] == [True] * 2 + [False] * 4
    assert any("tensor in module __main__" in holder["text"] for holder in snapshot["holders"])
    lines = re.sub(" {2,}", "  ", text).splitlines()
    assert lines[0] == "memory of script.py" and lines[1].startswith("  peak  8.79 KiB  3 blocks")
    assert "  7.81 KiB  22.46 KiB  5  script.py:6 make" in lines
    assert lines[-1].startswith("wrote out.json, ")


def test_blocks_are_in_the_order_of_allocation_though_freed_ones_were_in_a_file(memory):
    program = "import tensix\nx = tensix.ones(5000)\nfor _ in range(9000): tensix.ones(1)\ny = x.clone()\ny = x.clone()"
    _, _, snapshot = memory(program)
    blocks, holders = snapshot["blocks"], {one["text"]: one["block"] for one in snapshot["holders"]}
    assert blocks["allocated_ns"] == sorted(blocks["allocated_ns"]) and len(blocks["nbytes"]) > 9000
    [x], [y] = [[block for text, block in holders.items() if f", {name} in" in text] for name in "xy"]
    assert blocks["nbytes"][x] == blocks["nbytes"][y] == 20_000
    assert blocks["freed_ns"][x] is None is blocks["freed_ns"][y] and x < y == len(blocks["nbytes"]) - 1
    freed = next(block for block, source in enumerate(blocks["copy_of"]) if source == x and block != y)
    assert blocks["freed_ns"][freed] is not None and blocks["copy_of"][y] == x


def test_columns_that_are_not_known_do_not_matter_to_the_order(memory, folder):
    _, _, snapshot = memory(ALLOCATES)
    expected = [*snapshot["blocks"]["nbytes"]]
    for name in ("copies", "holders"):
        snapshot[name].clear()
    for values in snapshot["blocks"].values():
        values.reverse()
    snapshot["blocks"] |= {"more": [], "copy_of": [None] * len(expected)}
    snapshot.save("reversed.json")
    assert load_snapshot("reversed.json")["blocks"]["nbytes"] == expected


def test_without_numpy(memory):
    _, _, snapshot = memory(ALLOCATES, options=["--no-numpy"])
    assert snapshot["blocks"]["nbytes"] == [1000]


def test_a_module_is_sought_before_it_is_imported(memory):
    """As Polars and Transformers do to know whether NumPy or PyTorch is installed."""
    code = "from importlib.util import find_spec\nfind_spec('numpy'), find_spec('torch')\n"
    _, _, snapshot = memory(code + "import numpy as np\nx = np.ones(1000, np.uint8)")
    assert 1000 in snapshot["blocks"]["nbytes"]


def test_resident_memory_is_beside_the_blocks(memory):
    _, text, snapshot = memory(
        "import numpy as np\nx = bytearray(b'x') * 50_000_000\ny = np.ones(80_000_000, np.uint8)"
    )
    assert 130_000_000 < max(snapshot["resident"]["nbytes"]) < 300_000_000
    assert snapshot["resident"]["time_ns"] == sorted(snapshot["resident"]["time_ns"])
    others = float(re.search(r"resident .* at most; ([\d.]+) MiB are outside arrays", text)[1])
    assert 50_000_000 < others * 2**20 < 200_000_000


def test_a_program_without_arrays(folder, capfd):
    assert main(["memory", "-c", "print('hello'); raise SystemExit(4)"]) == 4
    captured = capfd.readouterr()
    assert captured.out == "hello\n"
    assert "ended with status 4" in captured.err and "it used neither NumPy nor PyTorch nor tensix" in captured.err
    assert not (folder / "code.memory.html").exists()


def test_a_program_whose_arrays_are_in_another_process(memory):
    """It has the name that was given; texts of lines are of the folder in which each process runs."""
    child = "import numpy as np\nx = np.ones(1000, np.uint8)\n"
    _, text, snapshot = memory(
        "import os, pathlib, subprocess, sys\nos.mkdir('in')\n"
        f"pathlib.Path('in/child.py').write_text({child!r})\npathlib.Path('child.py').write_text('wrong\\n' * 9)\n"
        "subprocess.run([sys.executable, 'child.py'], cwd='in', check=True)"
    )
    [one] = snapshot["processes"]
    assert [frame["source"] for frame in one["frames"] if frame["file"].endswith("child.py")] == [child.split("\n")[1]]
    assert snapshot["program"] == "script.py" and "memory of script.py\n" in text


def test_what_was_alive_when_it_failed(folder, capfd):
    """What the functions that were running held is in the snapshot: one wants to know what filled the memory."""
    (folder / "script.py").write_text(
        "import numpy as np, tensix\ndef f():\n    big = np.empty(1000, np.uint8)\n    tensix.empty(2**60)\nf()"
    )
    assert main(["memory", "--output", "out.json", "script.py"]) == 1
    captured = capfd.readouterr()
    assert "OutOfMemoryError" in captured.err and "in f\n" in captured.err
    assert "refused" in captured.out and "the largest of 1 failure" in captured.out
    snapshot = load_snapshot("out.json")
    assert snapshot["blocks"]["freed_ns"][snapshot["blocks"]["nbytes"].index(1000)] is None
    assert snapshot["failures"][0]["nbytes"] >= 2**60


def test_executors_that_are_not_shut_down(memory):
    """Python ends their threads before it ends itself."""
    _, _, snapshot = memory(
        "import numpy as np\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "ThreadPoolExecutor(1, 'worker').submit(lambda: np.ones(300, np.uint8))"
    )
    assert 300 in snapshot["blocks"]["nbytes"] and "worker_0" in snapshot["threads"]


def test_a_signal_ends_it_as_it_would_without(folder, capfd):
    code = "import os, signal, sys, numpy as np\nx = np.ones(1000)\nos.kill(os.getpid(), int(sys.argv[1]))"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        assert main(["memory", "--output", "out.json", "-c", code, str(int(number))]) == 128 + number
        captured = capfd.readouterr()
        assert ("KeyboardInterrupt" in captured.err) == (number == signal.SIGINT)
        assert ("was killed" in captured.out) == (number == signal.SIGKILL)
        snapshot = load_snapshot("out.json")
        assert (8000 in snapshot["blocks"]["nbytes"]) == snapshot["ended"] == (number != signal.SIGKILL)


def test_signals_are_passed_on(folder):
    """What is sent to the command reaches the program, here one that answers."""
    code = "import signal, sys, time, numpy\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n" \
           "print('ready', flush=True)\ntime.sleep(30)"  # fmt: skip
    command = [sys.executable, "-m", "tensix", "memory", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        process.stdout.read()
    assert process.returncode == 9


# ---- whose line it was


HELPER = """
import tensix

def make():
    return tensix.empty(10)
"""


def sites_of(snapshot):
    """Return the names of the files that blocks belong to."""
    return {Path(snapshot["frames"][site]["file"]).name for site in snapshot["call_sites"]}


def test_whose_line_it_was(memory, folder):
    (folder / "helper.py").write_text(HELPER)
    code = "import helper\nhelper.make()"
    _, text, snapshot = memory(code)
    assert sites_of(snapshot) == {"helper.py"} and "helper.py:5 make" in text
    _, text, snapshot = memory(code, options=["--through", "helper", "--through", "site-packages"])
    assert sites_of(snapshot) == {"script.py"} and "script.py:2 <module>" in text
    stack = [snapshot["frames"][frame]["function"] for frame in snapshot["stacks"][0]]
    assert stack[:2] == ["make", "<module>"]


# ---- its processes


def test_processes_record_too(memory, counts_threads_after_forks, monkeypatch):
    if counts_threads_after_forks:
        monkeypatch.setenv("PYTHONWARNINGS", "ignore::DeprecationWarning")
    _, text, snapshot = memory(PROCESSES)
    assert text.startswith("[1000000, 2000000]\n[3000000]\n" * 2)
    by_largest = {max(one["blocks"]["nbytes"], default=0): one for one in snapshot["processes"]}
    names = {nbytes: one["name"] for nbytes, one in by_largest.items()}
    assert re.match(r"ForkPoolWorker-\d", names[2_000_000]) or re.match(r"SpawnPoolWorker-\d", names[2_000_000])
    kinds = [re.match(r"(Fork|Spawn)(PoolWorker|Process)-\d", one["name"]) for one in snapshot["processes"]]
    assert sorted(kind[1] + kind[2] for kind in kinds if kind) == [
        "ForkPoolWorker", "ForkProcess", "SpawnPoolWorker", "SpawnProcess",
    ]  # fmt: skip
    assert names[5_000_000].startswith("-c import numpy") and 6_000_000 in names
    [killed] = [one for one in snapshot["processes"] if one["name"] == "killed"]
    assert not killed["ended"] and re.search(rf"{killed['pid']} killed, killed$", text, re.MULTILINE)
    assert all(one["ended"] for one in snapshot["processes"] if one is not killed)
    assert snapshot["ended"] and snapshot["pid"] not in [one["pid"] for one in snapshot["processes"]]
    assert sorted(one["offset_ns"] for one in snapshot["processes"])[0] > 0
    assert all(max(one["resident"]["nbytes"]) > 10_000_000 for one in snapshot["processes"])
    assert re.search(r"^ +[\d.]+ MiB +[\d.]+ MiB +\d+   script.py:7 work$", text, re.MULTILINE)


def test_a_process_of_multiprocessing_that_has_no_name_yet(monkeypatch):
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", "from multiprocessing.spawn", "--multiprocessing-fork"])
    assert name_of_process() == "of multiprocessing"
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "worker", "5"])
    assert name_of_process() == "-m worker 5"


# ---- the files


def test_a_snapshot_becomes_a_page_later(memory, folder, capfd):
    _, text, snapshot = memory(ALLOCATES)
    assert main(["memory", "out.json"]) == 0
    captured = capfd.readouterr()
    assert captured.out.splitlines()[:-1] == text.splitlines()[:-1]
    page = (folder / "out.memory.html").read_text(encoding="utf-8")
    embedded = re.search(r'<script type="application/json" id="snapshot">(.*?)</script>', page, re.DOTALL)[1]
    shown = json.loads(embedded)
    assert [one["kind"] for one in shown.pop("advice")] == ["idle"]
    assert shown == snapshot


def test_a_quiet_run_prints_what_the_program_prints(folder, capfd):
    assert main(["memory", "-q", "-o", "out.json", "-c", "import numpy; print('hello')"]) == 0
    assert capfd.readouterr() == ("hello\n", "")
    assert main(["memory", "out.json", "--quiet", "-o", "out.html"]) == 0
    assert capfd.readouterr() == ("", "") and (folder / "out.html").exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_the_page_is_opened(folder, capfd, monkeypatch, is_there):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or is_there)
    assert main(["memory", "-o", "out.html", "--open", "-c", "import numpy"]) == 0
    assert opened == [(folder / "out.html").as_uri()]
    assert ("found no browser" in capfd.readouterr().err) == (not is_there)


def test_advice_is_looked_for_once(memory, monkeypatch):
    """For a million blocks it takes seconds, and both the page and the summary show it."""
    memory(ALLOCATES)
    replay, replays = advice.Replay, []
    monkeypatch.setattr(advice, "Replay", lambda blocks: replays.append(replay(blocks)) or replays[-1])
    assert main(["memory", "out.json"]) == 0 and len(replays) == 1


WASTES = """
import numpy as np

def work():
    first = np.ones(500_000)
    second = first * 2
    third = np.sqrt(second)
    return third.sum() + second[0]

work()
"""


@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="variables are examined with the GIL")
@pytest.mark.parametrize("options, status", [([], 3), (["--advice", "none"], 0), (["--advice", "temporary,idle"], 0)])
def test_advice_that_would_save_too_much_fails(folder, capfd, options, status):
    (folder / "wastes.py").write_text(WASTES)
    words = ["memory", "-o", "out.json", *options, "--fail-on-advice", "1MiB", "wastes.py"]
    assert main(words) == status
    captured = capfd.readouterr()
    assert ("`del first` after wastes.py:6 would make the peak 7.63 MiB" in captured.out) == (status == 3)
    too_much = "would lower the peak by 3.81 MiB; --fail-on-advice allows less than 1.00 MiB"
    assert (too_much in captured.err) == bool(status)
    assert main(["memory", "out.json", "--fail-on-advice", "1GiB"]) == 0


@pytest.mark.parametrize("option, found", [("--advice=late", "unknown kind"), ("--fail-on-advice=x", "'x'")])
def test_options_of_advice_that_are_wrong(folder, capfd, option, found):
    assert main(["memory", option, "-c", "import numpy"]) == 2
    assert found in capfd.readouterr().err


WITHOUT_SPACE = """
import resource, numpy as np
x = np.ones(1000)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of the size of files")
def test_a_process_without_space_for_its_recording(folder, capfd):
    (folder / "script.py").write_text(WITHOUT_SPACE)
    assert main(["memory", "--output", "out.json", "script.py"]) == 2
    captured = capfd.readouterr()
    [line] = captured.err.splitlines()
    assert re.match(r"tensix: the memory of process \d+ could not be written: .*\. TMPDIR says", line)
    assert "the process was killed, ran exec(), or could not write: what it did last is not known" in captured.out
    assert not load_snapshot("out.json")["ended"]


def test_files_of_columns_are_closed_when_writing_fails(tmp_path):
    with pytest.raises(OSError, match="no space"), ColumnFiles(tmp_path) as columns:
        columns.take({"nbytes": [1], "line": [2]})
        files = [*columns.files.values()]
        raise OSError("no space")
    assert len(files) == 2 and all(file.closed for file in files)


def test_a_program_without_any_recording_says_why(folder):
    """The status is the program's if that says that it failed."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); import numpy"
    for end, status in (("", 2), ("; raise SystemExit(4)", 4)):
        done = finished("-m", "tensix", "memory", "-c", limit + end)
        assert done.stderr.splitlines()[-1].endswith("left no recording: it could not write one.")
        assert (done.returncode, done.stdout, os.listdir(folder)) == (status, "", ["neighbour.py"])


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of the size of files")
def test_a_page_without_space_for_it(folder, memory):
    """What was recorded is summed up all the same, and what was there stays."""
    memory(ALLOCATES)
    (folder / "out.html").write_text("old")
    files = sorted(os.listdir(folder))
    code = f"{WITHOUT_SPACE}\nfrom tensix.__main__ import main\nraise SystemExit(main())"
    done = finished("-c", code, "memory", "--output", "out.html", "out.json")
    assert done.returncode == 2 and done.stdout.startswith("memory of script.py\n    peak ")
    assert re.search(r"it needs [\d,]+ bytes: free some space, or save it elsewhere: 'out.html'$", done.stderr.strip())
    assert (folder / "out.html").read_text() == "old" and sorted(os.listdir(folder)) == files


def test_two_runs_are_compared(memory, folder, capfd):
    """Lines are found again by their text: the second run has one more above, and one more list."""
    memory(ALLOCATES)
    (folder / "out.json").rename("before.json")
    line = "more = tensix.empty(2**20, dtype=tensix.uint8)\n"
    more = "\n" + ALLOCATES.replace("array, tensor =", f"{line}array, tensor =")
    _, text, after = memory(more, options=["--compare", "before.json"])
    comparison = text.partition("against script.py of ")[2].splitlines()
    assert [line.split() for line in comparison[2:5]] == [
        ["at", "the", "peak", "8.79", "KiB", "1.01", "MiB", "+1.00", "MiB"],
        ["in", "total", "23.44", "KiB", "1.02", "MiB", "+1.00", "MiB"],
        ["at", "the", "end", "3.91", "KiB", "1.00", "MiB", "+1.00", "MiB"],
    ]  # fmt: skip
    assert [line.split() for line in comparison[6:-1]] == [
        ["at", "the", "peak", "in", "total", "at", "the", "end", "call", "site"],
        ["+1.00", "MiB"] * 3 + ["script.py", "<module>:", "more", "=", "tensix.empty(2**20,", "dtype=tensix.uint8)"],
    ]  # fmt: skip
    for words in (["out.json", "--compare", "before.json"], ["--compare", "before.json", "out.json"]):
        assert main(["memory", *words]) == 0
        assert capfd.readouterr().out.partition("against script.py of ")[2].splitlines()[:-1] == comparison[:-1]
        page = (folder / "out.memory.html").read_text(encoding="utf-8")
        embedded = re.search(r'<script type="application/json" id="snapshot">(.*?)</script>', page, re.DOTALL)[1]
        shown = json.loads(embedded)
        shown.pop("advice", None)
        assert shown == after | {"compared": load_snapshot("before.json")}
    assert main(["memory", "out.json", "--compare", "out.json"]) == 0
    assert "no call site differs" in capfd.readouterr().out


def test_few_events_are_remembered_on_request(memory):
    code = "import tensix\nfor n in range(100): tensix.empty(n + 1, dtype=tensix.uint8)"
    _, text, snapshot = memory(code, options=["--max-events", "20"])
    assert snapshot["dropped"] == 100 - len(snapshot["blocks"]["nbytes"]) >= 80
    assert f"{snapshot['dropped']} events not kept" in text


@pytest.mark.parametrize("words, said", [
    ([], "give one program"),
    (["-m"], "-m is followed by"),
    (["-mjson.tool", "script.py"], "found -m json.tool and script.py"),
    (["nonesuch.py"], "nonesuch.py"),
    (["."], "no __main__.py"),
    (["--output", "x.txt", "script.py"], "ends in .html or .json, found 'x.txt'"),
    (["--output", "no/where.html", "script.py"], "no folder 'no'"),
    (["--output", "data.json", "data.json"], "'data.json' is the input"),
    (["--max-events", "3", "script.py"], "max_events"),
    (["data.json", "more"], "takes no arguments"),
    (["--open", "-o", "x.json", "script.py"], "--open needs a page"),
    (["data.json"], "data.json"),
    (["--through", "nothere", "script.py"], "there is no package 'nothere'"),
    (["--through", "numpy", "data.json"], "--through needs a program"),
    (["--compare", "other.json", "script.py"], "other.json"),
    (["newer.json"], "99.0"),
    (["other.json"], "other.json"),
    (["nonesuch.json"], "nonesuch.json"),
])  # fmt: skip
def test_bad_input(folder, capfd, words, said):
    """Nothing is run, nothing is written, the status is 2."""
    (folder / "script.py").write_text("open('it_ran', 'w')")
    (folder / "data.json").write_text('{"format": "tensix memory snapshot", "version": 1, "blo')
    (folder / "newer.json").write_text('{"format": "tensix memory snapshot", "version": 2, "tensix": "99.0"}')
    (folder / "other.json").write_text("[1, 2]")
    before = sorted(os.listdir())
    assert main(["memory", *words]) == 2
    captured = capfd.readouterr()
    assert captured.out == "" and captured.err.startswith("tensix: ")
    assert said in captured.err and sorted(os.listdir()) == before


def test_options_that_turn_the_environment_off(monkeypatch, capfd):
    flags = SimpleNamespace(ignore_environment=1, no_site=0)
    monkeypatch.setattr(program, "sys", SimpleNamespace(flags=flags, executable=sys.executable))
    assert main(["memory", "-c", "print(1)"]) == 2
    captured = capfd.readouterr()
    assert "-I, -E and -S turn off PYTHONPATH" in captured.err and captured.out == ""


def test_a_terminal_sees_progress(folder):
    """On the standard error, and gone at the end; other tests see that a pipe gets nothing."""
    (folder / "script.py").write_text("import tensix\nx = [tensix.ones(3) for _ in range(5)]")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "tensix", "memory", "script.py"]
    subprocess.run(command, stderr=theirs, stdout=subprocess.DEVNULL, check=True)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "reading 5 blocks" in shown and "writing script.memory.html" in shown and shown.endswith("\r\x1b[K")
