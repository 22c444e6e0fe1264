"""The page of a snapshot as text: what is embedded is what was given, and nothing in it can get out of its place.

What the page does is tested in a browser, by tests/browser.
"""

import base64
import fnmatch
import hashlib
import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tensix.profiling.timeline import PAGE, SCRIPTS, html_of_snapshot

HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "]]>", '"onload="x', "$script $$ ${style}",
           "\u2028\u2029", "&lt;b&gt;"]  # fmt: skip
REACHES_OUT = r"\bhttps?:|\bsrc=|\bhref=|@import|\burl\(|\bimport\(|\bfetch\(|XMLHttpRequest|WebSocket"


def snapshot_with(word):
    """Return a snapshot of one block in which every text is the given one."""
    return {
        "format": "tensix memory snapshot", "version": 1, "tensix": word, "program": word, "started": word,
        "duration_ns": 10, "dropped": 0, "frames": [{"file": word, "line": 1, "function": word}], "stacks": [[0]],
        "allocators": [word], "threads": [word],
        "blocks": {"address": [64], "nbytes": [8], "allocated_ns": [1], "freed_ns": [None], "stack": [0], "thread": [0],
                   "allocator": [0]},
        "holders": [{"block": 0, "text": word}], "copies": [], "failures": [],
    }  # fmt: skip


class Elements(HTMLParser):
    """The elements of a document with their attributes, and the text of those that hold text only."""

    def __init__(self, document):
        super().__init__()
        self.found = []
        self.is_open = False
        self.feed(document)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append([tag, dict(attrs), ""])
        self.is_open = True

    def handle_endtag(self, tag):
        self.is_open = False

    def handle_data(self, data):
        if self.is_open:
            self.found[-1][2] += data

    def named(self, tag):
        return [(attributes, text) for name, attributes, text in self.found if name == tag]


@pytest.mark.parametrize("word", [*HOSTILE, "train.py"])
def test_no_text_leaves_its_place(word):
    """The page has the same elements whatever is in the snapshot, and the snapshot comes out as it went in."""
    snapshot = snapshot_with(word)
    plain, page = Elements(html_of_snapshot(snapshot_with("x"))), Elements(html_of_snapshot(snapshot))
    assert [tag for tag, _, _ in page.found] == [tag for tag, _, _ in plain.found]
    (data, text), _ = page.named("script")
    assert data == {"type": "application/json", "id": "snapshot"} and json.loads(text) == snapshot | {"advice": []}
    assert page.named("title")[0][1] == f"Memory of {word}"


def test_names_that_are_no_text():
    """A file name may be any bytes; Python writes those that are no UTF-8 as lone surrogates."""
    snapshot = snapshot_with("caf\udce9.py")
    document = html_of_snapshot(snapshot).encode("utf-8").decode()
    assert "<title>Memory of caf?.py</title>" in document
    assert json.loads(Elements(document).named("script")[0][1]) == snapshot | {"advice": []}


def test_only_the_script_of_the_page_may_run():
    page = Elements(html_of_snapshot(snapshot_with("x")))
    policy = next(meta["content"] for meta, _ in page.named("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for tag, name in (("style", "style-src"), ("script", "script-src")):
        digest = hashlib.sha256(page.named(tag)[-1][1].encode()).digest()
        assert f"{name} 'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_page_is_one_file_that_asks_for_nothing():
    document = html_of_snapshot(snapshot_with("x"))
    assert re.findall(REACHES_OUT, document) == []
    assert document == html_of_snapshot(snapshot_with("x"))


def test_every_file_of_the_page_is_used_and_installed():
    names = {Path(file.name).stem for file in PAGE.iterdir() if file.name.endswith(".js")}
    assert names == set(SCRIPTS)
    metadata = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    patterns = metadata["tool"]["setuptools"]["package-data"]["tensix.profiling"]
    for file in PAGE.iterdir():
        assert any(fnmatch.fnmatch(f"timeline_page/{file.name}", pattern) for pattern in patterns), file


def test_markup_of_the_page_is_made_from_text_only():
    """Names of files reach the document as text nodes; nothing of the script parses markup."""
    script = "".join(PAGE.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    assert re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", script) == []


def test_what_is_no_number_is_refused():
    snapshot = snapshot_with("x") | {"duration_ns": float("nan")}
    with pytest.raises(ValueError, match="JSON"):
        html_of_snapshot(snapshot)
