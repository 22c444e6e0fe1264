"""What tells blocks apart: colours, stacking, the first table, and a search."""

import pytest


def colours_of(page):
    return set(page.pixels("bandsCanvas", 0, 0, 800, 400)) - {0}


def groups_of(page, by):
    return page.run(f"page.snapshot.groupedBy('{by}').groups.map(({{ name, peak, count }}) => [name, peak, count])")


def choose(page, selector, value):
    page.run(
        f"(() => {{ const e = document.querySelector('{selector}'); e.value = '{value}';"
        " e.dispatchEvent(new Event('change')); })()"
    )
    page.settle()


def search(page, words):
    page.run("document.querySelector('#search').focus()")
    page.run("document.querySelector('#search').value = ''")
    page.call("Input.insertText", text=words)
    page.settle()


def rows_of(page):
    return page.texts("[role=tabpanel]:not([hidden]) tbody tr td:first-child")


@pytest.fixture
def one_helper(recording):
    """Return the snapshot of a program that allocates through one helper's helper only."""
    made = recording("helper.py")
    for number in range(40):
        layer = number % 4
        helper = ("/h/util.py:5 empty", "/h/util.py:20 zeros")
        made.allocate((1 + layer) << 20, *helper, f"/h/net.py:{1 + layer} layer{layer}", "/h/main.py:3 <module>")
    return made.snapshot()


def test_one_helper_is_not_one_colour(one_helper, show):
    """The callers are told apart: the first line outwards that is not the same for all."""
    page = show(one_helper)
    assert page.run("document.querySelector('#colour').value") == "caller"
    callers = [[f"net.py:{1 + n} layer{n}", 10 * (n + 1) << 20, 10] for n in (3, 2, 1, 0)]
    assert groups_of(page, "caller") == callers
    assert page.texts("#legend button") == [name for name, _, _ in callers]
    several = colours_of(page)
    choose(page, "#colour", "site")
    assert page.texts("[role=tab]")[0] == "Call sites" and page.texts("#legend button") == ["util.py:5 empty"]
    assert len(colours_of(page)) < len(several)


def test_callers_of_a_line_that_has_one(training, show):
    """A call site is its own group where nothing outwards differs."""
    page = show(training)
    assert page.run("document.querySelector('#colour').value") == "site"
    assert groups_of(page, "caller") == groups_of(page, "site")


def test_groups_add_up(training, show):
    training["frames"][0]["file"] = "/usr/lib/python3.12/site-packages/sklearn/cluster/_k.py"
    training["frames"][1]["file"] = "/usr/lib/python3.12/json/decoder.py"
    training["blocks"]["kind"] = [1 - number % 2 for number in range(len(training["blocks"]["nbytes"]))]
    page = show(training)
    peak, count = page.run("[page.snapshot.peak, page.snapshot.count]")
    kinds = page.run("[...document.querySelectorAll('#colour option')].map((one) => one.value)")
    assert kinds == ["site", "caller", "stack", "library", "thread", "allocator", "kind"]
    for kind in kinds:
        groups = groups_of(page, kind)
        assert (sum(one[1] for one in groups), sum(one[2] for one in groups)) == (peak, count)
        choose(page, "#colour", kind)
        assert page.run("document.querySelector('tbody').rows.length") == len(groups)
        choose(page, "#order", kind)  # every pixel of it: test_picture.py
    assert [name for name, _, _ in groups_of(page, "thread")] == ["MainThread", "loader"]
    assert {name for name, _, _ in groups_of(page, "library")} == {"sklearn", "data.py", "model.py"}
    assert {name for name, _, _ in groups_of(page, "kind")} == {"NumPy's array", "tensix's block"}


def test_the_users_line_and_not_the_innermost(recording, show):
    """A snapshot may name the call site of a stack; the frames inside it are in the stack all the same."""
    made = recording()
    made.allocate(5000, "/usr/lib/python3/site-packages/numpy/core.py:1200 roll", "/home/ada/image.py:7 shift")
    snapshot = made.snapshot() | {"call_sites": [1]}
    page = show(snapshot)
    page.run("page.timeline.choose({ block: 0 })")
    assert page.texts("#details dd")[0] == "image.py:7 shift" and page.texts("tbody .site") == ["image.py:7 shift"]
    assert [text.split("\n")[0] for text in page.texts("#details li")] == ["roll", "shift"]
    assert groups_of(page, "library")[0][0] == "numpy"


