"""From a script to its page: what the browser shows is what tensix counted."""

import json

import pytest

import tensix
from tensix.__main__ import main

SCRIPT = """
import tensix

class Net:
    def __init__(self):
        self.weights = [tensix.rand(50, 50) for _ in range(3)]

    def forward(self, x):
        for w in self.weights:
            x = x @ w
        return x

net = Net()
with tensix.memory.statistics() as counted:
    for _ in range(5):
        y = net.forward(tensix.rand(200, 50))
shared = y.lazy_clone()
shared[0, 0] = 1
try:
    tensix.empty(2**60)
except MemoryError:
    pass
"""


@pytest.fixture
def page_of_script(browser, tmp_path, monkeypatch, capsys):
    """Return the browser with the page of the script, and its snapshot."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    assert main(["memory", "--output", "script.json", "script.py"]) == 0
    assert main(["memory", "script.json"]) == 0
    browser.complaints.clear()
    browser.open(tmp_path / "script.memory.html")
    yield browser, json.loads((tmp_path / "script.json").read_text())
    assert browser.complaints == []


def test_the_page_of_a_script(page_of_script):
    page, snapshot = page_of_script
    sizes, freed = snapshot["blocks"]["nbytes"], snapshot["blocks"]["freed_ns"]
    live = sum(size for size, time in zip(sizes, freed, strict=True) if time is None)
    assert page.texts("h1") == ["Memory of script.py"]
    figures = page.texts("#figures .value")
    assert figures[1] == tensix.format_size(max(snapshot["resident"]["nbytes"]))
    assert figures[2:] == [
        tensix.format_size(live), tensix.format_size(sum(sizes)), str(page.run("page.snapshot.sites.length")), "1", "1",
    ]  # fmt: skip
    assert page.texts("tbody tr:first-child .site") == ["script.py:10 Net.forward"]
    assert page.run("page.snapshot.peak") >= 3 * 50 * 50 * 4 + 2 * 200 * 50 * 4
    weights = sizes.index(50 * 50 * 4)  # the earlier blocks at this line are NumPy's, which seeds the generator
    page.run(f"page.timeline.choose({{ block: {weights} }})")
    held = dict(zip(page.texts("#details dt"), page.texts("#details dd"), strict=True))["held by"]
    assert held.startswith("Tensor float32 (50, 50), storage use count 1")
