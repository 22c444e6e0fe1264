"""Programs within limits, and the pages that they leave when memory ends."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tensix.command_line.process_memory import memory_of, processes_of, share_of
from tensix.command_line.program import run_and_wait
from tensix.memory import load_snapshot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no limit of private memory")
NUMPY = "import numpy as np\nkept = []\n"


def run(folder, *words, **options):
    """Run the command in a folder and return it when it has ended."""
    command = [sys.executable, "-m", "tensix", "run", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=folder, **options)


def snapshot_in(folder, page):
    """Return the snapshot in a page."""
    text = Path(folder, page).read_text()
    data = re.search(r'<script type="application/json" id="snapshot">(.*?)</script>', text, re.DOTALL)[1]
    return json.loads(data.replace("\\u003c", "<"))


def lines_held(snapshot):
    """Return the bytes that are alive in a snapshot, by the text of their line."""
    held = {}
    blocks = snapshot["blocks"]
    for nbytes, freed, stack in zip(blocks["nbytes"], blocks["freed_ns"], blocks["stack"], strict=True):
        if freed is None:
            source = snapshot["frames"][snapshot["call_sites"][stack]]["source"]
            held[source] = held.get(source, 0) + nbytes
    return held


GROW = {
    "arrays": "while True: kept.append(np.ones(10 << 20, np.uint8))",
    "objects": "while True: kept.append(str(len(kept)) * 20)",
    "heap": "import ctypes\nmalloc = ctypes.CDLL(None).malloc\nmalloc.restype = ctypes.c_void_p\n"
            "while malloc(1 << 20): kept.append(None)\nraise MemoryError('malloc returns NULL')",
    "map": "import mmap\nwhile True:\n    kept.append(mmap.mmap(-1, 10 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))",
    "child": "import os, sys\nif os.fork(): sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
             "while True: kept.append(np.ones(10 << 20, np.uint8))",
}  # fmt: skip


@pytest.mark.parametrize("way", GROW)
def test_a_limit_holds_for_all_that_takes_memory(tmp_path, way):
    (tmp_path / "grow.py").write_text(NUMPY + GROW[way])
    done = run(tmp_path, "--limit", "300MiB", "grow.py")
    assert done.returncode == 1, done.stderr
    assert re.search("MemoryError|Cannot allocate memory", done.stderr)
    resident = float(re.search(r"at most ([\d.]+) MiB of a process were resident", done.stderr)[1])
    assert resident <= 300 + 64 and "; the limit is 300.00 MiB for a process" in done.stderr
    assert way in ("heap", "map") or resident > 200


def test_an_error_names_lines_and_the_page_has_them(tmp_path):
    (tmp_path / "grow.py").write_text(NUMPY + "large = np.ones(50 << 20, np.uint8)\n" + GROW["arrays"])
    done = run(tmp_path, "--limit", "300MiB", "-o", "found.html", "grow.py")
    error = next(line for line in done.stderr.splitlines() if "Unable to allocate" in line)
    assert re.search(r"Most is held by these lines: [\d.]+ MiB by .*grow\.py:4 in <module>, 50\.00 MiB by .*:3", error)
    assert "The limit of the process is 300.00 MiB: " in error and "found.html will show what was alive." in error
    held = lines_held(snapshot_in(tmp_path, "found.html"))
    assert held["large = np.ones(50 << 20, np.uint8)"] == 50 << 20
    assert held[GROW["arrays"]] % (10 << 20) == 0 and held[GROW["arrays"]] > 0


def test_an_error_of_python_gets_a_note(tmp_path):
    (tmp_path / "grow.py").write_text(NUMPY + "large = np.ones(50 << 20, np.uint8)\n" + GROW["objects"])
    done = run(tmp_path, "--limit", "200MiB", "grow.py")
    assert re.search(r"MemoryError\nMost is held by these lines: 50\.00 MiB by .*grow\.py:3", done.stderr)
    assert "a MemoryError was not caught; wrote grow.memory.html" in done.stderr
    assert lines_held(snapshot_in(tmp_path, "grow.memory.html"))["large = np.ones(50 << 20, np.uint8)"] == 50 << 20


def test_a_program_that_catches_the_error_goes_on(tmp_path):
    code = NUMPY + "try:\n    np.ones(1 << 40, np.uint8)\nexcept MemoryError:\n    print('smaller')\nnp.ones(1000)\n"
    done = run(tmp_path, "--limit", "300MiB", "-c", code)
    assert (done.returncode, done.stdout) == (0, "smaller\n")
    assert "an allocation of 1024.00 GiB failed; wrote code.memory.html" in done.stderr


def test_without_a_black_box_there_is_no_page(tmp_path):
    done = run(tmp_path, "--limit", "200MiB", "--no-black-box", "-c", NUMPY + GROW["arrays"])
    assert done.returncode == 1 and "MemoryError" in done.stderr and "Most is held" not in done.stderr
    assert "; the limit is 200.00 MiB for a process" in done.stderr and not [*tmp_path.iterdir()]


def test_a_program_without_trouble_leaves_one_line(tmp_path):
    done = run(tmp_path, "--limit", "1GiB", "-c", NUMPY + "x = np.ones(50 << 20, np.uint8)")
    assert (done.returncode, done.stdout) == (0, "") and not [*tmp_path.iterdir()]
    assert re.fullmatch(r"tensix: at most [\d.]+ MiB of a process were resident, 50\.\d+ MiB of it in arrays; "
                        r"the limit is 1\.00 GiB for a process\n", done.stderr)  # fmt: skip


def test_a_page_that_cannot_be_written_ends_nothing(tmp_path):
    code = NUMPY + "import os\nos.mkdir('gone.html')\ntry:\n    np.ones(1 << 40, np.uint8)\n" \
           "except MemoryError:\n    print('smaller')\n"  # fmt: skip
    done = run(tmp_path, "--limit", "300MiB", "-o", "gone.html", "-c", code)
    assert (done.returncode, done.stdout) == (0, "smaller\n")
    assert " failed; the page could not be written: " in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("words, said", [
    (["-o", "page.txt"], "ends in .html or .json"), (["-o", "nowhere/page.html"], "no folder 'nowhere'"),
])  # fmt: skip
def test_a_page_that_cannot_be_is_refused_at_once(tmp_path, words, said):
    done = run(tmp_path, "--limit", "300MiB", *words, "-c", "print('ran')")
    assert done.returncode == 2 and said in done.stderr and done.stdout == ""


def test_arrays_alone_have_a_limit(tmp_path):
    code = NUMPY + "words = bytearray(100 << 20)\n" + GROW["arrays"]
    done = run(tmp_path, "--limit-arrays", "50MiB", "-c", code)
    assert done.returncode == 1 and "limit 52,428,800, in use 52,428,800" in done.stderr
    assert "; the limit is 50.00 MiB for arrays" in done.stderr and "not caught; wrote code.memory.html" in done.stderr


SLEEP = NUMPY + """
import os, time
kept.append(np.ones(30 << 20, np.uint8))
print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.fixture
def begin(tmp_path):
    """A function that begins the command with a program that sleeps, and returns it with the program's number."""
    begun = []

    def begin_it(*words):
        (tmp_path / "sleeper.py").write_text(SLEEP)
        command = [sys.executable, "-m", "tensix", *words, "sleeper.py"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        begun.append(process)
        return process, int(process.stdout.readline())

    yield begin_it
    for process in begun:
        for number in reversed(processes_of(process.pid)):
            if memory_of(number) is not None:
                os.kill(number, signal.SIGKILL)
        process.communicate()


def wait_for(condition, seconds=30):
    """Wait until a condition holds and return how long that took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds
        time.sleep(0.02)
    return time.monotonic() - began


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_is_killed_leaves_a_page(tmp_path, begin, number):
    process, pid = begin("run", "--limit", "1GiB")
    time.sleep(4 if number == signal.SIGKILL else 0.5)  # a kill cannot be heard: the file of a moment before counts
    os.kill(pid, number)
    shown = process.communicate(timeout=30)[1]
    assert process.returncode == 128 + number
    assert f"the program was terminated by {number.name}; wrote sleeper.memory.html" in shown
    assert sum(lines_held(snapshot_in(tmp_path, "sleeper.memory.html")).values()) == 30 << 20


@pytest.mark.parametrize("words", [("run", "--limit", "1GiB", "--usr2"), ("memory", "--usr2"), ("run", "--usr2")])
@pytest.mark.parametrize("to_command", [False, True])
def test_a_signal_asks_for_a_page(tmp_path, begin, words, to_command):
    process, pid = begin(*words)
    page = tmp_path / "sleeper.memory.html"
    os.kill(process.pid if to_command else pid, signal.SIGUSR2)
    wait_for(page.exists)
    assert sum(lines_held(snapshot_in(tmp_path, page)).values()) == 30 << 20
    assert process.poll() is None


def test_a_running_program_is_shown(tmp_path, begin):
    process, pid = begin("run", "--limit", "1GiB")
    time.sleep(1.5)
    for number in (pid, process.pid):
        command = [sys.executable, "-m", "tensix", "memory", "--live", str(number), "-o", "live.json"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert "    at the end    30.00 MiB   1 block\n" in shown.stdout and "killed" not in shown.stdout
        assert load_snapshot(tmp_path / "live.json")["pid"] == pid
    again = subprocess.Popen([*command, "--every", "0.2s"], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    for _ in range(3):
        while "wrote live.json" not in again.stdout.readline():
            pass
    os.kill(pid, signal.SIGKILL)
    process.communicate()
    again.communicate(timeout=30)
    assert again.returncode == 0


@pytest.mark.parametrize("words, said", [
    (["--live", str(os.getpid())], "is not recorded"), (["--every", "3s", "-c", "0"], "--every needs --live"),
    (["--live", "1", "-c", "0"], "it cannot be combined with a program"),
    (["--live", "1", "--every", "0s"], "--every: expected 0.1 seconds or more, such as 10s, found '0s'"),
    (["--live", "1", "--every", "5m"], "found '5m'"), (["--live", "1", "--every", "1e300"], "found '1e300'"),
])  # fmt: skip
def test_what_cannot_be_shown_is_refused(tmp_path, words, said):
    command = [sys.executable, "-m", "tensix", "memory", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr


TREE = """
import multiprocessing, time
from concurrent.futures import ProcessPoolExecutor
import numpy as np
def work(count):
    kept = []
    for _ in range(count):
        kept.append(np.ones(10 << 20, np.uint8))
        time.sleep(0.02)
    everybody.wait()
    time.sleep(0.5)
    return sum(x.nbytes for x in kept)
if __name__ == "__main__":
    fork = multiprocessing.get_context("fork")
    everybody = fork.Barrier(3)
    with ProcessPoolExecutor(3, mp_context=fork) as pool:
        print(sum(pool.map(work, [20] * 3)))
"""


@pytest.mark.parametrize("limit, is_enough", [("1GiB", True), ("400MiB", False)])
def test_a_limit_of_all_processes_together(tmp_path, limit, is_enough):
    (tmp_path / "tree.py").write_text(TREE)
    done = run(tmp_path, "--limit-total", limit, "tree.py")
    most = float(re.search(r"([\d.]+) MiB were private to all together", done.stderr)[1])
    if is_enough:
        assert (done.returncode, done.stdout) == (0, f"{600 << 20}\n") and 600 < most < 1024
    else:
        assert done.returncode != 0 and 100 < most <= 400 + 64  # on a busy machine the last samples come too late


def test_both_limits_hold(tmp_path):
    done = run(tmp_path, "--limit", "200MiB", "--limit-total", "2GiB", "-c", NUMPY + GROW["objects"])
    assert done.returncode == 1 and "MemoryError" in done.stderr
    assert float(re.search(r"at most ([\d.]+) MiB of a process", done.stderr)[1]) <= 264


def test_a_limit_leaves_most_of_it_to_arrays_of_any_size(tmp_path):
    """Not what the system maps around a block for its alignment: that was as much again for blocks of 2 MiB."""
    code = NUMPY + "try:\n    while True: kept.append(np.ones(2 << 20, np.uint8))\n" \
           "except MemoryError: print(2 * len(kept))\n"  # fmt: skip
    done = run(tmp_path, "--limit", "400MiB", "-c", code)
    assert done.returncode == 0 and 300 < int(done.stdout) < 400 + 64  # the rest is of the interpreter and NumPy


def test_a_signal_without_a_limit_names_none(tmp_path):
    done = run(tmp_path, "--usr2", "-c", "print('done')")
    assert done.stdout == "done\n" and done.stderr.endswith(" MiB of a process were resident\n")


@pytest.mark.parametrize("limit", ["350MiB", "2GiB"])
def test_pages_that_forks_share_count_once(tmp_path, limit):
    code = NUMPY + "import os, time\nkept.append(np.ones(200 << 20, np.uint8))\n" \
           "[os.fork() for _ in range(3)]\ntime.sleep(0.6)\nos._exit(0)\n"  # fmt: skip
    done = run(tmp_path, "--limit-total", limit, "-c", code)
    assert done.returncode == 0, done.stderr
    assert 200 < float(re.search(r"([\d.]+) MiB were private to all together", done.stderr)[1]) < 350


def test_a_process_that_has_ended_has_no_memory():
    """Also if it ends after its memory was read, and before its share is: it counted in full then."""
    ended = os.fork() or os._exit(0)
    try:
        os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
        assert (memory_of(ended), share_of(ended)) == (None, 0)
    finally:
        os.waitpid(ended, 0)
    assert 0 < share_of(os.getpid()) <= memory_of(os.getpid())[0] + (1 << 20)


def test_a_program_is_ended_where_refusing_is_too_late(tmp_path):
    code = NUMPY + "import os, time\nfor _ in range(3):\n    if not os.fork():\n" \
           "        kept.append(np.empty(200 << 20, np.uint8))\n        time.sleep(0.5)\n        kept[0][:] = 1\n" \
           "        time.sleep(30)\n        os._exit(0)\nwhile True:\n    try: os.wait()\n    except OSError: break\n"
    done = run(tmp_path, "--limit-total", "300MiB", "-c", code)
    assert done.returncode == 137
    assert re.search(r"more than the limit of 300\.00 MiB, and are terminated\. Process \d+", done.stderr)


def test_a_program_is_attended_to_once_more_when_it_has_ended(tmp_path):
    """It may leave a reason for a page while the page for another one is written."""
    code, seen = f"import time\ntime.sleep(0.5)\nopen({str(tmp_path / 'reason')!r}, 'w')", []

    def write_slowly(pid):
        seen.append((tmp_path / "reason").exists())
        time.sleep(2 * (len(seen) == 1))

    assert run_and_wait(["-c", code], {}, write_slowly)[1] == 0
    assert seen[0] is False and seen[-1] is True
