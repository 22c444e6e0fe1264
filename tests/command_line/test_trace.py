"""``python -m tensix trace``, as text and as JSON."""

import json
import subprocess
import sys

import pytest

from tensix.__main__ import main

ADDITION = "rand(3, 4)[0] + rand(3, 4)"
VIEWS = "t = randn(1000, 1000); v = t[100:200, :]; c = t.clone()"
CAUGHT = """
try:
    zeros(2) + zeros(3)
except ValueError:
    pass
x = ones(4)
-x
"""


@pytest.fixture
def trace(capsys):
    """Return a function that traces code as JSON and returns the exit status and the report."""

    def run(code):
        status = main(["trace", code, "--json"])
        captured = capsys.readouterr()
        assert captured.err == ""
        return status, json.loads(captured.out)

    return run


def calls_of(events):
    for event in events:
        if event["kind"] == "call":
            yield event
            yield from calls_of(event["events"])


def events_of(events, kind):
    for event in events:
        if event["kind"] == kind:
            yield event
        yield from events_of(event.get("events", []), kind)


def all_events(report, kind):
    return [event for statement in report["statements"] for event in events_of(statement["events"], kind)]


def assert_adds_up(report):
    """What was allocated was freed or is alive, event by event."""
    balance = report["balance"]
    made, freed = all_events(report, "allocate"), all_events(report, "free")
    assert (len(made), sum(event["nbytes"] for event in made)) == (
        balance["blocks_allocated"],
        balance["bytes_allocated"],
    )
    assert (len(freed), sum(event["nbytes"] for event in freed)) == (balance["blocks_freed"], balance["bytes_freed"])
    alive = {block["block"]: block["nbytes"] for block in balance["alive"]}
    assert sum(alive.values()) == balance["bytes_allocated"] - balance["bytes_freed"]
    assert set(alive) == {event["block"] for event in made} - {event["block"] for event in freed}
    assert balance["peak_bytes"] <= balance["bytes_allocated"]


def test_addition(trace):
    status, report = trace(ADDITION)
    assert status == 0 and report["error"] is None and report["code"] == ADDITION
    (statement,) = report["statements"]
    assert [event["operator"] for event in statement["events"] if event["kind"] == "call"] == [
        "tensix::rand", "tensix::index.basic", "tensix::rand", "tensix::add.Tensor",
    ]  # fmt: skip
    index, addition = (event for event in calls_of(statement["events"]) if "." in event["operator"][8:] and
                       "empty" not in event["operator"])  # fmt: skip
    assert (index["result"]["view_of"], index["result"]["shape"], index["result"]["block"]) == ("t1", [4], "A")
    assert index["owners_before"]["t1"] + 1 == index["owners_after"]["t1"]
    assert (addition["key"], addition["kernel"]) == ("CPU", "numpy.add loops")
    assert addition["result"]["dtype"] == "float32" and addition["result"]["block"] == "C"
    assert statement["result"].startswith("tensor([[") and statement["result_tensor"] == addition["result"]["tensor"]
    assert report["balance"] == {
        "blocks_allocated": 3, "bytes_allocated": 144, "blocks_freed": 2, "bytes_freed": 96, "peak_bytes": 144,
        "alive": [{"block": "C", "nbytes": 48, "held_by": ["the result"]}],
    }  # fmt: skip
    assert_adds_up(report)


def test_views_and_clones(trace):
    status, report = trace(VIEWS)
    assert status == 0 and [statement["source"] for statement in report["statements"]] == VIEWS.split("; ")
    view, copy = (report["statements"][number]["events"][0]["result"] for number in (1, 2))
    assert (view["view_of"], view["storage_offset"], view["stride"]) == ("t1", 100_000, [1000, 1])
    assert (copy["view_of"], copy["block"]) == (None, "B")
    assert report["balance"]["alive"] == [
        {"block": "A", "nbytes": 4_000_000, "held_by": ["t", "v"]},
        {"block": "B", "nbytes": 4_000_000, "held_by": ["c"]},
    ]
    assert_adds_up(report)


