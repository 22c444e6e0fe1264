"""The dict that a file of several tensors is: each is taken when asked for, and every operation of a dict works."""

import copy
import gc
import itertools
import os
import sys
import threading
from collections.abc import MutableMapping

import numpy as np
import pytest

import tensix
from tensix import TensorFile, load, save

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture(params=[".safetensors", ".npz", " deflated.npz"])
def path(request, tmp_path):
    path = tmp_path / f"x{request.param}"
    options = {"compress": True} if "deflated" in request.param else {}
    save(path, {"a": tensix.arange(3), "b": tensix.ones(2, 2), "c": tensix.zeros(1)}, **options)
    return path


def keywords(**tensors):
    return tensors


def plain(tensors):
    return {name: x.tolist() for name, x in sorted(tensors.items())}


WHOLE = {"a": [0, 1, 2], "b": [[1, 1], [1, 1]], "c": [0]}


@pytest.mark.parametrize("take", [
    dict, lambda file: {**file}, lambda file: file.copy(), lambda file: file | {}, lambda file: {} | file,
    lambda file: dict(file.items()), lambda file: dict(zip(file, file.values(), strict=True)),
    lambda file: keywords(**file), lambda file: file.__reduce__()[0](*file.__reduce__()[1]),
    lambda file: {name: file[name] for name in list(file.keys())}, lambda file: {name: file.get(name) for name in file},
    lambda file: {name: file.pop(name) for name in list(file)}, lambda file: dict([file.popitem() for _ in range(3)]),
    lambda file: {name: file.setdefault(name) for name in file}, lambda file: (made := {}, made.update(file))[0],
    lambda file: {name: file[name] for name in reversed(file)}, copy.copy,
])  # fmt: skip
def test_every_way_to_take(path, take):
    taken = take(load(path))
    assert type(taken) is dict and plain(taken) == WHOLE
    assert all(type(x) is tensix.Tensor for x in taken.values())


def test_questions(path):
    file = load(path)
    assert isinstance(file, dict) and isinstance(file, MutableMapping) and isinstance(file, TensorFile)
    assert len(file) == 3 and "a" in file and "z" not in file and sorted(file.keys()) == ["a", "b", "c"]
    assert file["a"] is file["a"] and file.get("z") is None and file.get("z", 5) == 5
    assert str(path) in repr(file) and "3 tensors" in repr(file) and bool(file)
    for missing in ("z", 5, None):
        with pytest.raises(KeyError):
            file[missing]
    with pytest.raises(TypeError):
        file[[]]
    with pytest.raises(TypeError):
        hash(file)


def test_changes_are_the_dict_s_own(path):
    file, before = load(path), path.read_bytes()
    a = file["a"]
    file["a"], file["new"] = tensix.ones(1), 5
    del file["b"]
    file |= {"c": 7}
    assert list(reversed(file)) == ["new", *reversed([name for name in file if name != "new"])]
    assert file == {"a": file["a"], "new": 5, "c": 7} and file["a"] is not a and "b" not in file
    file.update(c=8)
    kept = file["c"]
    file.clear()
    with pytest.raises(KeyError):
        file.popitem()
    is_different = file != {}
    assert kept == 8 and file == {} and not is_different and file != {"a": 1}
    assert not file.closed and path.read_bytes() == before
    with pytest.raises(KeyError):
        file["a"]


def test_saved_again(path, tmp_path):
    for name in ("y.npz", "y.safetensors"):
        save(tmp_path / name, load(path))
        assert plain(load(tmp_path / name)) == WHOLE


def test_close_refuses_and_forgets(path, maps_of):
    file = load(path)
    view, copied = file["a"][1:], file["a"].clone()
    is_mapped = file["a"].allocator is None
    if is_mapped:
        with pytest.raises(BufferError, match=r"still refer to it"):
            file.close()
        assert not file.closed and plain(file) == WHOLE and view.tolist() == [1, 2]
    del view
    file.close()
    file.close()
    assert file.closed and len(file) == 0 and maps_of(path) == [] and "closed" in repr(file)
    assert copied.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="is closed"):
        file["a"]


def test_a_refused_close_keeps_the_changes(path):
    file = load(path)
    view, file["b"], file["d"] = file["a"][1:], 5, 6
    file["c"]
    file.update(c=7)
    if view.allocator is None:
        with pytest.raises(BufferError):
            file.close()
    assert {name: file[name] for name in "bcd"} == {"b": 5, "c": 7, "d": 6} and file["a"].tolist() == [0, 1, 2]
    file.pop("a")
    file.clear()
    del view
    file.close()
    assert len(file) == 0


