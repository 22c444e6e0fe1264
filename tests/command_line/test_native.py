"""``--native``: blocks that other libraries ask for, with the library and the line of Python that was running."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tensix.command_line import program
from tensix.memory import load_snapshot

ROOT = Path(__file__).parents[2]
NATIVE, NUMPY = 3, 1
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
SIZES = {
    name: 1_000_001 + 64 * number for number, name in enumerate((
        "malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign", "mmap"
    ))
}  # fmt: skip
PROGRAM = f"""
import atexit, ctypes, gc, os, subprocess, sys, threading, warnings

warnings.simplefilter("ignore", DeprecationWarning)  # CPython 3.13.0 warns of each fork
library = ctypes.CDLL(sys.argv[1])
with_gil = ctypes.PyDLL(sys.argv[1])
for name in ("ask", "resize", "ask_in_thread", "resize_mapping", "map_over"):
    getattr(library, name).restype = getattr(with_gil, name).restype = ctypes.c_void_p
library.exchange_in_threads.restype = ctypes.c_size_t

def call(name, *facts, of=library):
    pointers = [ctypes.c_void_p(fact) if type(fact) is int and fact >= 1 << 32 else
                ctypes.c_size_t(fact) if type(fact) is int else fact for fact in facts]
    return getattr(of, name)(*pointers)

at_end = []
atexit.register(lambda: [call("give_back", address) for address in at_end])  # after the recording, which begins now
import numpy as np
import tensix

before = tensix.memory.memory_allocated()
for name, nbytes in {SIZES}.items():
    call("ask", name.encode(), nbytes)
    call("ask", name.encode(), nbytes + 2**20, of=with_gil)
at_end.append(call("ask", b"malloc", 9_000_001))
call("ask", b"malloc", 60_000)
call("ask", b"reserve", 9_000_002)

def in_thread():
    return call("ask_in_thread", 2_000_001)

of_pool = threading.Thread(target=lambda: call("ask", b"malloc", 600_001), name="of a pool")
of_pool.start()
of_pool.join()
address = in_thread()
thread = threading.Thread(target=call, args=("give_back", address))
thread.start()
thread.join()

address = call("resize", call("ask", b"malloc", 50_000), 300_001)
address = call("resize", address, 200_002)
address = call("resize", address, 1000)
kept = call("ask", b"malloc", 400_001)
assert call("resize", kept, 2**62) is None

pages = call("ask", b"mmap", 400 * {PAGE})
assert call("unmap", pages, 50 * {PAGE}, 10 * {PAGE}) == 0
pages = call("ask", b"mmap", 90 * {PAGE})
call("resize_mapping", pages, 90 * {PAGE}, 91 * {PAGE})
pages = call("ask", b"mmap", 230 * {PAGE})
call("map_over", pages + 70 * {PAGE}, 160 * {PAGE})

code = {{}}
exec(compile("def gone():\\n    return call('ask', b'malloc', 500_001)", "<gone>", "exec"), globals(), code)
code["gone"]()
del code
gc.collect()

array = np.ones(3_000_000, np.uint8)
text = bytes(700_001)
print(tensix.memory.memory_allocated() - before)
print(subprocess.run(["sh", "-c", "echo of a child"], capture_output=True, text=True, check=True))
print(call("exchange_in_threads"))
pid = os.fork()
if pid == 0:
    call("ask", b"malloc", 4_000_001)
    sys.exit(0)
