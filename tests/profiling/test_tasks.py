"""Tasks in recordings: whose blocks are whose, and how many bytes each had at the most."""

import asyncio
import contextvars
import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import tensix
from tensix.memory import load_snapshot, record
from tensix.memory.cluster import task


def found_in(recording):
    return {one["key"]: (one["peak"], one["left"]) for one in recording.snapshot()["tasks"]}


def test_tasks_nest_and_keep_what_they_leave():
    with record() as recording:
        before = tensix.empty(10)
        with task("outer"):
            a = tensix.empty(100)
            with task("inner"):
                b = tensix.empty(1000)
                c = tensix.empty(1000)
                del b
            d = tensix.empty(100)
            del a
        after = tensix.empty(10)
    assert found_in(recording) == {"outer": (800, 400), "inner": (8000, 4000)}
    blocks = recording.snapshot()["blocks"]
    assert blocks["nbytes"] == [40, 400, 4000, 4000, 400, 40]
    assert blocks["task"] == [None, 0, 1, 1, 0, None]
    del c, d, before, after
    outer, inner = recording.snapshot()["tasks"]
    assert outer["began_ns"] <= inner["began_ns"] <= inner["ended_ns"] <= outer["ended_ns"]


def test_a_recording_without_tasks_says_nothing_of_them():
    with task("before"), record() as recording:
        pass
    with record() as other:
        x = tensix.empty(10)
    for one in (recording.snapshot(), other.snapshot()):
        assert "tasks" not in one and "task" not in one["blocks"]
    del x


def test_a_task_that_began_before_the_recording_counts_from_its_first_block():
    with task("long"):
        x = tensix.empty(10)
        with record() as recording:
            y = tensix.empty(100)
            del x
    assert found_in(recording) == {"long": (400, 400)}
    del y


def test_threads_and_coroutines_have_a_task_each():
    barrier = threading.Barrier(8)

    def work(number):
        with task(number):
            barrier.wait()
            for _ in range(100):
                x = tensix.empty(number)
                y = tensix.empty(number)
                del x, y
            barrier.wait()

    async def both():
        async def one(number):
            with task(f"coroutine {number}"):
                x = tensix.empty(number)
                await asyncio.sleep(0)
                y = tensix.empty(number)
                await asyncio.sleep(0)
                del x, y
        await asyncio.gather(*map(one, range(1, 5)))

    with record() as recording:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(1, 9)))
        asyncio.run(both())
    expected = {str(number): (8 * number, 0) for number in range(1, 9)}
    assert found_in(recording) == expected | {f"coroutine {number}": (8 * number, 0) for number in range(1, 5)}


def test_a_block_counts_for_its_task_when_another_one_frees_it():
    with record() as recording:
        with task("maker"):
            x = tensix.empty(1000)
            copied = contextvars.copy_context()
        with task("other"):
            del x
        thread = threading.Thread(target=lambda: copied.run(tensix.empty, 500))
        thread.start()
        thread.join()
    assert found_in(recording) == {"maker": (4000, 0), "other": (0, 0)}


def test_peaks_are_exact_where_blocks_are_forgotten():
    with record(max_events=16) as recording, task("many"):
        for _ in range(1000):
            x = tensix.empty(100)
            y = tensix.empty(50)
            del x, y
    assert recording.snapshot()["dropped"] > 0
    assert found_in(recording) == {"many": (600, 0)}


def test_more_tasks_than_a_recording_remembers():
    with record(max_events=16) as recording:
        for number in range(100):
            with task(number):
                x = tensix.empty(10)
                del x
    assert found_in(recording) == {str(number): (40, 0) for number in range(16)}


def test_a_task_is_entered_once():
    one = task("once")
    assert (one.name, one.began_ns) == ("once", None)
    with one:
        pass
    with pytest.raises(RuntimeError, match="entered once"):
        one.__enter__()


def test_blocks_without_a_line_of_the_user_belong_to_their_task():
    """As those of a function of tensix in a thread of a pool."""
    with record() as recording, ThreadPoolExecutor(1) as pool, task(("sum", 1), "sum"):
        x = pool.submit(contextvars.copy_context().run, tensix.empty, 100).result()
        y = tensix.empty(10)
    snapshot = recording.snapshot()
    frames = [snapshot["frames"][snapshot["call_sites"][stack]] for stack in snapshot["blocks"]["stack"]]
    assert frames[0] == {"file": "", "line": 0, "function": "task sum"}
    assert frames[1]["function"].startswith("test_blocks_without")
    held = {str(frame): nbytes for frame, nbytes in recording._held_by_line().items()}
    assert held["task sum"] == 400
    del x, y


DAMAGE = [
    lambda s: s.update(tasks=3),
    lambda s: s["tasks"][0].pop("key"),
    lambda s: s["tasks"][0].update(peak=-1),
    lambda s: s["tasks"][0].update(ended_ns="late"),
    lambda s: s["blocks"].update(task=[0]),
    lambda s: s["blocks"]["task"].__setitem__(0, 7),
]


def test_a_snapshot_with_tasks_is_saved_loaded_and_checked(tmp_path):
    with record() as recording, task("one"):
        x, y = tensix.empty(1), tensix.empty(2)
    snapshot = recording.snapshot()
    snapshot.save(tmp_path / "good.json")
    assert load_snapshot(tmp_path / "good.json") == snapshot
    for column in snapshot["blocks"].values():  # as a file has them whose recording kept its blocks in a file
        column.reverse()
    snapshot["blocks"]["task"][0] = None
    snapshot.save(tmp_path / "turned.json")
    assert load_snapshot(tmp_path / "turned.json")["blocks"]["task"] == [0, None]
    for damage in DAMAGE:
        bad = copy.deepcopy(snapshot)
        damage(bad)
        bad.save(tmp_path / "bad.json")
        with pytest.raises(ValueError, match="task"):
            load_snapshot(tmp_path / "bad.json")
    del x, y
