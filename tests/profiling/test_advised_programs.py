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
from tensix.profiling.advice import FINDERS
from tensix.profiling.replay import Replay
from tensix.profiling.uses import Uses

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
        CHANGES[one.kind](tree, parents, one.text, one.place.line)
    return ast.unparse(ast.fix_missing_locations(tree))


def add_statement(tree, parents, text, line):
    new, where = re.match(r"`(.*?)` (after|before) ", text).groups()
    ends = "end_lineno" if where == "after" else "lineno"
    statement = [
        node for node in ast.walk(tree) if isinstance(node, ast.stmt) and getattr(node, ends, None) == line
    ][-1 if where == "after" else 0]
    insert(parents[id(statement)], statement, ast.parse(new).body, where == "after")


def write_into_operand(tree, parents, text, line):
    first, second, last = re.match(r"`(.*?)` and `(.*?)` at [^ ]+(?: then `(.*)`,)? would", text).groups()
    operand = first.removeprefix("new = ")
    statement = statement_at(tree, line)
    [node] = [
        node for node in ast.walk(statement) if isinstance(node, (ast.Call, ast.BinOp))
        and operand in [ast.unparse(child) for child in ast.iter_child_nodes(node)]
    ]  # fmt: skip
    insert(parents[id(statement)], statement, ast.parse(f"{first}\n{second}").body, is_after=False)
    insert(parents[id(statement)], statement, ast.parse(last or "").body, is_after=True)
    node.__class__, node.__dict__ = ast.Name, {"id": "new", "ctx": ast.Load()}


def leave_copy_out(tree, parents, text, line):
    new, old = re.match(r"`(.*?)` for `(.*?)` at", text).groups()
    node = next(node for node in ast.walk(statement_at(tree, line)) if ast.unparse(node) == old)
    new = ast.parse(new, mode="eval").body
    node.__class__, node.__dict__ = new.__class__, new.__dict__


def write_parts(tree, parents, text, line):
    """Write the parts into one array, which is made with the first of them, for its shape is known then."""
    text = re.match(r"writing the \d+ parts of `(.*?)` at ", text)[1]
    [join] = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node) == text]
    name, [listed] = join.func.attr, join.args
    statement = parents[id(join)]
    if isinstance(listed, ast.ListComp):
        target, times, value = listed.generators[0].target, listed.generators[0].iter, listed.elt
    else:
        loop = next(node for node in ast.walk(tree) if isinstance(node, ast.For) and node.lineno == line)
        appended = next(n for n in loop.body if ast.unparse(n).startswith(f"{listed.id}.append("))
        target, times, value = loop.target, loop.iter, appended.value.args[0]
    many, where = f"len({ast.unparse(times)})", "place"
    shape = f"({many}, *part.shape)"
    if name == "concatenate":
        shape, where = f"({many} * len(part), *part.shape[1:])", "place * len(part):(place + 1) * len(part)"
    body = ast.parse(
        f"part = {ast.unparse(value)}\nif place == 0:\n    whole = np.empty({shape}, part.dtype)\n"
        f"whole[{where}] = part\ndel part"
    ).body
    head = ast.parse(f"for place, {ast.unparse(target)} in enumerate({ast.unparse(times)}):\n    pass").body[0]
    if isinstance(listed, ast.ListComp):
        head.body = body
        insert(parents[id(statement)], statement, [head], is_after=False)
    else:
        loop.target, loop.iter = head.target, head.iter
        place = loop.body.index(appended)
        loop.body[place:place + 1] = body
    join.__class__, join.__dict__ = ast.Name, {"id": "whole", "ctx": ast.Load()}
    if not isinstance(statement, ast.Return):
        insert(parents[id(statement)], statement, ast.parse("del whole").body, is_after=True)


def leave_statement_out(tree, parents, text, line):
    statement = statement_at(tree, line)
    insert(parents[id(statement)], statement, [ast.Pass()], is_after=False)
    parents[id(statement)].body.remove(statement)


CHANGES = {
    "dead": add_statement, "view": add_statement, "temporary": write_into_operand, "copy": leave_copy_out,
    "parts": write_parts, "untouched": leave_statement_out,
}  # fmt: skip


def statement_at(tree, line):
    """Return the innermost statement of a line."""
    return [
        node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno
    ][-1]  # fmt: skip


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
    uses = Uses(snapshot := load_snapshot(tmp_path / "out.json"), Replay([snapshot]))
    kinds = "copy", "parts", "view", "untouched", "traceback"  # nor anything below the peak
    assert [change for kind in kinds for change in FINDERS[kind](uses)] == []


def test_the_table_names_all_programs():
    assert TABLE.keys() == {program.stem for program in (*PROGRAMS, *TRAPS)}
