"""What a recording advises, checked by doing it: the peak that is left is the one that was predicted."""

import json
import sys
import sysconfig
import threading
import traceback
import weakref

import numpy as np
import pytest

import tensix
from tensix.memory import load_snapshot, record
from tensix.profiling.advice import findings_of, plan_of, summary_of
from tensix.profiling.replay import Replay
from tensix.profiling.uses import Change

ROWS = 500


def recorded(function, *arguments):
    with record() as recording:
        function(*arguments)
    return recording.snapshot(holders=False)


def peak_of(snapshot):
    return Replay([snapshot]).peak


def only(advice, kind, word=""):
    found = [one for one in advice if one.kind == kind and word in one.text]
    assert len(found) == 1, advice
    return found[0]


def line_of(function, text):
    """Return the number of the only line of a function that contains a text."""
    code = function.__code__
    with open(code.co_filename, encoding="utf-8") as file:
        lines = file.read().splitlines()[code.co_firstlineno - 1 :]
    return code.co_firstlineno + next(number for number, line in enumerate(lines) if text in line)


# ---- blocks that are not used again


def forward(drops):
    x = tensix.ones(ROWS, 64)
    w = tensix.ones(64, 64)
    hidden = x @ w
    score = hidden.sum()
    if drops == "hidden":
        del hidden
    second = x @ w
    third = second @ w
    return (x.sum() + w.sum() + second.sum() + third.sum() + score).item()


def test_a_hidden_activation_that_is_kept():
    snapshot = recorded(forward, "")
    advice = only(snapshot.advice(), "idle", "`del hidden`")
    assert (advice.place.line, advice.place.function) == (line_of(forward, "hidden.sum"), "forward")
    assert [snapshot["blocks"]["nbytes"][number] for number in advice.blocks] == [ROWS * 64 * 4]
    assert advice.saves == peak_of(snapshot) - advice.peak_after > 0
    assert peak_of(recorded(forward, "hidden")) == advice.peak_after
    assert advice.text.startswith(f"`del hidden` after test_advice.py:{advice.place.line} would make the peak")


def deep(drops):
    kept = []
    x, w = tensix.ones(ROWS, 8), tensix.ones(8, 8)
    for _ in range(6):
        x = x @ w
        kept.append(x)
        if drops:
            kept.pop()
    return (x.sum() + w.sum()).item()


def test_activations_in_a_list():
    snapshot = recorded(deep, False)
    advice = only(snapshot.advice(), "idle", f"from test_advice.py:{line_of(deep, 'x @ w')} after")
    assert len(advice.blocks) == 5  # all but the last one
    assert advice.place.line == line_of(deep, "x @ w")
    assert peak_of(recorded(deep, True)) == advice.peak_after


def returns():
    x = tensix.ones(ROWS)
    x.sum()
    return x


def caller(drops):
    made = returns()
    if drops:
        del made
    y = tensix.ones(2 * ROWS)
    return y.sum().item()


def test_the_variable_of_what_a_function_returns_is_the_callers():
    advice = only(recorded(caller, False).advice(), "idle", "`del made`")
    assert advice.place.line == line_of(caller, "returns()")
    assert peak_of(recorded(caller, True)) == advice.peak_after


def several_lines(drops):
    first = tensix.ones(ROWS)
    total = tensix.concat([
        first,
        tensix.ones(3 * ROWS),
    ])  # fmt: skip
    if drops:
        del first
    other = tensix.ones(5 * ROWS)
    return (total.sum() + other.sum()).item()


def test_a_statement_frees_nothing_before_it_ends():
    advice = only(recorded(several_lines, False).advice(), "idle", "`del first`")
    assert peak_of(recorded(several_lines, True)) == advice.peak_after


def tight():
    x = tensix.ones(ROWS)
    for _ in range(3):
        x += 1
    y = x @ tensix.ones(ROWS, ROWS)
    return (x.sum() + y.sum()).item()


def test_a_tight_program_gets_no_advice():
    snapshot = recorded(tight)
    assert snapshot.advice() == [] and list(summary_of(findings_of(snapshot))) == []


def views():
    x = tensix.ones(ROWS, 2)
    y = tensix.ones(ROWS, ROWS)
    return (x.T[0][0] + y[0, 0]).item()


def test_elements_read_through_a_view_are_a_use():
    blocks = recorded(views)["blocks"]
    x, y = blocks["nbytes"].index(ROWS * 8), blocks["nbytes"].index(ROWS * ROWS * 4)
    assert blocks["last_used_ns"][x] > blocks["allocated_ns"][y]


def only_views():
    x = tensix.ones(ROWS, 2)
    y = tensix.ones(ROWS)
    x.T[0].reshape(5, -1)
    return y


def test_making_a_view_is_no_use():
    blocks = recorded(only_views)["blocks"]
    assert blocks["last_used_ns"][0] < blocks["allocated_ns"][1]