def test_source_beside_the_lines(training, show):
    source = "return self.weight @ x if x.ndim < 2 else <b>'x'</b>"
    frame = next(frame for frame in training["frames"] if frame["function"] == "linear")
    frame["source"] = source
    page = show(training)
    assert page.texts("tbody tr:first-child td:first-child") == [f"model.py:31 linear\n{source}"]
    page.run("page.timeline.choose({ block: page.snapshot.sites[0].firstBlock })")
    assert source in page.texts("#details dd")[0] and page.texts("#details li")[0].endswith(source)
    page.run("page.timeline.choose({ group: page.snapshot.sites[0] })")
    assert source in page.texts("#details dd")[0]
    x, y, _, _ = page.box_of("#bands")
    column, row = page.run(
        "(({ owners, columns }) => { const pixel = owners.indexOf(page.snapshot.sites[0].firstBlock);"
        " return [pixel % columns, Math.floor(pixel / columns)]; })(page.timeline.pictures.kept.at(-1))"
    )
    page.mouse("mouseMoved", x + column + 0.5, y + row + 0.5)
    page.settle()
    assert source in page.texts("#tip")[0]


def test_search(training, show):
    page = show(training)
    everything = colours_of(page)
    search(page, "model.py relu")
    assert rows_of(page) == ["model.py:37 relu"]
    relu = [n for n, stack in enumerate(training["blocks"]["stack"]) if page.run(f"page.timeline.shown[{n}]")]
    assert page.texts("#found")[0].startswith(f"{len(relu)} blocks, ") and len(relu) == 40
    page.click_on("[role=tab]:nth-of-type(3)")
    assert rows_of(page) == ["The search found nothing here."]
    page.click_on("[role=tab]:nth-of-type(2)")
    names = page.run("[...document.querySelectorAll('#flame-rows button')].map((b) => b.ariaLabel.split(',')[0])")
    assert names[-1] == "model.py:37 relu" and "model.py:31 linear" not in names
    assert len(colours_of(page) - everything) > 8  # all others are pale
    page.click_on("[role=tab]:nth-of-type(1)")
    search(page, "loader")  # a thread
    assert rows_of(page) == ["data.py:41 next_batch"]
    page.press("Escape")  # empties the field
    assert len(rows_of(page)) == 8 and page.texts("#found") == [""]
    assert colours_of(page) == everything


def test_slash_goes_to_the_search(training, show):
    page = show(training)
    page.press("/")
    assert page.run("document.activeElement.id") == "search"
    for letter in "n0p":
        page.press(letter)
    assert page.run("[document.activeElement.value, page.timeline.block]") == ["n0p", -1]


def test_tasks_of_all_workers(training, recording, show):
    """By their keys, so that a task that ran twice, on two workers, is one group."""
    def with_tasks(snapshot, keys):
        snapshot["tasks"] = [{"key": key, "name": "sum", "peak": 1, "left": 0, "began_ns": 0, "ended_ns": None}
                             for key in keys]  # fmt: skip
        count = len(snapshot["blocks"]["nbytes"])
        snapshot["blocks"]["task"] = [None, *(number % len(keys) for number in range(count - 1))]
        return snapshot

    worker = recording("worker")
    for _ in range(4):
        worker.allocate(1 << 24, "/h/work.py:3 part")
    other = with_tasks(worker.snapshot(), ["sum-2", "sum-3"]) | {"pid": 7, "offset_ns": 10, "name": "worker 1"}
    page = show(with_tasks(training, ["sum-1", "sum-2"]) | {"processes": [other]})
    found = {name: count for name, _, count in groups_of(page, "task")}
    rest = len(training["blocks"]["nbytes"]) - 1
    assert found == {"between tasks": 2, "sum-1": rest - rest // 2, "sum-2": rest // 2 + 2, "sum-3": 1}
    choose(page, "#colour", "task")
    assert page.texts("[role=tab]")[0] == "Tasks" and {*rows_of(page)} == {*found}
