"""Snapshots in files."""

import copy
import errno
import json
import linecache
import os

import pytest

import tensix
from tensix.core import CPUAllocator, OutOfMemoryError, Storage
from tensix.memory import Snapshot, load_snapshot, record
from tensix.memory.resident_memory import COLUMNS
from tensix.profiling.snapshot_file import add_sources


@pytest.fixture(scope="module")
def recorded_once():
    """Return a snapshot, for which the search for holders walks over the whole heap."""
    with record() as recording:
        x = tensix.ones(1000)
        y = x.lazy_clone()
        y += 1
        with pytest.raises(OutOfMemoryError):
            Storage(1 << 60, CPUAllocator())
        return recording.snapshot()


@pytest.fixture
def recorded(recorded_once):
    return copy.deepcopy(recorded_once)


@pytest.fixture
def with_processes(recorded):
    """Return a snapshot that has all that one may have: resident memory, and another process."""
    resident = {name: [0, 7] for name in COLUMNS}
    other = recorded | {"pid": 3, "name": "worker", "offset_ns": 7, "ended": False, "resident": resident}
    return Snapshot(recorded | {"resident": resident, "processes": [other]})


def saved(tmp_path, data, name="snapshot.json"):
    path = tmp_path / name
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_round_trip(recorded, tmp_path):
    path = tmp_path / "snapshot.json"
    recorded.save(path)
    loaded = load_snapshot(path)
    assert type(loaded) is Snapshot and loaded == recorded
    assert recorded["holders"] and recorded["copies"] and recorded["failures"]
    assert load_snapshot(str(path)) == recorded
    assert os.listdir(tmp_path) == ["snapshot.json"]


def test_page(recorded, tmp_path):
    recorded.save(tmp_path / "snapshot.HTML")
    page = (tmp_path / "snapshot.HTML").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and "test_snapshot_file.py" in page


def test_other_suffix(recorded, tmp_path):
    for name in ("snapshot", "snapshot.txt", "json"):
        with pytest.raises(ValueError, match=r"saved as \.json or \.html"):
            recorded.save(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_what_was_there_stays_if_saving_fails(recorded, tmp_path):
    path = saved(tmp_path, "old")
    recorded["program"] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        recorded.save(path)
    recorded["program"] = object()
    with pytest.raises(TypeError):
        recorded.save(path)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["snapshot.json"]
    with pytest.raises(FileNotFoundError):
        Snapshot().save(tmp_path / "missing" / "snapshot.json")


@pytest.mark.parametrize("suffix", ["json", "html"])
def test_a_file_without_space_for_it(recorded, tmp_path, suffix):
    """It says which file, what it needs and what to do; what was there stays, and nothing is left beside it."""
    resource = pytest.importorskip("resource")
    path = saved(tmp_path, "old", f"snapshot.{suffix}")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=r"needs [\d,]{5,} bytes: free some space, or save it elsewhere") as raised:
            recorded.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert raised.value.errno == errno.EFBIG and raised.value.filename == str(path)
    assert path.read_text() == "old" and os.listdir(tmp_path) == [path.name]


def test_short_form(recorded):
    assert repr(recorded) == "Snapshot(blocks=3, alive=7.81 KiB in 2, copies=1, failures=1)"


def test_newer_version(recorded, tmp_path):
    path = saved(tmp_path, recorded | {"version": 2, "tensix": "9.0"})
    with pytest.raises(ValueError, match=r"snapshot.json has version 2 of the format.* up to 1.* tensix 9\.0"):
        load_snapshot(path)


