"""``%load_ext tensix`` in IPython."""

import html
import re

import numpy as np
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from tensix.memory import load_snapshot


@pytest.fixture
def shell():
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "tensix")
    shell.push({"np": np})
    yield shell
    InteractiveShell.clear_instance()


def test_a_cell_shows_what_it_did(shell):
    with capture_output() as shown:
        assert shell.run_cell("%%tensix_memory --height 300\nx = np.ones(3_000_000, np.uint8)\ny = x + x\n7").success
    assert "7\nmemory of x = np.ones(3_000_000, np.uint8)\n    peak           5.72 MiB   " in shown.stdout
    assert re.search(r"resident +[\d.]+ [MG]iB   at most", shown.stdout)
    frame = shown.outputs[-1].data["text/html"]
    assert "height: 300px" in frame
    page = html.unescape(re.search(r'<iframe srcdoc="(.*?)" sandbox="allow-scripts"', frame, re.DOTALL)[1])
    assert page.startswith("<!DOCTYPE html>") and "x = np.ones(3_000_000" in page
    assert shell.user_ns["y"].nbytes == 3_000_000


def test_a_line_and_a_file(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with capture_output() as shown:
        shell.run_cell("%tensix_memory z = np.ones(5_000_000, np.uint8)")
        shell.run_cell("%%tensix_memory --output cell.json --no-numpy\nz = np.ones(5_000_000)\n1 / 0")
    assert "peak           4.77 MiB   " in shown.stdout
    assert "ZeroDivisionError" in shown.stdout and "wrote cell.json, " in shown.stdout
    assert load_snapshot("cell.json")["blocks"]["nbytes"] == []


def test_a_page_that_is_too_large_becomes_a_file(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tensix.command_line.notebook.MOST_INLINE", 1000)
    with capture_output() as shown:
        shell.run_cell("%tensix_memory z = np.ones(5_000_000, np.uint8)")
    assert shown.outputs == [] and "wrote tensix_memory.html" in shown.stdout
    assert (tmp_path / "tensix_memory.html").stat().st_size > 10_000


def test_what_is_wrong_is_said(shell):
    with pytest.raises(UsageError, match="nothing to run"):
        shell.run_line_magic("tensix_memory", "")
    with pytest.raises(UsageError, match=r"--nonesuch Usage: %%tensix_memory \[-o OUTPUT\]"):
        shell.run_cell_magic("tensix_memory", "--nonesuch", "1")


def test_lines_are_called_by_the_numbers_of_their_cells(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with capture_output() as shown:
        shell.run_cell("def f(n):\n    x = np.ones(n)\n    return x + x", store_history=True)
        first = shell.execution_count - 1
        shell.run_cell("%%tensix_memory -o cell.json\n\ny = f(1_000_000)", store_history=True)
        shell.run_cell("%tensix_memory z = np.ones(2_000_000)", store_history=True)
    assert f"   cell [{first}]:3 f\n" in shown.stdout and f"   cell [{first + 2}]:1 <module>\n" in shown.stdout
    frames = load_snapshot("cell.json")["frames"]
    sources = {(frame["file"], frame["line"]): frame.get("source") for frame in frames}
    assert sources[f"cell [{first}]", 3] == "return x + x" and sources[f"cell [{first + 1}]", 3] == "y = f(1_000_000)"
    assert shell.execution_count == first + 3