def test_advanced_indexing(trace):
    """A copy, not a view; and a key is named where it is a tensor."""
    _, report = trace("x = ones(3, 4); i = tensor([0, 2]); x[i, 1:]; x[i] = 5; x[[[0], [1]], i]")
    read, write = report["statements"][2]["events"][0], report["statements"][3]["events"][-1]
    assert (read["operator"], read["arguments"]) == ("tensix::index.Tensor", ["t1", "(t2, slice(1, None, None))"])
    assert (read["result"]["shape"], read["result"]["view_of"], read["result"]["in_place"]) == ([2, 3], None, False)
    put = next(event for event in report["statements"][3]["events"] if event.get("operator") == "tensix::index_put_")
    assert put["arguments"][:2] == ["t1", "t2"] and put["result"]["in_place"] and write["kind"] == "free"
    assert report["statements"][4]["events"][0]["arguments"] == ["t1", "([[0], [1]], t2)"]
    assert_adds_up(report)


def test_keys_are_shown_in_one_line(trace):
    _, report = trace("import numpy; ones(3, 4)[numpy.eye(3, 4) > 0]")
    calls = calls_of(report["statements"][1]["events"])
    (shown,) = (call["arguments"][1] for call in calls if call["operator"] == "tensix::index.Tensor")
    assert shown.startswith("array([[ True,") and "\n" not in shown


def test_copy_on_write(trace):
    _, report = trace("t = ones(8); c = t.lazy_clone(); c.fill_(2); t.fill_(3)")
    clone, first, second = (report["statements"][number]["events"][0] for number in (1, 2, 3))
    assert (clone["result"]["copy_on_write_of"], clone["result"]["block"], clone["events"]) == ("t1", "A", [])
    assert [event["kind"] for event in first["events"]] == ["allocate"] and second["events"] == []
    assert (first["result"]["in_place"], first["result"]["block"], second["result"]["block"]) == (True, "B", "A")
    assert_adds_up(report)


@pytest.mark.parametrize("code", [
    "x = ones(4); x = x + x; x = -x; del x", "for i in range(3):\n    y = ones(i + 1) * 2", "",
    "x = [ones(2) for _ in range(3)]\nx.pop()", "ones(2); ones(3); ones(4)", "import math; math.pi",
    "def f(a):\n    return a.T + a\nf(rand(3, 3))", "a = empty(0); b = a + a", "t = Tensor(); t", "5", "None",
    "from_numpy(__import__('numpy').ones(3)) + 1", "x = ones(3); y = x[::-1]; x.copy_(y)", CAUGHT,
])
def test_every_balance_adds_up(trace, code):
    status, report = trace(code)
    assert status == 0 and report["error"] is None
    assert_adds_up(report)


def test_caught_errors_leave_later_calls_where_they_are(trace):
    _, report = trace(CAUGHT)
    operators = [[event["operator"] for event in statement["events"] if event["kind"] == "call"]
                 for statement in report["statements"]]  # fmt: skip
    assert operators[1:] == [["tensix::ones"], ["tensix::neg"]]
    assert [block["nbytes"] for block in report["balance"]["alive"]] == [16, 16]


def test_undefined_tensors_are_traced(trace):
    status, report = trace("Tensor() + Tensor()")
    assert status == 1 and report["error"].startswith("RuntimeError: There were no tensor arguments")


def test_nested_definitions_see_each_other(trace):
    assert trace("n = 3\nx = [n for _ in range(n)]\ndef f():\n    return ones(n)\nf().shape")[1]["error"] is None


def test_indented_code(trace):
    status, report = trace("\n    x = ones(2)\n    y = x + x\n")
    assert (status, len(report["statements"])) == (0, 2)


FAILURES = {
    "ones(2) + ones(3)": "ValueError: shapes (2,) and (3,) cannot be broadcast together",
    "1 / 0": "ZeroDivisionError: division by zero",
    "nothing": "NameError: name 'nothing' is not defined",
    "x = (": "SyntaxError",
    "return 5": "SyntaxError",
    "import x y": "SyntaxError",
    "empty(2**60)": "OutOfMemoryError: cannot allocate",
    "raise RuntimeError('one\\ntwo')": "RuntimeError: one",
    "a = ones(2); a.fill_('x')": "TypeError: fill_() writes one number",
}


