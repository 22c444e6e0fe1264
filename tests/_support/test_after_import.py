"""Calls that wait for the import of a module."""

import importlib
import sys
import zipfile
from importlib.util import find_spec

import pytest

from tensix._support.after_import import AfterImport


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Let a test write modules that it can import, and take them and all finders away again."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    before = {*sys.modules}
    yield tmp_path
    for name in {*sys.modules} - before:
        del sys.modules[name]


def test_only_an_import_counts(modules):
    (modules / "awaited.py").write_text("import other\n")
    (modules / "other.py").write_text("")
    called = []
    finder = AfterImport(called.append, "awaited", "other")
    assert find_spec("awaited").name == "awaited" and find_spec("other") and find_spec("awaited") and not called
    importlib.import_module("awaited")
    assert called == ["awaited"] and finder not in sys.meta_path  # what it imports is part of it
    importlib.reload(sys.modules["awaited"])
    assert called == ["awaited"]


def test_an_import_that_failed_is_tried_again(modules):
    (modules / "awaited.py").write_text("1 / 0")
    called = []
    finder = AfterImport(called.append, "awaited")
    with pytest.raises(ZeroDivisionError):
        importlib.import_module("awaited")
    assert not called and finder in sys.meta_path
    (modules / "awaited.py").write_text("done = True")
    importlib.invalidate_caches()
    assert importlib.import_module("awaited").done and called == ["awaited"]


def test_no_module_and_no_package(modules):
    (modules / "awaited").mkdir()
    called = []
    finder = AfterImport(called.append, "awaited", "absent_module")
    assert find_spec("absent_module") is None
    importlib.import_module("awaited")  # a namespace
    assert not called and finder in sys.meta_path
    finder.stop()
    finder.stop()
    assert finder not in sys.meta_path


def test_stopped_after_it_was_found(modules):
    (modules / "awaited.py").write_text("")
    called = []
    finder = AfterImport(called.append, "awaited")
    spec = find_spec("awaited")
    finder.stop()
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert not called


def test_modules_of_one_loader(modules):
    with zipfile.ZipFile(modules / "some.zip", "w") as archive:
        archive.writestr("awaited.py", "import neighbour")
        archive.writestr("neighbour.py", "")
    sys.path.insert(0, str(modules / "some.zip"))
    try:
        called = []
        AfterImport(called.append, "awaited")
        assert find_spec("awaited") is not None
        importlib.import_module("neighbour")
        assert not called
        importlib.import_module("awaited")
        assert called == ["awaited"]
    finally:
        sys.path.remove(str(modules / "some.zip"))