def test_other_threads():
    def work():
        first = tensix.ones(ROWS)
        first.sum()
        second = tensix.ones(ROWS)
        second.sum()

    def run():
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    snapshot = recorded(run)
    blocks = snapshot["blocks"]
    made = [number for number, nbytes in enumerate(blocks["nbytes"]) if nbytes == ROWS * 4]
    assert len(made) == 16
    names = {snapshot["frames"][snapshot["stacks"][blocks["last_use_stack"][n]][0]]["function"] for n in made}
    assert len(names) == 1 and names.pop().endswith("work")
    for advice in snapshot.advice():
        assert 0 < advice.peak_after < peak_of(snapshot)


# ---- what nobody sees


EXPORTS = {
    "array": lambda x: np.asarray(x),
    "buffer": lambda x: memoryview(x),
    "DLPack": lambda x: np.from_dlpack(x),
    "address": lambda x: x.__array_interface__["data"] and None,
}


@pytest.mark.parametrize("name", EXPORTS)
def test_nothing_is_said_of_what_others_have(name):
    def run():
        x = tensix.ones(ROWS)
        view = EXPORTS[name](x)
        y = tensix.ones(ROWS)
        return y.sum().item(), view, x

    with record() as recording:
        kept = run()
        snapshot = recording.snapshot(holders=False)
    blocks = snapshot["blocks"]
    assert blocks["last_used_ns"][0] is blocks["last_written_ns"][0] is blocks["last_use_stack"][0] is None
    assert [advice for advice in snapshot.advice() if 0 in advice.blocks] == []
    del kept


def test_an_export_that_ends_was_a_use():
    with record() as recording:
        x = tensix.ones(ROWS)
        view = np.asarray(x)
        y = tensix.ones(ROWS)
        del view
    blocks = recording.snapshot(holders=False)["blocks"]
    assert blocks["last_used_ns"][0] > blocks["allocated_ns"][1]
    assert blocks["last_written_ns"][0] == blocks["last_used_ns"][0]  # that it was not cannot be known
    assert x[0] == y[0]


def test_a_block_without_a_storage():
    with record() as recording:
        block = tensix.CPUAllocator().allocate(1000)
    assert recording.snapshot(holders=False)["blocks"]["last_used_ns"] == [None]
    del block


def test_arrays_of_numpy():
    snapshot = recorded(forward, "")
    snapshot["blocks"]["kind"] = [1] * len(snapshot["blocks"]["nbytes"])
    assert snapshot.advice() == []
    [line] = summary_of(findings_of(snapshot))
    assert line.endswith("of the peak are NumPy's arrays, which may be used again")


# ---- arrays in variables


def blurred(size):
    padded = np.ones((size, size))
    rows = padded * 2
    columns = np.sqrt(rows)
    return columns.sum() + rows[0, 0]


def keeps(size):
    first = np.ones((size, size))
    part = first[1:]
    chunks = [part, np.ones((size, size))]
    total = sum(chunk.sum() for chunk in chunks)
    return total + np.sqrt(np.ones((2 * size, size))).sum()


@pytest.fixture
def served():
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("variables are not examined without the GIL: docs/advice.rst")
    with tensix.memory.serve_numpy():
        yield


def test_an_array_that_is_not_used_again(served):
    snapshot = recorded(blurred, ROWS)
    advice = only(snapshot.advice(), "dead")
    assert b"`del padded` after " in advice.text.encode()  # in a text it would be a use
    assert advice.place.line == line_of(blurred, " * 2")
    assert (advice.saves, advice.peak_after) == (ROWS * ROWS * 8, peak_of(snapshot) - ROWS * ROWS * 8)


def test_arrays_in_a_list(served):
    snapshot = recorded(keeps, ROWS)
    [advice] = snapshot.advice(["dead"])
    assert b"`del chunks` after " in advice.text.encode() and advice.place.line == line_of(keeps, " = sum(")
    assert advice.saves == ROWS * ROWS * 8  # the other one is in two variables besides


def test_kinds_are_chosen(served):
    snapshot = recorded(blurred, ROWS)
    assert snapshot.advice(["idle", "clone"]) == [] != snapshot.advice(["dead"])
    with pytest.raises(ValueError, match=r"unknown kind of advice 'late': the kinds are untouched, parts, dead"):
        snapshot.advice(["late"])


@pytest.mark.parametrize("kind", ["trace", "profile"])
def test_nothing_is_looked_at_while_a_debugger_runs(served, kind):
    before = sys.gettrace()
    if kind == "trace":
        sys.settrace(lambda *_: None)
    try:
        snapshot = recorded(blurred, ROWS)
    finally:
        sys.settrace(before)
    assert ("moments" in snapshot) == (kind != "trace")


def test_variables_are_as_before(served):
    """A frame keeps no copy of its variables, so arrays are freed when they were."""

    def run():
        values = np.ones((ROWS, ROWS))
        died = weakref.ref(values)
        del values
        return died() is None, np.ones((ROWS, ROWS)).sum()

    found = []
    recorded(lambda: found.append(run()))
    assert found == [(True, ROWS * ROWS)]


# ---- copies, views, parts, pages


def joins(size):
    parts = []
    for number in range(8):
        half = number / 2
        parts.append(np.full(size, half))
    whole = np.stack(parts)
    return whole.sum() + np.median(whole.flatten())