os.waitpid(pid, 0)
"""

pytestmark = pytest.mark.skipif(
    program.preloaded_library(True) is None or shutil.which("gcc") is None,
    reason="needs Linux with glibc, GCC, and a build of CPython with the GIL: free-threaded ones have no such library",
)


def tensix(folder, *words):
    command = [sys.executable, "-m", "tensix", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=120)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("native") / "requests.so"
    source = Path(__file__).with_name("native_requests.c")
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", path, source, "-lpthread"], check=True)
    return path


@pytest.fixture(scope="module")
def recorded(library):
    """Return what the program and the command printed, and the snapshot."""
    folder = library.parent
    (folder / "prog.py").write_text(PROGRAM)
    done = tensix(folder, "memory", "--native", "-o", "out.json", "prog.py", str(library))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, load_snapshot(folder / "out.json")


def found(snapshot, nbytes, kind=NATIVE):
    """Return the blocks of a size, each as its library, its frames, its call site, and whether it was freed."""
    blocks = snapshot["blocks"]
    rows = [row for row, size in enumerate(blocks["nbytes"]) if size == nbytes and blocks["kind"][row] == kind]
    return [
        (
            snapshot["allocators"][blocks["allocator"][row]],
            [snapshot["frames"][frame]["function"] for frame in snapshot["stacks"][blocks["stack"][row]]],
            snapshot["frames"][snapshot["call_sites"][blocks["stack"][row]]],
            blocks["freed_ns"][row] is not None,
        )
        for row in rows
    ]


def line_of(text):
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


@pytest.mark.parametrize("name", SIZES)
def test_every_request_has_its_library_and_line(recorded, name):
    """Whether the thread has the GIL or not."""
    for nbytes in (SIZES[name], SIZES[name] + 2**20):
        [(library, functions, site, is_freed)] = found(recorded[1], nbytes)
        assert library.startswith(("requests.so", "libffi")) and not is_freed
        assert functions == [library, "call", "<module>"]
        assert (site["function"], site["file"].endswith("prog.py")) == ("call", True)


def test_the_summary_names_them(recorded):
    assert "   of it blocks of other libraries and of Python itself\n" in recorded[0]
    line = line_of("return getattr(of, name)")
    assert re.search(rf"blocks   call site\n.* prog.py:{line} call, (requests.so|libffi)", recorded[0], re.DOTALL)


def test_small_blocks_and_reserved_addresses_are_left_out(recorded):
    assert found(recorded[1], 60_000) == found(recorded[1], 9_000_002) == []


def test_a_thread_without_python(recorded):
    """Which has no line; another thread frees the block."""
    [(library, functions, site, is_freed)] = found(recorded[1], 2_000_001)
    assert (library, functions, site["function"], is_freed) == ("requests.so", ["requests.so"], "requests.so", True)
    assert site["file"].endswith("requests.so") and "source" not in site


def test_threads_of_python_have_names(recorded):
    blocks = recorded[1]["blocks"]
    names = [recorded[1]["threads"][blocks["thread"][blocks["nbytes"].index(n)]] for n in (400_001, 600_001, 2_000_001)]
    assert names[0] == "MainThread" and re.fullmatch(r"of a pool|thread \d+", names[1])  # it may have ended by then
    assert re.fullmatch(r"thread \d+ without Python", names[2])


def test_realloc_across_the_least_size(recorded):
    snapshot = recorded[1]
    assert [is_freed for *_, is_freed in found(snapshot, 300_001) + found(snapshot, 200_002)] == [True, True]
    assert found(snapshot, 50_000) == found(snapshot, 1000) == []
    assert [is_freed for *_, is_freed in found(snapshot, 400_001)] == [True, False]  # asked for again in vain


def test_parts_of_mappings(recorded):
    snapshot = recorded[1]
    whole, middle = found(snapshot, 400 * PAGE), found(snapshot, 50 * PAGE) + found(snapshot, 340 * PAGE)
    assert [is_freed for *_, is_freed in whole + middle] == [True, False, False]
    assert middle[0][:3] == whole[0][:3]
    moved = found(snapshot, 90 * PAGE) + found(snapshot, 91 * PAGE)
    assert [is_freed for *_, is_freed in moved] == [True, False]
    over = [found(snapshot, count * PAGE) for count in (230, 70, 160)]
    assert [is_freed for [(*_, is_freed)] in over] == [True, False, False]


def test_code_that_is_gone_is_named(recorded):
    [(library, functions, _, _)] = found(recorded[1], 500_001)
    assert functions == [library, "call", "gone", "<module>"]
    assert any(frame["file"] == "<gone>" and frame["line"] == 2 for frame in recorded[1]["frames"])


def test_arrays_count_once_and_others_not_as_arrays(recorded):
    output, snapshot = recorded
    assert output.startswith("3000000\n")
    assert len(found(snapshot, 3_000_000, NUMPY)) == 1
    near = [n for n, kind in zip(snapshot["blocks"]["nbytes"], snapshot["blocks"]["kind"], strict=True)
            if 3_000_000 <= n < 3_100_000 and kind == NATIVE]  # fmt: skip
    assert near == []


def test_objects_of_python(recorded):
    [(library, _, site, is_freed)] = [one for one in found(recorded[1], 700_001 + 33)]
    assert (library, site["line"], is_freed) == ("Python", line_of("bytes(700_001)"), False)


def test_arenas_that_the_interpreter_frees(tmp_path):
    """Their end passes through tensix, which counts them."""
    (tmp_path / "prog.py").write_text(
        "import numpy\nfor _ in range(3):\n    texts = [str(n) * 9 for n in range(300_000)]\n    del texts\n"
    )
    done = tensix(tmp_path, "memory", "--native", "-o", "out.json", "prog.py")
    assert (done.returncode, done.stderr) == (0, "")
    snapshot = load_snapshot(tmp_path / "out.json")
    blocks, arenas = snapshot["blocks"], snapshot["allocators"].index("Python objects")
    made = [row for row, allocator in enumerate(blocks["allocator"]) if allocator == arenas]
    alive = [row for row in made if blocks["freed_ns"][row] is None]
    assert sum(blocks["nbytes"][row] for row in made) > 60 << 20
    assert sum(blocks["nbytes"][row] for row in alive) < 16 << 20


def test_shared_memory_counts_once(tmp_path):
    """As a block, and not as a part of resident memory."""
    (tmp_path / "prog.py").write_text(
        "import mmap, numpy, time\nshared = mmap.mmap(-1, 32 << 20)\n"
        "shared.write(bytes([1]) * len(shared))\ntime.sleep(0.1)\n"
    )
    done = tensix(tmp_path, "memory", "--native", "-o", "out.json", "prog.py")
    assert (done.returncode, done.stderr) == (0, "")
    snapshot = load_snapshot(tmp_path / "out.json")
    assert 32 << 20 in snapshot["blocks"]["nbytes"] and max(snapshot["resident"]["shared"]) < 1 << 20


def test_what_is_freed_after_the_recording_was_alive_in_it(recorded):
    assert [is_freed for *_, is_freed in found(recorded[1], 9_000_001)] == [False]


def test_programs_that_are_not_python_run_as_ever(recorded):
    assert "stdout='of a child\\n', stderr=''" in recorded[0]


def test_many_threads_lose_nothing(recorded):
    """Of blocks that they hand to one another, with those whose sizes pass the least one."""
    output, snapshot = recorded
    blocks = snapshot["blocks"]
    alive = [
        blocks["nbytes"][row] for row, freed in enumerate(blocks["freed_ns"])
        if freed is None and snapshot["allocators"][blocks["allocator"][row]] == "requests.so"
        and len(snapshot["stacks"][blocks["stack"][row]]) == 1
    ]  # fmt: skip
    assert sum(alive) == int(output.splitlines()[2]) > 0 and snapshot["dropped"] == 0


def test_a_fork_has_its_own(recorded):
    snapshot = recorded[1]
    [child] = snapshot["processes"]
    assert found(snapshot, 4_000_001) == [] and len(found(child, 4_000_001)) == 1
    assert found(child, SIZES["malloc"]) == []  # it is its parent's


def test_the_page_has_them(recorded, library):
    done = tensix(library.parent, "memory", "-q", "-o", "page.html", "out.json")
    assert done.returncode == 0 and "requests.so" in (library.parent / "page.html").read_text()


def test_run_with_a_limit_names_who_holds_most(library):
    code = "import ctypes, sys, numpy as np\nctypes.CDLL(sys.argv[1]).ask(b'calloc', 90_000_000)\nnp.ones(10**9)"
    done = tensix(library.parent, "run", "--limit-arrays", "1G", "--native", "-c", code, str(library))
    assert done.returncode == 1 and "Most is held by these lines: 85.83 MiB by <string>:2 in <module>" in done.stderr
    assert "requests.so" in (library.parent / "code.memory.html").read_text()


def test_without_a_recording_it_is_refused(tmp_path):
    for words in (["--native"], ["--native", "--limit", "1G", "--no-black-box"]):
        done = tensix(tmp_path, "run", *words, "-c", "pass")
        assert done.returncode == 2 and "--native needs a recording: give a limit too" in done.stderr


def test_what_cannot_be_served_is_said(monkeypatch, tmp_path, capsys):
    assert program.preloaded_library(False) is None
    monkeypatch.setattr(program, "PRELOADED", tmp_path / "a b.so")
    assert program.preloaded_library(True) is None
    (tmp_path / "a b.so").touch()
    linked = Path(program.preloaded_library(True))  # LD_PRELOAD takes no spaces
    assert linked.samefile(tmp_path / "a b.so") and " " not in str(linked.parent)
    monkeypatch.setattr(sys, "platform", "win32")
    assert program.preloaded_library(True) is None
    no_linux, other = capsys.readouterr().err.splitlines()
    assert no_linux == other == "tensix: --native is left out: it needs Linux with glibc, and the GIL."


def test_a_program_that_takes_no_preloaded_library_runs(tmp_path):
    """Such as one whose environment lacks it."""
    (tmp_path / "again.py").write_text(
        "import os, subprocess, sys\n"
        "import numpy\n"
        "environment = {key: value for key, value in os.environ.items() if key != 'LD_PRELOAD'}\n"
        "code = 'import numpy; x = numpy.ones(10**6); print(len(x))'\n"
        "subprocess.run([sys.executable, '-c', code], env=environment, check=True)\n"
    )
    done = tensix(tmp_path, "memory", "--native", "-o", "out.json", "again.py")
    assert done.stdout.startswith("1000000\n") and done.returncode == 0
    assert "records no blocks of other libraries: LD_PRELOAD has no effect on" in done.stderr


def test_other_preloaded_libraries_stay(monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "libother.so")
    environment = program.environment_of({"native": "/here/preloaded.so"})
    assert environment["LD_PRELOAD"] == "/here/preloaded.so:libother.so"
    assert environment["ARROW_DEFAULT_MEMORY_POOL"] == "system"
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
    assert program.environment_of({"native": "x"})["ARROW_DEFAULT_MEMORY_POOL"] == "jemalloc"
    assert "ARROW_DEFAULT_MEMORY_POOL" not in {**program.environment_of({"native": None})}.keys() - os.environ.keys()


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler of C++")
def test_the_library_behind_new_of_c_plus_plus(tmp_path):
    """Which asks `malloc` in its place."""
    (tmp_path / "vectors.cpp").write_text('extern "C" void *make(unsigned long n) { return new char[n]; }\n')
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-o", "vectors.so", "vectors.cpp"], check=True, cwd=tmp_path)
    code = "import ctypes, numpy\nctypes.CDLL('./vectors.so').make(ctypes.c_ulong(1_234_567))"
    assert tensix(tmp_path, "memory", "--native", "-q", "-o", "out.json", "-c", code).returncode == 0
    [(library, functions, site, _)] = found(load_snapshot(tmp_path / "out.json"), 1_234_567)
    assert (library, functions, site["line"]) == ("vectors.so", ["vectors.so", "<module>"], 2)
