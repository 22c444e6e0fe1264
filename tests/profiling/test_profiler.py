"""What each line allocates."""

import ctypes
import gc
import json
import signal
import threading

import numpy as np
import pytest

import tensix
from tensix.core import CPUAllocator, Storage
from tensix.memory import Frame, profile

FREE_WITHOUT_GIL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(CPUAllocator().raw_deleter())


def allocate(nbytes):
    return Storage(nbytes)


def numbers(row):
    return row.peak_bytes, row.total_bytes, row.total_count, row.current_bytes, row.current_count


def test_repr_has_the_sums():
    with profile(quiet=True) as p:
        assert repr(p) == "profile(peak=0 bytes, total=0 bytes in 0, lines=0)"
        x = tensix.ones(1000)
    assert repr(p) == "profile(peak=3.91 KiB, total=3.91 KiB in 1, lines=1)"
    del x


def test_rows_are_lines_the_highest_peak_first():
    older = Storage(5000)
    with profile(quiet=True) as p:
        kept = [allocate(10) for _ in range(3)]
        for _ in range(4):
            Storage(100)
        del kept[0], older
    first, second = p.rows
    assert numbers(first) == (100, 400, 4, 0, 0)
    assert numbers(second) == (30, 30, 3, 20, 2)
    assert second.place == Frame(__file__, allocate.__code__.co_firstlineno + 1, "allocate")
    del kept
    assert numbers(p.rows[1])[3] == 20  # as at the end of the scope


def test_one_line_called_from_many_is_one_row():
    """Its peak is that of the blocks of all callers together."""
    with profile(quiet=True) as p:
        one = allocate(10)
        other = allocate(30)
        del one
        allocate(5)
    assert [numbers(row) for row in p.rows] == [(40, 45, 3, 30, 1)]
    del other


def test_numbers_can_be_read_while_the_scope_is_open():
    with profile(quiet=True) as p:
        assert p.rows == []
        block = allocate(10)
        assert numbers(p.rows[0]) == (10, 10, 1, 10, 1)
        block.reset()
        assert numbers(p.rows[0]) == (10, 10, 1, 0, 0)


def test_frames_of_tensix_do_not_count():
    with profile(quiet=True) as p:
        tensix.vecdot(tensix.ones(3), tensix.ones(3))
    assert {row.place.file for row in p.rows} == {__file__}


def test_table_is_printed_with_human_sizes(capsys):
    with profile() as p:
        block = allocate(3 << 20)
    heading, row, whole = capsys.readouterr().out.splitlines()
    assert heading.split() == ["peak", "total", "count", "alive", "count", "line"]
    assert row.split()[:8] == ["3.00", "MiB", "3.00", "MiB", "1", "3.00", "MiB", "1"]
    assert row.endswith(str(p.rows[0].place))
    assert whole.endswith("all lines together") and str(p).splitlines() == [heading, row, whole]
    block.reset()


def test_a_profile_without_blocks_says_what_it_sees(capsys):
    with profile():
        np.ones(1000)
    assert "NumPy's arrays are seen inside tensix.memory.serve_numpy()" in capsys.readouterr().out


def test_plain_data():
    with profile(quiet=True) as p:
        one, other = allocate(10), Storage(4)
    data = json.loads(json.dumps(p.as_dict()))
    assert (data["peak_bytes"], data["total_count"], data["current_count"]) == (14, 2, 2)
    assert data["rows"][0] == {
        "file": __file__, "line": allocate.__code__.co_firstlineno + 1, "function": "allocate", "peak_bytes": 10,
        "total_bytes": 10, "total_count": 1, "current_bytes": 10, "current_count": 1,
    }
    del one, other


def test_decorator(capsys):
    @profile
    def work(nbytes, *, times=1):
        """Work."""
        for _ in range(times):
            allocate(nbytes)
        return nbytes

    assert work.last_profile is None
    assert work(7, times=2) == 7
    assert numbers(work.last_profile.rows[0]) == (7, 14, 2, 0, 0)
    assert (work.__name__, work.__doc__) == ("work", "Work.")
    assert "allocate" in capsys.readouterr().out
    work(8)
    assert numbers(work.last_profile.rows[0]) == (8, 8, 1, 0, 0)


def test_decorator_with_options_recursion_and_exceptions(capsys):
    @profile(quiet=True)
    def work(depth):
        allocate(1)
        if depth == 0:
            raise KeyError
        work(depth - 1)

    for _ in range(2):
        with pytest.raises(KeyError):
            work(3)
        assert [numbers(row) for row in work.last_profile.rows] == [(1, 4, 4, 0, 0)]
    assert capsys.readouterr().out == ""


def test_what_is_no_function():
    with pytest.raises(TypeError, match="needs a function, found int"):
        profile(3)


def test_entered_once():
    with profile(quiet=True) as p, pytest.raises(RuntimeError, match="entered once"):
        p.__enter__()


def test_threads_and_frees_without_the_gil():
    def work(kept):
        for _ in range(300):
            FREE_WITHOUT_GIL(CPUAllocator().raw_allocate(16))
            kept.append(allocate(3))
            if len(kept) > 4:
                kept.clear()

    with profile(quiet=True) as p:
        lists = [[] for _ in range(8)]
        threads = [threading.Thread(target=work, args=(kept,)) for kept in lists]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lists.clear()
        gc.collect()
        del threads
    by_total = sorted(p.rows, key=lambda row: row.total_bytes)
    assert [(row.total_bytes, row.total_count, row.current_count) for row in by_total] == [
        (8 * 300 * 3, 2400, 0), (8 * 300 * 16, 2400, 0)
    ]  # fmt: skip


def test_many_lines():
    with profile(quiet=True) as p:
        for number in range(300):
            eval("\n" * number + "Storage(8)")
    assert sorted(row.place.line for row in p.rows) == list(range(1, 301))


def test_each_thread_has_calls_of_its_own():
    started, done = threading.Event(), threading.Event()
    seen = []

    @profile(quiet=True)
    def work(count):
        kept = tensix.ones(count, dtype="uint8")
        if count == 7:
            started.set()
            done.wait()
        return kept.nbytes

    other = threading.Thread(target=work, args=(7,))
    other.start()
    started.wait()
    work(5)
    seen.append(work.last_profile.rows[0].total_bytes)
    done.set()
    other.join()
    assert seen == [5]


async def coroutine():
    """Do nothing."""


def generator():
    yield


async def asynchronous_generator():
    yield


@pytest.mark.parametrize("function", [coroutine, generator, asynchronous_generator])
def test_what_returns_before_its_body_runs_is_refused(function):
    with pytest.raises(TypeError, match=rf"profile cannot decorate {function.__name__}\(\)"):
        profile(function)


@pytest.fixture
def interrupts():
    """Have Python's own handler of interrupts: a program that is started in the background may ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupts_go_to_the_program(monkeypatch, interrupts):
    def interrupt(*place):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr("tensix.memory.call_site.Frame", interrupt)
    with profile(quiet=True) as seen:
        with pytest.raises(KeyboardInterrupt):
            for _ in range(1000):
                tensix.ones(3, dtype="uint8")
        y = tensix.ones(5, dtype="uint8")
    assert 5 in [row.total_bytes for row in seen.rows] and y.nbytes == 5


def test_subclasses_that_forget_to_call_init():
    class Forgetful(type(profile())):
        def __init__(self):
            pass

    with Forgetful() as seen:
        x = tensix.ones(3)
    assert seen.rows[0].total_bytes == x.nbytes