def keeps_base(size):
    rows = np.ones((size, size))[: size // 10]
    other = np.ones((size, size)) * 2
    return other.sum() + rows.sum()


def test_parts_and_copies(served):
    snapshot = recorded(joins, ROWS * ROWS)
    copy, parts = (only(snapshot.advice(), kind) for kind in ("copy", "parts"))
    assert copy.text.startswith(f"`whole.ravel()` for `whole.flatten()` at test_advice.py:{line_of(joins, 'flatten')}")
    assert parts.text.startswith("writing the 8 parts of `np.stack(parts)`") and len(parts.blocks) == 9
    assert parts.place.line == line_of(joins, "for number")


def test_a_view_that_keeps_its_base(served):
    advice = only(recorded(keeps_base, ROWS).advice(), "view")
    assert b"`rows = rows.copy()` before " in advice.text.encode()  # in a text it would be a use
    assert advice.place.line == line_of(keeps_base, "* 2") and advice.saves == ROWS * ROWS * 8 * 9 // 10


def test_a_new_top_below_the_peak():
    """The block of 30 hid that at the end of the first block as much is in use as nowhere before or after."""
    blocks = [(40, 0, 3), (20, 1, 9), (30, 2, 9), (1, 3, 9)]
    snapshot = {"blocks": {
        "nbytes": [nbytes for nbytes, _, _ in blocks], "allocated_ns": [begin for _, begin, _ in blocks],
        "freed_ns": [end for _, _, end in blocks],
    }}  # fmt: skip
    replay = Replay([snapshot])
    assert (replay.peak, replay.live.tolist()) == (91, [40, 60, 90, 91, 51, 31, 1, 0])
    ends = {0: replay.born[3]}
    assert replay.peak_with(ends)[0] == 51 and replay.peak_with(ends, tops=[replay.born[3] - 1]) == (90, 2)
    [(_, after, position)] = plan_of(replay, [Change("dead", "", None, (0,), ends)])
    assert (after, position) == (90, 2)
    assert replay.peak_with({}, added=[(0, 4, 10)])[0] == 101
    assert replay.freed_at(3, ends, [(3, 5, 10)]) == 30


def fails():
    table = np.ones((ROWS, ROWS))
    raise ValueError(table.shape)


def test_what_a_traceback_keeps(served):
    def run(clears):
        with record() as recording:
            try:
                fails()
            except ValueError as error:
                kept = error
            if clears:
                traceback.clear_frames(kept.__traceback__)
        return recording.snapshot(), kept

    snapshot, _ = run(clears=False)
    advice = only(snapshot.advice(), "traceback", f"a variable of fails ({__file__}:{line_of(fails, 'raise')})")
    assert advice.text.endswith(f"would free {ROWS * ROWS * 8 / 2**20:.2f} MiB at the end")
    assert advice.saves == 0 and len(advice.blocks) == 1
    snapshot, _ = run(clears=True)
    assert snapshot.advice(["traceback"]) == []


# ---- clones


def cloning(lazily, writes):
    x = tensix.ones(ROWS)
    copy = x.lazy_clone() if lazily else x.clone()
    if writes:
        writes = copy if writes == "copy" else x
        writes[0] = 2
    return (copy.sum() + x.sum()).item()


def test_a_clone_that_is_never_written():
    advice = only(recorded(cloning, False, "").advice(), "clone")
    assert advice.place.line == line_of(cloning, "x.clone()") and "lazy_clone()" in advice.text
    assert peak_of(recorded(cloning, True, "")) == advice.peak_after


@pytest.mark.parametrize("written", ["copy", "source"])
def test_a_clone_that_is_needed(written):
    assert [one for one in recorded(cloning, False, written).advice() if one.kind == "clone"] == []


# ---- with a saved snapshot


def test_a_saved_snapshot_advises_the_same(tmp_path):
    snapshot = recorded(forward, "")
    snapshot.save(tmp_path / "snapshot.json")
    assert load_snapshot(tmp_path / "snapshot.json").advice() == snapshot.advice() != []


def test_an_older_snapshot_advises_nothing(tmp_path):
    snapshot = recorded(forward, "")
    del snapshot["operators"]
    for column in ("last_used_ns", "last_written_ns", "last_use_stack", "operator", "copy_of"):
        del snapshot["blocks"][column]
    (tmp_path / "snapshot.json").write_text(json.dumps(snapshot), encoding="utf-8")
    loaded = load_snapshot(tmp_path / "snapshot.json")
    assert loaded.advice() == [] and list(summary_of(findings_of(loaded))) == []


def test_a_recording_leaves_nothing_behind():
    with record():
        x, y = tensix.ones(ROWS), tensix.ones(ROWS)
    x += y
    copy = x.lazy_clone()
    copy[0] = 5
    assert (x[0].item(), copy[0].item(), x.sum().item()) == (2, 5, 2 * ROWS)
    with record() as recording:
        x += y
        z = x + y
    blocks = recording.snapshot(holders=False)["blocks"]
    assert blocks["nbytes"] == [ROWS * 4] and blocks["last_used_ns"][0] is not None
    assert z[0].item() == 4
