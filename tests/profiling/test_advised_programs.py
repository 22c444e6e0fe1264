"""What programs on well-known packages are advised, checked by doing it: same output, and the peak that was predicted.

The table of ``docs/advice.rst`` says what each program of ``advised/`` is to be advised. Those of ``traps/`` seem
not to use an array again, and must not be advised anything.
"""

import ast
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tensix.memory import load_snapshot
from tensix.profiling.replay import Replay

FOLDER = Path(__file__).parent
PROGRAMS = sorted(FOLDER.glob("advised/*.py"))
TRAPS = sorted(FOLDER.glob("traps/*.py"))
ROW = re.compile(r"^``(\w+)``.*?  (\d+) +(\d+) +(\d+) *$", re.MULTILINE)
TABLE = {name: tuple(map(int, numbers)) for name, *numbers in ROW.findall(
    FOLDER.parents[1].joinpath("docs", "advice.rst").read_text(encoding="utf-8"))}  # fmt: skip


def recorded(program, folder):
    """Return what a program prints, its advice and its peak."""
    for name in re.findall(r"^(?:import|from) (\w+)", program.read_text(encoding="utf-8"), re.MULTILINE):
        pytest.importorskip(name)
    command = [sys.executable, "-W", "ignore", "-m", "tensix", "memory", "-q", "-o", "out.json", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, timeout=120)
    snapshot = load_snapshot(folder / "out.json")
    return done.stdout, snapshot.advice(), Replay([snapshot]).peak


def changed(source, advice):
    """Return a program that does what is advised."""
    tree = ast.parse(source)
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for one in advice:
        line = one.place.line
        if one.kind == "dead":
            names, where = re.match(r"`del (.*)` (after|before) ", one.text).groups()
            ends = "end_lineno" if where == "after" else "lineno"
            statement = [
                node for node in ast.walk(tree) if isinstance(node, ast.stmt) and getattr(node, ends, None) == line
            ][-1 if where == "after" else 0]
            insert(parents[id(statement)], statement, ast.parse(f"del {names}").body, where == "after")
        else:
            first, second, last = re.match(r"`(.*?)` and `(.*?)` at [^ ]+(?: then `(.*)`,)? would", one.text).groups()
            operand = first.removeprefix("new = ")
            [statement] = [
                node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body")
                and getattr(node, "lineno", 0) <= line <= getattr(node, "end_lineno", 0)
            ]  # fmt: skip
            [node] = [
                node for node in ast.walk(statement) if isinstance(node, (ast.Call, ast.BinOp))
                and operand in [ast.unparse(child) for child in ast.iter_child_nodes(node)]
            ]  # fmt: skip
            insert(parents[id(statement)], statement, ast.parse(f"{first}\n{second}").body, is_after=False)
            insert(parents[id(statement)], statement, ast.parse(last or "").body, is_after=True)
            node.__class__, node.__dict__ = ast.Name, {"id": "new", "ctx": ast.Load()}
    return ast.unparse(ast.fix_missing_locations(tree))


def insert(parent, statement, new, is_after):
    """Put statements before or after another one."""
    for body in (getattr(parent, name, []) for name in ("body", "orelse", "finalbody")):
        if statement in body:
            place = body.index(statement) + is_after
            body[place:place] = new


@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="variables are examined with the GIL")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_what_a_program_is_advised_is_right(program, tmp_path):
    printed, advice, _ = recorded(program, tmp_path)
    right, wrong, _ = TABLE[program.stem]
    assert (len(advice), wrong) == (right, 0), advice
    for count in {1, len(advice)}:
        other = tmp_path / program.name
        other.write_text(changed(program.read_text(encoding="utf-8"), advice[:count]), encoding="utf-8")
        now_printed, _, peak = recorded(other, tmp_path)
        assert now_printed == printed
        assert abs(peak - advice[count - 1].peak_after) <= 0.01 * peak, (advice, peak)


@pytest.mark.parametrize("program", TRAPS, ids=lambda program: program.stem)
def test_a_trap_is_not_advised_anything(program, tmp_path):
    _, advice, peak = recorded(program, tmp_path)
    assert peak > 4_000_000 and advice == []


def test_the_table_names_all_programs():
    assert TABLE.keys() == {program.stem for program in (*PROGRAMS, *TRAPS)}
