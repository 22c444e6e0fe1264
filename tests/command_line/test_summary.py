"""The summary of a recording, with other processes and resident memory."""

import pytest

from tensix.command_line.summary import lines_of_summary, sample_of_peak
from tensix.command_line.terminal import Terminal
from tensix.memory.resident_memory import COLUMNS
from tensix.profiling.replay import Replay


def snapshot_of(blocks, **others):
    """Return the part of a snapshot that a summary reads; blocks are (nbytes, from, until)."""
    nbytes, allocated, freed = map(list, zip(*blocks, strict=True)) if blocks else ([], [], [])
    return {
        "program": "prog.py", "duration_ns": 2000, "dropped": 0, "copies": [], "failures": [],
        "stacks": [[0]], "call_sites": [0], "frames": [{"file": "prog.py", "line": 3, "function": "f"}],
        "blocks": {"nbytes": nbytes, "allocated_ns": allocated, "freed_ns": freed, "stack": [0] * len(nbytes)},
    } | others  # fmt: skip


def words_of(snapshot):
    """Return the words of each line, by the first."""
    return [" ".join(line.split()) for line in lines_of_summary(snapshot, Terminal())]


def test_the_peak_of_blocks_that_come_and_go():
    replay = Replay([snapshot_of([(10, 0, 5), (20, 5, 9), (4, 6, None)])])
    assert replay.peak == 30  # of one moment allocations first: what is freed was there
    assert replay.at_peak.tolist() == [True, True, False] and replay.at_end.tolist() == [False, False, True]
    between = [(-2, -1), (0, 4), (4, 5), (-1, 20), (6, 20), (9, 20)]
    assert [replay.most_between(*times) for times in between] == [0, 10, 30, 30, 24, 4]


def test_no_blocks_at_all():
    replay = Replay([snapshot_of([])])
    assert replay.peak == 0 and replay.at_peak.tolist() == [] and replay.most_between(0, 9) == 0
    assert words_of(snapshot_of([]))[:2] == ["memory of prog.py", "peak 0 bytes 0 blocks"]


def test_processes_add_up_where_they_overlap():
    """On the clock of the first: the second is 100 later, the third begins when all that is over, and takes its own."""
    others = [
        snapshot_of([(50, 0, 90)], pid=2, name="worker-1", offset_ns=100, ended=True),
        snapshot_of([(60, 0, None)], pid=3, name="worker-2", offset_ns=1000, ended=False),
    ]
    words = words_of(snapshot_of([(40, 50, 150), (30, 500, 600)], pid=1, processes=others))
    assert words[1:4] == [
        "peak 90 bytes 2 blocks, in 3 processes together", "total 180 bytes 4 blocks", "at the end 0 bytes 0 blocks"
    ]  # fmt: skip
    assert words[5:9] == [
        "peak total blocks resident kept outside process", "40 bytes 70 bytes 2 1 the program itself",
        "50 bytes 50 bytes 1 2 worker-1", "60 bytes 60 bytes 1 3 worker-2, killed",
    ]  # fmt: skip
    assert words[-1] == "90 bytes 180 bytes 4 prog.py:3 f"


@pytest.mark.parametrize("offset", [0, 70])
def test_what_is_kept_by_tensix_and_what_is_outside_arrays(offset):
    """At the highest sample, with the most that was alive since the sample before."""
    resident = {
        "time_ns": [0, 100, 200], "nbytes": [500, 900, 800], "cached": [0, 150, 400], "recording": [10, 50, 60],
        "python": [1, 100, 3], "heap": [0, 280, 5],
    }  # fmt: skip
    resident = {name: [0, 0, 0] for name in COLUMNS} | resident
    snapshot = snapshot_of([(999, 2, 5), (300, 20, 60), (100, 120, 150)], resident=resident, offset_ns=offset)
    resident["time_ns"][0] = 10
    text = "resident 900 bytes at most; 400 bytes are outside arrays, 200 bytes are kept by tensix"
    words = words_of(snapshot)
    place = words.index(text)
    assert words[place + 1] == "100 bytes of it Python objects, those of up to 512 bytes"
    assert words[place + 2 : place + 4] == ["280 bytes C heap: larger objects, other libraries", "20 bytes the rest"]
    process = snapshot | {"pid": 2, "name": "worker"}
    words = words_of(snapshot_of([], processes=[process]))
    assert words[7] == "999 bytes 1.37 KiB 3 900 bytes 200 bytes 400 bytes 2 worker"


def test_blocks_without_pages_leave_nothing_over():
    resident = {name: [0, 0] for name in COLUMNS} | {"time_ns": [0, 5], "nbytes": [500, 900], "cached": [0, 70]}
    snapshot = snapshot_of([(3000, 0, None)], resident=resident)
    assert "resident 900 bytes at most; 0 bytes are outside arrays, 0 bytes are kept by tensix" in words_of(snapshot)


def test_a_program_that_was_killed():
    words = words_of(snapshot_of([], ended=False))
    assert "the process was killed, ran exec(), or could not write: what it did last is not known" in words


def test_marks():
    marks = [{"name": "second", "time_ns": 50}, {"name": "first", "time_ns": 10}]
    words = words_of(snapshot_of([(300, 2, 5), (100, 6, None), (70, 20, 60)], marks=marks))
    assert "at mark 100 bytes first; at most 300 bytes before" in words
    assert "at mark 170 bytes second; at most 170 bytes before" in words
    many = [{"name": str(number), "time_ns": number} for number in range(30)]
    words = words_of(snapshot_of([], marks=many))
    assert "18 marks before these" in words and "at mark 0 bytes 18; at most 0 bytes before" in words


def test_the_sample_of_the_peak_has_a_table_of_mappings_that_is_not_old():
    resident = {"nbytes": [10, 1000, 1001, 995, 998, 999], "cached": [0, 0, 0, 0, 0, 5],
                "libraries": [9, 300, 300, 700, 705, 900], "stacks": [0, 0, 0, 10, 10, 10]}  # fmt: skip
    assert sample_of_peak(resident) == 3
