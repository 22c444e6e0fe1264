"""Stacks as numbers, and their frames."""

import _thread
import subprocess
import sys
import threading
import time

import pytest

import tensix
from tensix.memory import CallSites, Frame


def nested(depth, function):
    return function() if depth == 0 else nested(depth - 1, function)


def line():
    return sys._getframe(1).f_lineno


def test_a_frame_says_file_line_and_function_innermost_first():
    sites = CallSites()

    class Model:
        def step(self):
            return sites.capture(), line()

    site, step_line = Model().step()
    own_line = line() - 1
    frames = sites.frames(site)
    assert frames[0][:2] == (__file__, step_line) and frames[0].function.endswith("Model.step")
    assert frames[1] == Frame(__file__, own_line, sys._getframe().f_code.co_qualname)


def test_same_stack_same_number_other_line_other_number():
    sites = CallSites()
    one = [sites.capture() for _ in range(3)]
    other = sites.capture()
    assert len(set(one)) == 1 and other != one[0]
    assert len(sites) == 2


def test_one_line_is_one_stack():
    """However often it runs, which makes CPython exchange its instructions, and however many of them call."""
    sites = CallSites()
    seen = [(sites.capture(), sites.capture()) for _ in range(1000)]
    assert len({number for pair in seen for number in pair}) == len(sites) == 1


def test_depth_bounds_the_frames():
    sites = CallSites(depth=5)
    shallow, deep = nested(20, sites.capture), nested(21, sites.capture)
    assert shallow == deep  # their innermost five frames are the same
    assert [frame.function for frame in sites.frames(deep)] == ["nested"] * 5


@pytest.mark.parametrize("depth", [0, -1, 65, 2**70])
def test_depth_out_of_range(depth):
    with pytest.raises(ValueError, match=f"from 1 to 64 frames, found {depth}"):
        CallSites(depth=depth)


def test_unknown_number():
    sites = CallSites()
    for site in (-1, 1, 2**70):
        with pytest.raises(ValueError, match="no stack has the number"):
            sites.frames(site)
    known = sites.capture()
    for site in {-1, 1, 2, 3, 2**70} - {known}:
        with pytest.raises(ValueError, match="no stack has the number"):
            sites.frames(site)
    assert sites.frames(0) == []


def test_many_stacks_stay_apart():
    """More than the first size of every array."""
    sites = CallSites(depth=64)
    numbers = {}
    for number in range(300):
        function = eval("\n" * number + "lambda: sites.capture()", {"sites": sites})
        numbers[nested(number % 60, function)] = number
    assert len(numbers) == len(sites) == 300
    for site, number in numbers.items():
        frames = sites.frames(site)
        assert frames[0].line == number + 1
        assert frames[number % 60 + 1].function == "nested"


def test_frames_of_tensix_are_left_out():
    sites = CallSites()

    class Asking(tensix.Allocator):
        def allocate(self, nbytes):
            self.site = sites.capture()
            return tensix.CPUAllocator().allocate(nbytes)

    allocator = Asking()
    with tensix.use_allocator(allocator):
        tensix.vecdot(tensix.ones(3), tensix.ones(3))
    files = {frame.file for frame in sites.frames(allocator.site)}
    assert __file__ in files
    assert not [file for file in files if "/tensix/functions/" in file or file.startswith("<frozen")]


def test_thread_without_a_python_frame():
    """A thread that runs C functions only: next() of a map() of an iter()."""
    sites, taken = CallSites(), []
    _thread.start_new_thread(next, (map(taken.append, iter(sites.capture, None)),))
    for _ in range(500):
        if taken:
            break
        time.sleep(0.01)
    assert taken == [0] and len(sites) == 0


def test_eight_threads():
    sites = CallSites()
    results = [set() for _ in range(8)]

    def work(mine):
        for number in range(2000):
            mine.add(nested(number % 10, sites.capture))

    threads = [threading.Thread(target=work, args=(mine,)) for mine in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(mine == results[0] for mine in results) and len(results[0]) == 10


CODE = """
import gc, weakref
from tensix.memory import CallSites
sites = CallSites()
function = eval("lambda: sites.capture()", {"sites": sites})
code = weakref.ref(function.__code__)
site = function()
del function
gc.collect()
assert code() is not None and sites.frames(site)[0].file == "<string>"
del sites
gc.collect()
assert code() is None
"""


def test_code_lives_as_long_as_the_table():
    """In a program with one thread: in one with two, CPython 3.13 without the GIL frees no code at all."""
    subprocess.run([sys.executable, "-c", CODE], check=True)


def test_frame_reads_like_a_place():
    assert str(Frame("train.py", 12, "Model.step")) == "train.py:12 in Model.step"
