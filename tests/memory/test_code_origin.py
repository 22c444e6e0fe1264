"""Whose line a block belongs to: libraries are passed through, whatever calls them is found."""

import _thread
import concurrent.futures
import importlib
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

import tensix
from tensix.core import Storage
from tensix.memory import CallSites, TrackingAdaptor, copies, profile, record, serve_numpy

LIBRARY = """
from tensix.core import Storage

def call(function, depth=0):
    return function() if depth == 0 else call(function, depth - 1)

def make(nbytes):
    return Storage(nbytes)

def write(x):
    x += 1
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package, or a module alone, into a folder and imports it."""
    imported = []

    def install(name, folder="site-packages", alone=False):
        place = tmp_path / folder / (f"{name}.py" if alone else f"{name}/__init__.py")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(LIBRARY)
        monkeypatch.syspath_prepend(tmp_path / folder)
        importlib.invalidate_caches()
        imported.append(name)
        return importlib.import_module(name)

    yield install
    for name in imported:
        sys.modules.pop(name, None)


def place_seen_by(sites, function):
    """Return the place of a function that captures."""
    return sites.place(function(sites.capture))


# ---- by default


@pytest.mark.parametrize(
    "work",
    [
        lambda x: tensix.roll(x, 1),
        lambda x: tensix.repeat(x, 2),
        lambda x: tensix.fft.fft(x),
        lambda x: tensix.linalg.vector_norm(x),
        lambda x: tensix.linalg.inv(x),
    ],
    ids=["roll", "repeat", "fft", "norm", "inv"],
)
def test_blocks_that_numpy_asks_for_are_the_callers(work):
    x = tensix.eye(8)
    with record() as recording, profile(quiet=True) as p:
        work(x)
    assert {row.place.file for row in p.rows} == {__file__}
    data = recording.snapshot()
    assert {data["frames"][site]["file"] for site in data["call_sites"]} == {__file__}


@pytest.mark.parametrize("work", [lambda x: np.roll(x, 1), np.fft.fft, lambda x: np.linalg.norm(x, axis=0)])
def test_arrays_that_numpy_makes_for_itself_are_the_callers(work):
    x = np.ones((100, 100))
    with serve_numpy(), profile(quiet=True) as p:
        y = work(x)
    assert {row.place.file for row in p.rows} == {__file__} and sum(row.total_bytes for row in p.rows) >= y.nbytes


def test_numpy_is_in_the_stack_all_the_same():
    with serve_numpy(), record() as recording:
        np.roll(np.ones(8), 1)
    data = recording.snapshot()
    innermost = {data["frames"][stack[0]]["file"] for stack in data["stacks"]}
    assert any(file.startswith(str(Path(np.__file__).parent)) for file in innermost)


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages", "python9/site-packages"])
@pytest.mark.parametrize("alone", [False, True])
def test_installed_packages_are_passed_through(install, folder, alone):
    library = install("installed", folder, alone)
    assert place_seen_by(CallSites(), library.call).file == __file__
    with profile(quiet=True) as p:
        block = library.make(8)
    assert [row.place.file for row in p.rows] == [__file__] and block.nbytes() == 8


def test_a_package_in_a_source_folder_is_the_users(install):
    """So is one that is installed for development."""
    library = install("developed", "project/src")
    assert place_seen_by(CallSites(), library.call).file == library.__file__


def test_the_users_function_that_a_library_calls(install):
    library = install("installed")
    sites = CallSites()

    def callback():
        return sites.capture()

    assert sites.place(library.call(callback)).function.endswith("callback")


def test_pools_of_threads():
    sites = CallSites()

    def work():
        return sites.capture()

    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert sites.place(pool.submit(work).result()).function.endswith("work")
        bare = pool.submit(sites.capture).result()
    assert sites.place(bare).file == concurrent.futures.thread.__file__
    with concurrent.futures.ThreadPoolExecutor() as pool:  # pool.map() is called here, and works there
        assert {sites.place(site).file for site in pool.map(lambda _: sites.capture(), range(3))} == {__file__}


def test_code_without_a_file_is_the_users():
    sites = CallSites()
    site = eval("(lambda: sites.capture())()", {"sites": sites})
    assert sites.place(site).file == "<string>"


# ---- without the user's program


def test_the_package_has_the_line_if_there_is_no_program(install):
    library = install("installed")
    sites = CallSites()
    results = []
    thread = threading.Thread(target=map(results.append, map(library.call, [sites.capture])).__next__)
    thread.start()
    thread.join()
    [site] = results
    frames = sites.frames(site)
    assert frames[0].file == library.__file__ and frames[-1].file == threading.__file__
    assert sites.place(site) == frames[0]


@pytest.mark.parametrize("file", [np.__file__, concurrent.futures.__file__, "/x/site-packages/p.py", "/home/p.py"])
def test_a_stack_of_one_kind_alone(file):
    """A thread that runs nothing else has the line, wherever that is from."""
    sites, taken = CallSites(), []
    code = compile("taken.append(sites.capture())", file, "eval")
    _thread.start_new_thread(eval, (code, {"sites": sites, "taken": taken}))
    for _ in range(1000):
        if taken:
            break
        time.sleep(0.01)
    assert sites.place(taken[0]) == (file, 1, "<module>")


def test_no_frame_at_all():
    assert CallSites().place(0) == ("?", 0, "?")
    with pytest.raises(ValueError, match="no stack has the number 7"):
        CallSites().place(7)


