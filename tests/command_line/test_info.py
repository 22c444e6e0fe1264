"""``python -m tensix info``, and the command line itself."""

import json
import platform
import shlex
import subprocess
import sys

import numpy as np
import pytest

import tensix
from tensix.__main__ import COMMANDS, main
from tensix.dispatch import dispatcher


def test_facts(capsys):
    kept = tensix.ones(1000)
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["tensix"], facts["python"], facts["numpy"]) == (
        tensix.__version__, platform.python_version(), np.__version__,
    )  # fmt: skip
    assert facts["bytes in use"] == tensix.CPUAllocator.bytes_in_use() >= kept.nbytes
    assert facts["operators"] == dispatcher.operators() and "CPUAllocator" in facts["cpu allocator"]


def test_text_has_the_same_facts(capsys):
    main(["info", "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    for name, value in facts.items():
        assert name in text
        if isinstance(value, str):
            assert value in text
    assert f"{len(facts['operators'])}, named by --json" in text


def test_allocator_of_the_context_is_told(capsys):
    with tensix.use_allocator(tensix.CPUAllocator(alignment=4096)):
        main(["info"])
    assert "CPUAllocator(alignment=4096)" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["nothing"], ["info", "more"], ["inspect"], ["trace", "1", "--xml"]])
def test_wrong_command_line(capsys, words):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2 and "usage: tensix" in capsys.readouterr().err


@pytest.mark.parametrize("words, shown", [
    (["--version"], f"tensix {tensix.__version__}"), (["--help"], "inspect"), (["trace", "--help"], "examples:"),
])
def test_questions_to_the_command_line(capsys, words, shown):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 0 and shown in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_answers_questions(capsys, command):
    for words, shown in ((["-h"], f"usage: tensix {command} "), (["--version"], f"tensix {tensix.__version__}\n"),
                         (["-V"], f"tensix {tensix.__version__}\n")):  # fmt: skip
        with pytest.raises(SystemExit) as end:
            main([command, *words])
        assert end.value.code == 0 and capsys.readouterr().out.startswith(shown)


def test_help_names_each_command(capsys):
    with pytest.raises(SystemExit):
        main(["-h"])
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{command} {does}" in shown for command, (_, does) in COMMANDS.items())


@pytest.mark.parametrize("words", [
    "info", "info --json", "trace rand(3)", "explain rand(3)", "run -c pass", "memory -c pass", "--version",
])  # fmt: skip
def test_a_closed_output_is_no_error(words):
    command = f"exec {shlex.join([sys.executable, '-m', 'tensix', *words.split()])} >&-"
    finished = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert finished.returncode == 0 and "Traceback" not in finished.stderr


@pytest.mark.parametrize("command", ["trace", "explain"])
def test_a_syntax_error_is_reported_as_python_reports_it(capsys, command):
    code = "x = 1\nif x\n    2"
    python = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert main([command, code]) == 1
    assert capsys.readouterr().out.startswith(python.stderr) and "SyntaxError: expected ':'" in python.stderr


def test_as_a_program():
    finished = subprocess.run([sys.executable, "-m", "tensix", "info", "--json"], capture_output=True, check=True)
    facts = json.loads(finished.stdout)
    assert facts["tensix"] == tensix.__version__ and facts["bytes in use"] == 0 and finished.stderr == b""