@pytest.mark.parametrize("code", FAILURES)
def test_failure_is_reported_and_gives_the_status(trace, code):
    status, report = trace(code)
    assert status == 1 and FAILURES[code] in report["error"]
    assert_adds_up(report)


@pytest.mark.parametrize("code", ["a\0b", "\\" * 3, "(" * 300, "1" + "+1" * 60_000],
                         ids=["null byte", "backslashes", "brackets", "deep"])
def test_code_that_cannot_be_read(capsys, code):
    assert main(["trace", code]) in (1, 2)
    captured = capsys.readouterr()
    assert "Error" in captured.out or captured.err.startswith("tensix: ")


def test_failed_calls_and_allocations_are_told(trace):
    _, report = trace("x = ones(2); x + empty(2**60)")
    assert [event["nbytes"] for event in all_events(report, "out of memory")] == [2**62]
    assert [event.get("failed", False) for event in all_events(report, "call")] == [False, False, False, True]
    _, report = trace("y = ones(2); y + ones(3)")
    assert [block["held_by"] for block in report["balance"]["alive"]] == [["y"]]


# ---- for persons


@pytest.mark.parametrize("words", [
    ["1. rand((3, 4))", "2. index.basic(t1, 0)", "4. add.Tensor(t2, t3)", "schema  tensix::add.Tensor(Tensor self",
     "chosen  key CPU, kernel numpy.add loops, dtype float32", "alloc   block A: 48 bytes, aligned to",
     "CPUAllocator(alignment=64, huge_pages=True)", "a view of t1 on block A", "owners  of the storage of t1 1 -> 2",
     "freed   block A: 48 bytes", "tensor([[", "balance", "3 blocks", "peak", "held by the result"],
])  # fmt: skip
def test_text(capsys, words):
    assert main(["trace", ADDITION]) == 0
    captured = capsys.readouterr()
    assert [word for word in words if word not in captured.out] == []
    assert captured.err == "" and "\x1b" not in captured.out


def test_text_of_views(capsys):
    assert main(["trace", VIEWS]) == 0
    text = capsys.readouterr().out
    for words in (">>> v = t[100:200, :]", "offset 100000", "3.81 MiB", "held by t, v", "held by c", "3. clone(t1)"):
        assert words in text


def test_text_of_a_failure(capsys):
    assert main(["trace", "x = ones(2); x + ones(3)"]) == 1
    captured = capsys.readouterr()
    assert "ValueError: shapes (2,) and (3,)" in captured.out and "Traceback" not in captured.out + captured.err


def test_same_facts_in_both_forms(capsys, trace):
    code = "t = ones(5); u = t.T + t; del t; u.lazy_clone()"
    _, report = trace(code)
    main(["trace", code])
    text = capsys.readouterr().out
    for event in all_events(report, "allocate"):
        assert f"block {event['block']}: {event['nbytes']} bytes" in text
    for call in all_events(report, "call"):
        assert call["schema"] in text and f"kernel {call['kernel']}" in text
    for block in report["balance"]["alive"]:
        assert f"block {block['block']}, {block['nbytes']} bytes, held by {', '.join(block['held_by'])}" in text


def test_as_a_program():
    command = [sys.executable, "-m", "tensix", "trace"]
    finished = subprocess.run([*command, ADDITION, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(finished.stdout)["balance"]["blocks_allocated"] == 3
    finished = subprocess.run([*command, "1 / 0"], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (1, "") and "ZeroDivisionError" in finished.stdout
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 2 and "required: code" in finished.stderr


def test_the_package_has_its_name(capsys):
    assert main(["trace", "tensix.rand(2)"]) == 0
    assert "nothing that has a name here" not in capsys.readouterr().out


def test_a_file_is_no_code(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text("import tensix")
    assert main(["trace", str(script)]) == 2
    assert f"python -m tensix memory {script}" in capsys.readouterr().err


@pytest.mark.parametrize("is_there", [True, False])
def test_a_script_is_sent_to_the_command_that_takes_one(tmp_path, capsys, is_there):
    """Not answered with a NameError about `script`, whether the file is there or its name is mistyped."""
    script = tmp_path / "script.py"
    if is_there:
        script.write_text("import tensix\n")
    assert main(["trace", str(script)]) == 2
    assert f"python -m tensix memory {script}" in capsys.readouterr().err