def test_a_script_that_came_with_a_package_is_no_program(install):
    """``bin/tool`` calls its package, which does the work."""
    library = install("installed")
    sites, results = CallSites(), []
    code = compile("taken.append(call(capture))", str(Path(sys.executable).parent / "tool"), "eval")
    names = {"call": library.call, "capture": sites.capture, "taken": results}
    thread = threading.Thread(target=eval, args=(code, names))
    thread.start()
    thread.join()
    assert sites.place(results[0]).file == library.__file__


# ---- deep libraries


@pytest.mark.parametrize("depth", [0, 30, 31, 32, 33, 62, 63, 64, 200])
@pytest.mark.parametrize("limit", [1, 5, 32, 64])
def test_a_deep_library_does_not_hide_the_user(install, depth, limit):
    library = install("installed")
    sites = CallSites(depth=limit)
    numbers = {library.call(sites.capture, depth) for _ in range(3)}
    [site] = numbers
    assert sites.place(site).file == __file__ and len(sites) == 1
    assert sites.frames(site)[depth].file == library.__file__


def test_there_is_an_end_to_it(install):
    library = install("installed")
    sites = CallSites()
    site = library.call(sites.capture, 300)
    assert sites.place(site).file == library.__file__ and len(sites.frames(site)) == 256
    assert len(sites) == 1


def test_no_more_is_read_than_was_asked_for_once_the_user_is_there(install):
    library = install("installed")
    sites = CallSites(depth=3)

    def recurse(depth):
        return library.call(sites.capture) if depth == 0 else recurse(depth - 1)

    assert [frame.file for frame in sites.frames(recurse(50))] == [library.__file__, __file__, __file__]


# ---- through


def test_named_packages_alone(install):
    library, other = install("installed"), install("other")
    for through, own in ([], [True, True]), (["installed"], [False, True]), (("installed", "other"), [False, False]):
        places = [place_seen_by(CallSites(through=through), package.call) for package in (library, other)]
        assert [place.file == package.__file__ for place, package in zip(places, (library, other), strict=True)] == own
    assert CallSites(through=[]).place(0).file == "?"


def test_the_users_own_packages_and_modules_and_folders(install, tmp_path, monkeypatch):
    helper, alone = install("helper", "src"), install("alone", "src", alone=True)
    for through in (["helper", "alone"], [tmp_path / "src"], [str(tmp_path / "src")]):
        for package in (helper, alone):
            assert place_seen_by(CallSites(through=through), package.call).file == __file__
    monkeypatch.chdir(tmp_path)
    assert place_seen_by(CallSites(through=["./src"]), helper.call).file == __file__
    assert place_seen_by(CallSites(through=["helper"]), alone.call).file == alone.__file__


def test_names_beside_all_that_is_installed(install):
    library, helper = install("installed"), install("helper", "src")
    sites = CallSites(through=["site-packages", "helper"])
    assert {place_seen_by(sites, package.call).file for package in (library, helper)} == {__file__}


def test_numpy_and_the_standard_library_are_always_passed_through():
    with profile(quiet=True, through=[]) as p:
        tensix.roll(tensix.ones(8), 1)
    assert {row.place.file for row in p.rows} == {__file__}
    sites = CallSites(through=[])
    site = weakref.finalize(test_pools_of_threads, sites.capture)()
    assert sites.frames(site)[0].file == weakref.__file__ and sites.place(site).file == __file__


@pytest.mark.parametrize("make", [CallSites, profile, copies, record, TrackingAdaptor])
def test_what_takes_it(make, install):
    helper = install("helper", "src")
    make(through=["helper"])
    with pytest.raises(ValueError, match=r"no package 'halper' to see through: a folder is given as '\./halper'"):
        make(through=["halper"])
    with pytest.raises(ValueError, match=r"there is no package 'halper\.part'"):
        make(through=["halper.part"])
    with pytest.raises(ValueError, match="there is no folder '/no/where'"):
        make(through=["/no/where"])
    with pytest.raises(TypeError, match=r"through is a list of packages, such as \['pandas'\], found 'helper'"):
        make(through="helper")
    with pytest.raises(TypeError, match="names of packages and folders, found 3"):
        make(through=[3])
    with pytest.raises(TypeError, match="through is a list of packages"):
        make(through=iter(["helper"]))
    assert helper


def test_everything_that_counts_by_lines_uses_it(install):
    helper = install("helper", "src")
    own = helper.__file__

    @profile(quiet=True, through=["helper"])
    def work():
        helper.make(8)

    work()
    assert [row.place.file for row in work.last_profile.rows] == [__file__]
    for through, file in ([], own), (["helper"], __file__):
        tracking = TrackingAdaptor(through=through)
        x = tensix.zeros(8)
        y = x.lazy_clone()
        with record(through=through) as recording, profile(quiet=True, through=through) as p, copies(through) as c:
            with tensix.use_allocator(tracking):
                block = helper.make(8)
            helper.write(x)
        data = recording.snapshot()
        places = [data["frames"][data["call_sites"][stack]]["file"] for stack in data["blocks"]["stack"]]
        assert places[0] == file and {row.place.file for row in p.rows} == {row.place.file for row in c.rows} == {file}
        assert [found.place.file for found in tracking.blocks()] == [file] and file in tracking.table()
        assert [found.frames[0].file for found in tracking.blocks()] == [own]
        assert y.numel() == 8 and block.nbytes() == 8


def test_places_of_packages_without_files():
    for name in ("math", "sys", "os"):
        CallSites(through=[name])
    with pytest.raises(ValueError, match=r"there is no package '__main__\.x'"):
        CallSites(through=["__main__.x"])
    assert Storage(1).nbytes() == 1