def test_truncated_anywhere(recorded, tmp_path):
    text = json.dumps(recorded)
    for length in (0, 1, len(text) // 3, len(text) // 2, len(text) - 1):
        with pytest.raises(ValueError, match="not JSON, or was cut off"):
            load_snapshot(saved(tmp_path, text[:length]))


@pytest.mark.parametrize("text", ["[]", "{}", "3", '{"format": "x"}', '{"format": null}', "\x00\x01", "[" * 100000])
def test_foreign_files(text, tmp_path):
    with pytest.raises(ValueError, match=r"not a memory snapshot|not JSON"):
        load_snapshot(saved(tmp_path, text))


def test_binary_and_missing_files(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\x93NUMPY\xff\xfe")
    with pytest.raises(ValueError, match="not JSON"):
        load_snapshot(tmp_path / "x.json")
    with pytest.raises(FileNotFoundError):
        load_snapshot(tmp_path / "missing.json")


def moment(**changes):
    """Return what a snapshot notes of a variable at a peak."""
    noted = {"block": 2, "depth": 0, "names": ["x"], "blocks": [0], "line": 3, "is_after": True}
    return noted | {"dead": [3], "live": [], "made": [1]} | changes



DAMAGES = {
    "no version": lambda data: data.pop("version"),
    "version of another kind": lambda data: data.update(version="1"),
    "no blocks": lambda data: data.pop("blocks"),
    "no stacks": lambda data: data.pop("stacks"),
    "no program": lambda data: data.pop("program"),
    "negative duration": lambda data: data.update(duration_ns=-1),
    "short column": lambda data: data["blocks"]["nbytes"].pop(),
    "missing column": lambda data: data["blocks"].pop("thread"),
    "text in a column": lambda data: data["blocks"]["nbytes"].__setitem__(0, "100"),
    "negative size": lambda data: data["blocks"]["nbytes"].__setitem__(0, -100),
    "fraction": lambda data: data["blocks"]["nbytes"].__setitem__(0, 1.5),
    "null in a column": lambda data: data["blocks"]["nbytes"].__setitem__(0, None),
    "stack out of range": lambda data: data["blocks"]["stack"].__setitem__(0, 99),
    "thread out of range": lambda data: data["blocks"]["thread"].__setitem__(0, 99),
    "allocator out of range": lambda data: data["blocks"]["allocator"].__setitem__(0, 99),
    "frame out of range": lambda data: data["stacks"][0].append(10**6),
    "stack of another kind": lambda data: data["stacks"].__setitem__(0, 3),
    "short call sites": lambda data: data["call_sites"].pop(),
    "no call sites": lambda data: data.pop("call_sites"),
    "call sites of another kind": lambda data: data.update(call_sites=3),
    "call site outside its stack": lambda data: data["call_sites"].__setitem__(0, 10**6),
    "stack without its call site": lambda data: data["call_sites"].__setitem__(0, None),
    "call site that is true": lambda data: data["call_sites"].__setitem__(0, True),
    "call site without a stack": lambda data: data["stacks"].__setitem__(0, []),
    "frame without a line": lambda data: data["frames"][0].pop("line"),
    "frame of another kind": lambda data: data["frames"].__setitem__(0, []),
    "line of another kind": lambda data: data["frames"][0].update(line="3"),
    "holder out of range": lambda data: data["holders"][0].update(block=99),
    "holder without text": lambda data: data["holders"][0].pop("text"),
    "thread without a name": lambda data: data["threads"].__setitem__(0, None),
    "copy without a stack": lambda data: data["copies"][0].pop("stack"),
    "source that is no text": lambda data: data["frames"][0].update(source=3),
    "uses of fewer blocks": lambda data: data["blocks"].update(last_used_ns=[3]),
    "use at no time": lambda data: data["blocks"].update(last_used_ns=[-1, None, None]),
    "kinds that are none": lambda data: data["blocks"].update(kind=[1, 0, 4]),
    "advice on no block": lambda data: data.update(advice=[{"text": "", "saves": 1, "peak_after": 1, "blocks": [99]}]),
    "advice without a text": lambda data: data.update(advice=[{"saves": 1, "peak_after": 1, "blocks": []}]),
    "advice that is not a list": lambda data: data.update(advice=3),
    "moment on no block": lambda data: data.update(moments=[moment(block=99)]),
    "moment without lines": lambda data: data.update(moments=[{"block": 0, "blocks": []}]),
    "moment with a line that is none": lambda data: data.update(moments=[moment(dead=["3"])]),
    "moment with names of nothing": lambda data: data.update(moments=[moment(blocks=[])]),
    "moment with a name that is none": lambda data: data.update(moments=[moment(names=[3])]),
    "moment with types that are none": lambda data: data.update(moments=[moment(types={"x": ["<f8"]})]),
    "moment with types of another kind": lambda data: data.update(moments=[moment(types=[])]),
    "moment with a part of two names": lambda data: data.update(moments=[moment(names=["x", "y"], part=8)]),
    "moment with a part that is none": lambda data: data.update(moments=[moment(part="8")]),
    "untouched blocks that are none": lambda data: data.update(untouched=[99]),
    "untouched blocks of another kind": lambda data: data.update(untouched=3),
    "holder that finished in a number": lambda data: data["holders"][0].update(finished=3),
    "moments that are none": lambda data: data.update(moments=3),
    "last use without a stack": lambda data: data["blocks"]["last_use_stack"].__setitem__(0, None),
    "operator that is none": lambda data: data["blocks"]["operator"].__setitem__(0, 9),
    "copy of itself": lambda data: data["blocks"]["copy_of"].__setitem__(0, 0),
    "operators without names": lambda data: data["operators"].append(None),
    "failure without a time": lambda data: data["failures"][0].update(time_ns=None),
}


DAMAGES_OF_PROCESSES = {
    "resident memory of another kind": lambda data: data.update(resident=[]),
    "resident memory without times": lambda data: data["resident"].pop("time_ns"),
    "short resident memory": lambda data: data["resident"]["nbytes"].pop(),
    "text in resident memory": lambda data: data["resident"]["nbytes"].__setitem__(0, "1"),
    "processes of another kind": lambda data: data.update(processes={}),
    "process of another kind": lambda data: data.update(processes=[3]),
    "process without a number": lambda data: data["processes"][0].pop("pid"),
    "process without a beginning": lambda data: data["processes"][0].pop("offset_ns"),
    "process before the first": lambda data: data["processes"][0].update(offset_ns=-1),
    "process without a name": lambda data: data["processes"][0].pop("name"),
    "process that half ended": lambda data: data["processes"][0].update(ended=0.5),
    "process with processes": lambda data: data["processes"][0].update(processes=[]),
    "process with damage": lambda data: data["processes"][0]["blocks"]["nbytes"].pop(),
    "process with damaged resident memory": lambda data: data["processes"][0].update(resident=3),
}


@pytest.mark.parametrize("name", DAMAGES_OF_PROCESSES)
def test_damage_of_processes_is_named(name, with_processes, tmp_path):
    data = json.loads(json.dumps(with_processes))
    assert load_snapshot(saved(tmp_path, data)) == with_processes
    DAMAGES_OF_PROCESSES[name](data)
    with pytest.raises(ValueError, match="is damaged"):
        load_snapshot(saved(tmp_path, data))


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named(name, recorded, tmp_path):
    data = json.loads(json.dumps(recorded))
    DAMAGES[name](data)
    with pytest.raises(ValueError, match="is damaged"):
        load_snapshot(saved(tmp_path, data))


def test_older_and_richer_snapshots(recorded, tmp_path):
    """What a snapshot may have or lack: texts of lines, whose arrays blocks are, advice."""
    older = json.loads(json.dumps(recorded))
    for frame in older["frames"]:
        del frame["source"]
    assert load_snapshot(saved(tmp_path, older)) == older
    advice = [{"text": "del x", "blocks": [0, 2], "saves": 3, "peak_after": 5}]
    moments = [moment(), moment(names=[], blocks=[], at=[3, 3, 0, 9], types={"x": ["<f8", [3]], "n": "int"})]
    kinds = recorded["blocks"] | {"kind": [1, 0, 2]}
    moments.append(moment(names=["x"], part=8))
    richer = recorded | {"blocks": kinds, "advice": advice, "moments": moments, "untouched": [0, 2]}
    assert load_snapshot(saved(tmp_path, richer)) == richer


def test_texts_of_lines():
    """They are read when the snapshot is taken; a line that is nowhere has none, one that is long its beginning."""
    nowhere = [(file, 1) for file in ("<nowhere>", "no/such.py", "a\0b", "caf\udce9.py")]
    lines = [(__file__, 1), ("<long>", 1), (__file__, 2), (__file__, 10**6), (__file__, 0), *nowhere]
    frames = [{"file": file, "line": line, "function": "f"} for file, line in lines]
    linecache.cache["<long>"] = (999, None, ["  " + "x" * 999], "<long>")
    try:
        add_sources(frames, left_out=lambda file: file == __file__)
        assert [frame.get("source") for frame in frames] == [None, "x" * 200, *[None] * 7]
        add_sources(frames)
    finally:
        del linecache.cache["<long>"]
    assert [frame.get("source") for frame in frames] == ['"""Snapshots in files."""', "x" * 200, *[None] * 7]


def test_many_events_stay_small(tmp_path):
    with record() as recording:
        for _ in range(20_000):
            Storage(8)
    recording.snapshot().save(tmp_path / "snapshot.json")
    assert (tmp_path / "snapshot.json").stat().st_size < 90 * 20_000
    assert len(load_snapshot(tmp_path / "snapshot.json")["blocks"]["nbytes"]) == 20_000


@pytest.mark.parametrize(
    "key, value", [("version", True), ("dropped", None), ("dropped", "3"), ("duration_ns", 1 << 64)]
)
def test_values_that_no_snapshot_has(tmp_path, key, value):
    with record() as recording:
        tensix.ones(3)
    data = dict(recording.snapshot()) | {key: value}
    (tmp_path / "x.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="is damaged"):
        load_snapshot(tmp_path / "x.json")


@pytest.mark.parametrize("column, value", [("nbytes", 10**400), ("freed_ns", 0)])
def test_columns_that_no_snapshot_has(tmp_path, column, value):
    with record() as recording:
        tensix.ones(3)
    data = recording.snapshot()
    data["blocks"]["allocated_ns"] = [5]
    data["blocks"][column] = [value]
    (tmp_path / "x.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="is damaged"):
        load_snapshot(tmp_path / "x.json")
