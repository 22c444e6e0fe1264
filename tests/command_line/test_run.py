"""``python -m tensix run``: any program, on tensix's memory, within a limit."""

import os
import re
import signal
import subprocess
import sys

import pytest

from tensix.__main__ import main
from tensix.command_line import supervised_run


def run(*words):
    """Run the command and return it when it has ended."""
    command = [sys.executable, "-m", "tensix", "run", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_it_is_the_same_process_and_python_runs_it():
    code = "import os, sys; print(os.getpid(), sys.argv, sys.path[0] == '', 'numpy' in sys.modules, __name__)"
    command = [sys.executable, "-m", "tensix", "run", "-c", code, "a", "--stats"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        shown = process.stdout.read()
    assert shown == f"{process.pid} ['-c', 'a', '--stats'] True False __main__\n"


IMPORTED_UNTIL_EXEC = """
import os, sys
os.execve = lambda *words: (
    print(*sorted({"argparse", "numpy", "tensix", "tensix._tensor"} & {*sys.modules})) or os._exit(0)
)
"""


def test_it_imports_neither_numpy_nor_the_rest_of_tensix(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(IMPORTED_UNTIL_EXEC)
    command = [sys.executable, "-u", "-m", "tensix", "run", "-c", "pass"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    assert shown == "argparse tensix\n"


def test_a_program_that_imports_tensix_gets_all_of_it(tmp_path):
    """Also one whose own first argument is the name of a command."""
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "__init__.py").write_text("import tensix\nprint(tensix.ones(2).sum().item())")
    (tmp_path / "program" / "__main__.py").write_text("import sys\nprint(sys.argv[1:])")
    command = [sys.executable, "-m", "program", "run", "tensix"]
    for words in (command, [sys.executable, "-m", "tensix", "run", *command[1:]]):
        done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert done.stdout == "2.0\n['run', 'tensix']\n"


def test_a_process_that_is_served_imports_what_that_needs():
    """And what NumPy does, on CPython 3.14 ``threading``."""
    watched = {"numpy.ma", "numpy.polynomial", "threading", "json", "tensix.profiling.recorder"}
    code = f"import numpy, sys; print({watched!r} & {{*sys.modules}})"
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    done = run("-c", code)
    assert (done.stdout, done.stderr) == (plain.stdout, "")


def test_arrays_lie_in_memory_of_tensix(tmp_path):
    """Those of the processes that it starts, too."""
    (tmp_path / "prog.py").write_text(
        "import concurrent.futures, multiprocessing\nimport numpy as np\n"
        "def work():\n"
        "    import tensix\n"
        "    with tensix.memory.statistics() as counted:\n"
        "        np.empty(3_000_000, np.uint8)\n"
        "    return counted.peak_bytes >= 3_000_000\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:\n"
        "        print(work(), pool.submit(work).result())\n"
    )
    done = run("--huge-pages", str(tmp_path / "prog.py"))
    assert (done.stdout, done.stderr, done.returncode) == ("True True\n", "", 0)


@pytest.mark.parametrize("text, nbytes", [
    ("500M", 500 << 20), ("2G", 2 << 30), ("1.5GiB", 3 << 29), ("1 GB", 10**9), ("1048576", 1 << 20), ("500B", 500),
])  # fmt: skip
def test_limits_have_units(monkeypatch, text, nbytes):
    found = []
    monkeypatch.setattr(supervised_run, "run_within", lambda words, settings, output, usr2: found.append(settings))
    main(["run", "--limit", text, "--limit-total", text, "--limit-arrays", text, "-c", "0"])
    assert [found[0][name] for name in ("limit", "limit_total", "limit_arrays")] == [nbytes] * 3


def test_numbers_at_the_end():
    code = "import numpy as np\nfor _ in range(10): np.ones(1_000_000, np.uint8)\nprint('done')"
    done = run("--stats", "-c", code)
    assert (done.stdout, done.returncode) == ("done\n", 0)
    rows = dict(re.split(r" {2,}", line.strip(), maxsplit=1) for line in done.stderr.splitlines()[1:])
    assert rows["peak"].startswith("9") and rows["peak"].endswith("KiB")
    assert float(rows["reused"].split()[0]) >= 9 * 1_000_000 / 2**20
    taken, avoided = (
        int(number.replace(",", "")) for number in re.findall(r"([\d,]+)(?:;| more)", rows["page faults"])
    )
    assert taken > 1000 and avoided >= 9 * 1_000_000 // os.sysconf("SC_PAGESIZE")
    assert re.match(r"\d+, \d+ of them used before", rows["blocks"]) and "of it with pages" in rows["kept"]


@pytest.mark.parametrize("form", ["script", "code", "imported"])
def test_a_syntax_error_is_reported_as_python_reports_it(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("if True\n    pass")
    words = {"script": ["broken.py"], "code": ["-c", "if True\n    pass"], "imported": ["-c", "import broken"]}[form]
    plain = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    done = run(*words)
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr) and "expected ':'" in done.stderr


@pytest.mark.parametrize("code, status", [
    ("raise SystemExit(5)", 5),
    ("raise SystemExit('words')", 1),
    ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT),
    ("import os, signal, numpy; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
])  # fmt: skip
def test_it_ends_as_under_python(code, status):
    assert run("-c", code).returncode == status


@pytest.mark.parametrize("words, said", [
    ([], "give one program"),
    (["nonesuch.py"], "no script or folder 'nonesuch.py'"),
    (["--limit", "3 XB", "-c", "0"], "'3 xb'"),
    (["--limit=-1", "-c", "0"], "'-1'"),
    (["--limit", "500", "-c", "0"], "give the unit too, such as 500M"),
    (["--limit", " 1048575 ", "-c", "0"], "give the unit too"),
    (["--limit", "0.5", "-c", "0"], "give the unit too"),
    (["--limit", "", "-c", "0"], "found ''"),
    (["--limit", "9" * 20, "-c", "0"], "--limit must be below 2**60 bytes"),
    (["--limit-arrays", "1048576 TiB", "-c", "0"], "found 1048576 TiB"),
])  # fmt: skip
def test_bad_input(capsys, words, said):
    assert main(["run", *words]) == 2 and said.lower() in capsys.readouterr().err.lower()
