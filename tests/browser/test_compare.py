"""Two snapshots side by side: in a page that has both, and by opening a file."""

import copy
import json

import pytest

from tensix.command_line.comparison import lines_of_comparison
from tensix.core import format_size

MINUS = "\N{MINUS SIGN}"
ROWS = "page.comparison.table.querySelectorAll('tbody tr')"


@pytest.fixture
def earlier(training):
    """Return the training as it was: half of it at one line, another line elsewhere, and one that is gone now."""
    earlier = copy.deepcopy(training) | {"program": "train.py --old"}
    for frame in earlier["frames"]:
        if frame["function"] == "linear":
            frame["source"] = "return x @ self.weight"
            frame["line"] += 100  # the text is the same: it is the same call site
        if frame["function"] == "load":
            frame["function"] = "load_all"
    linear = [n for n, stack in enumerate(earlier["stacks"]) if earlier["frames"][stack[0]]["function"] == "linear"]
    for block, stack in enumerate(earlier["blocks"]["stack"]):
        if stack in linear:
            earlier["blocks"]["nbytes"][block] //= 2
    next(frame for frame in training["frames"] if frame["function"] == "linear")["source"] = "return x @ self.weight"
    return earlier


def differences_of(page):
    rows = page.run(f"[...{ROWS}].map((row) => [...row.cells].map((cell) => cell.innerText.split('\\n')[0]))")
    return {name.partition(" ")[2]: sizes for name, *sizes in rows}


def test_what_a_page_is_compared_with(training, earlier, show):
    page = show(training | {"compared": earlier})
    assert page.run("document.querySelector('[role=tab][aria-selected=true]').innerText") == "Compare"
    found = differences_of(page)
    assert found["load"] == ["+24.00 MiB", "+24.00 MiB", "same, 0 bytes"]
    assert found["load_all"] == [f"{MINUS}24.00 MiB", f"{MINUS}24.00 MiB", "same, 0 bytes"]
    assert found["linear"][0].startswith("+") and found["relu"][0].startswith("same")
    assert "train.py --old" in page.texts("[role=status]")[0]
    # The command line says the same, site by site.
    told = list(lines_of_comparison(training, earlier))
    line = next(line for line in told if "linear" in line)
    assert line.split("MiB")[0].split() == [found["linear"][0].split()[0]]
    assert f"{page.run('page.snapshot.peak') / 2**20:.2f} MiB" in told[2]


def test_all_processes_are_compared(training, earlier, show):
    """What a child had goes with it; the page and the command line add up the same."""
    child = copy.deepcopy(training) | {"pid": 7, "name": "worker", "offset_ns": 10**6}
    child["duration_ns"] = training["duration_ns"] - 2 * 10**6
    child["blocks"]["freed_ns"] = [None if end is None or end > 10**8 else end for end in child["blocks"]["freed_ns"]]
    here = training | {"processes": [child]}
    page = show(here | {"compared": earlier})
    told = list(lines_of_comparison(here, earlier))
    for line, figure in zip(told[2:5], ("peak", "total", "liveAtEnd"), strict=True):
        assert format_size(page.run(f"page.snapshot.{figure}")) in line
    line = next(line for line in told if " linear" in line)
    assert line.split()[:4:2] == [size.split()[0] for size in differences_of(page)["linear"][:2]]


def test_a_file_is_opened(training, earlier, show, tmp_path):
    path = tmp_path / "earlier.json"
    path.write_text(json.dumps(earlier))
    page = show(training)
    page.run("page.open(page.tabs.length - 1)")
    document = page.call("DOM.getDocument")["root"]["nodeId"]
    field = page.call("DOM.querySelector", nodeId=document, selector="#other-file")["nodeId"]
    page.call("DOM.setFileInputFiles", files=[str(path)], nodeId=field)
    page.run("new Promise((done) => setTimeout(done, 100))")
    page.settle()
    assert differences_of(page)["load"][0] == "+24.00 MiB"
    page.run("page.colourBy('thread')")  # the lists are made again
    assert differences_of(page)["load"][0] == "+24.00 MiB"
    page.run("page.colourBy('site')")
    page.run("page.comparison.table.querySelector('tbody button').click()")
    assert page.run("page.timeline.group.name") in ("data.py:22 load", "model.py:31 linear")


@pytest.mark.parametrize("text", ["[1, 2", "[]", "{}", "null", '{"format": "tensix memory snapshot"}'])
def test_a_file_that_is_none_is_refused_in_words(training, show, text):
    page = show(training)
    page.run(
        "(() => { const data = new DataTransfer();"
        f" data.items.add(new File([{json.dumps(text)}], 'other.json'));"
        " document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true })); })()"
    )
    page.run("new Promise((done) => setTimeout(done, 100))")
    assert page.texts("[role=tabpanel]:not([hidden]) [role=status]")[0].startswith("other.json cannot be read: ")