def test_a_block_closes_and_tensors_stay(path, maps_of):
    with load(path) as file:
        a = file["a"]
        is_mapped = a.allocator is None
    assert file.closed and a.tolist() == [0, 1, 2] and bool(maps_of(path)) == is_mapped
    with pytest.raises(ValueError, match="is closed"):
        file["b"]
    del a
    assert maps_of(path) == []


def test_tensors_outlive_the_dict_and_the_file(path):
    a = load(path)["a"]
    path.unlink()
    gc.collect()
    assert a.tolist() == [0, 1, 2]


def test_dropping_needs_no_collector(path, maps_of):
    gc.disable()
    try:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            file = load(path)
            dict(file)
            del file
            assert len(os.listdir("/proc/self/fd")) == before and maps_of(path) == []
    finally:
        gc.enable()


def test_files_changed_or_cut_short_after_loading(path):
    file = load(path)
    a = file["a"].clone()
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(tensix.FileFormatError, match="was changed"):
        file["b"]
    os.truncate(path, 10)
    with pytest.raises(tensix.FileFormatError, match="cut short"):
        file["b"]
    assert a.tolist() == [0, 1, 2] and "b" in file


def test_eight_threads_get_the_same_tensors(path):
    for _ in range(20):
        file, seen = load(path), []
        barrier = threading.Barrier(8)

        def work(file=file, seen=seen, barrier=barrier):
            barrier.wait()
            seen.append((file["a"], file["b"], file["c"]))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 8 and all(x is y for one in seen for x, y in zip(one, seen[0], strict=True))


def test_members_are_taken_after_a_fork(path):
    file = load(path)
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            os._exit(0 if plain(file) == WHOLE else 1)
        children.append(child)
    assert plain(file) == WHOLE
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]


def test_writable_modes(path):
    private = load(path, "c")
    private["a"].fill_(7)
    assert private["a"].tolist() == [7, 7, 7] and load(path)["a"].tolist() == [0, 1, 2]
    if path.suffix == ".npz":
        with pytest.raises(ValueError, match=r'"r\+"'):
            load(path, "r+")
    else:
        load(path, "r+")["a"].fill_(8)
        assert load(path)["a"].tolist() == [8, 8, 8]
    assert np.asarray(load(path, None)["b"]).flags.writeable


def test_pop(path):
    with tensix.load(path) as loaded:
        name = next(iter(loaded))
        expected = loaded[name].tolist()
        assert loaded.pop(name).tolist() == expected and name not in loaded
        assert loaded.pop(name, 5) == 5 and loaded.pop(name, None) is None
        with pytest.raises(KeyError, match=name):
            loaded.pop(name)
        with pytest.raises(TypeError):
            loaded.pop(name, 1, 2)


# ---- closed by another thread


@pytest.mark.parametrize("call", ["fstat", "preadv"])
@pytest.mark.parametrize("mode", ["r", None])
def test_file_that_is_closed_in_the_middle_of_a_take(path, monkeypatch, call, mode):
    """The number of a closed descriptor may be that of another file at once."""
    other = path.with_name("other")
    other.write_bytes(bytes(100_000))
    file, opened, real = load(path, mode), [], getattr(os, call)

    def closing(descriptor, *args):
        file.__exit__()
        if not opened:
            opened.extend(os.open(other, os.O_RDONLY) for _ in range(4))
        return real(descriptor, *args)

    monkeypatch.setattr(os, call, closing)
    try:
        for name, elements in WHOLE.items():
            try:
                assert file[name].tolist() == elements
            except ValueError as error:
                assert str(error) == f"{path} is closed."
    finally:
        monkeypatch.undo()
        for descriptor in opened:
            os.close(descriptor)
        file.close()
    is_mapped = mode == "r" and path.suffix == ".safetensors"
    assert bool(opened) or (is_mapped and call == "preadv")


def test_closing_while_others_take(path):
    """They get tensors or hear that it is closed, and nothing else."""
    interval, wrong = sys.getswitchinterval(), []

    def take(file, barrier):
        barrier.wait()
        try:
            for name, elements in itertools.cycle(WHOLE.items()):
                assert file[name].tolist() == elements
        except ValueError as error:
            if "is closed" not in str(error):
                wrong.append(error)
        except Exception as error:
            wrong.append(error)

    def close(file, barrier):
        barrier.wait()
        try:
            while not file.closed:
                try:
                    file.close()
                except BufferError:
                    continue
        except Exception as error:
            wrong.append(error)

    sys.setswitchinterval(1e-6)
    try:
        for _ in range(100):
            file, barrier = load(path), threading.Barrier(4)
            threads = [threading.Thread(target=work, args=(file, barrier)) for work in (take, take, take, close)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert wrong == [] and file.closed and len(file) == 0
    finally:
        sys.setswitchinterval(interval)
