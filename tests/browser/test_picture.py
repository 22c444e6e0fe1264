"""The picture of live memory: every pixel shows the block that lies there, by a slow second computation."""

import random

import pytest


def random_run(recording, seed, count=120):
    """Record blocks of all sizes that are allocated and freed in a random order; some are never freed."""
    draw = random.Random(seed)
    made, alive = recording(), []
    for _ in range(count):
        number = draw.randrange(12)
        size, wait = int(2 ** draw.uniform(3, 20)), draw.randrange(1, 9000)
        alive.append(made.allocate(size, f"/a/b{number % 3}.py:{number} f", after=wait))
        while alive and draw.random() < 0.45:
            made.free(alive.pop(draw.randrange(len(alive))), after=draw.randrange(1, 5000))
    return made.snapshot()


def states_of(snapshot, order):
    """Return (time, blocks alive in the order of the picture) after each event, before the first at minus infinity."""
    blocks = snapshot["blocks"]
    events = [(time, block, True) for block, time in enumerate(blocks["allocated_ns"])]
    events += [(time, block, False) for block, time in enumerate(blocks["freed_ns"]) if time is not None]
    alive, states = [], [(float("-inf"), [])]
    for time, block, is_allocation in sorted(events):
        alive = sorted([*alive, block] if is_allocation else [one for one in alive if one != block], key=order)
        states.append((time, alive))
    return states


def expected_owners(snapshot, view, columns, rows, order):
    """Return the block of each pixel, row by row from above, -1 for none."""
    sizes = snapshot["blocks"]["nbytes"]
    states = states_of(snapshot, order)
    live = [sum(sizes[block] for block in alive) for _, alive in states]
    picture = [[-1] * columns for _ in range(rows)]
    for column in range(columns):
        start = view["t0"] + column * (view["t1"] - view["t0"]) / columns
        end = view["t0"] + (column + 1) * (view["t1"] - view["t0"]) / columns
        before = max(n for n, (time, _) in enumerate(states) if time < start)
        seen = [before, *(n for n, (time, _) in enumerate(states) if start <= time < end)]
        shown = max(seen, key=lambda n: live[n])
        bounds, top = [], 0
        for block in states[shown][1]:
            top += sizes[block]
            bounds.append((top, block))
        for row in range(rows):
            height = view["y0"] + (rows - row - 0.5) * (view["y1"] - view["y0"]) / rows
            picture[row][column] = next((block for bound, block in bounds if height < bound), -1)
    return picture


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("order", ["age", "site"])
def test_every_pixel(recording, show, seed, order):
    snapshot = random_run(recording, seed)
    page = show(snapshot, width=700, height=700)
    page.run(f"page.timeline.arrange('{order}')")
    ranks = page.run("[...page.snapshot.groupedBy('site').rankOfBlock]")
    key = (lambda block: block) if order == "age" else (lambda block: (ranks[block], block))
    whole = page.run("page.timeline.whole")
    length, height = whole["t1"], whole["y1"]
    for view in (
        whole,
        {"t0": length * 0.3, "t1": length * 0.35, "y0": 0, "y1": height},
        {"t0": length * 0.5, "t1": length * 0.9, "y0": height * 0.2, "y1": height * 0.3},
        {"t0": length * 0.9, "t1": length * 0.9001, "y0": 0, "y1": height * 0.5},
    ):
        found = page.run(
            "(() => { const owners = new Int32Array(90 * 70);"
            f" for (const _ of page.timeline.bands.steps({view}, 90, 70, owners)); return [...owners]; }})()"
        )
        expected = expected_owners(snapshot, view, 90, 70, key)
        assert [found[90 * row : 90 * row + 90] for row in range(70)] == expected


def test_peak_and_totals(training, show):
    page = show(training)
    blocks = training["blocks"]
    live = [sum(blocks["nbytes"][block] for block in alive) for _, alive in states_of(training, lambda block: block)]
    found = page.run("[page.snapshot.peak, page.snapshot.liveAtEnd, page.snapshot.total]")
    assert found == [max(live), live[-1], sum(blocks["nbytes"])]
    assert page.texts("#figures .value")[0] == f"{max(live) / 2**20:.2f} MiB"


def test_the_wheel_zooms_where_the_pointer_is(training, show):
    page = show(training)
    x, y, width, _ = page.box_of("#bands")
    time = f"page.timeline.timeAt({width / 4})"
    before, whole = page.run(time), page.run("page.timeline.view")
    page.mouse("mouseWheel", x + width / 4, y + 100, deltaX=0, deltaY=-400, modifiers=2)
    page.settle()
    view = page.run("page.timeline.view")
    assert view["t1"] - view["t0"] < 0.6 * whole["t1"]
    assert page.run(time) == pytest.approx(before)
    page.mouse("mouseWheel", x + width / 4, y + 100, deltaX=0, deltaY=-400, modifiers=10)
    page.settle()
    assert page.run("page.timeline.view.y1 - page.timeline.view.y0") < 0.6 * whole["y1"]
    for kind, dx in (("mousePressed", 300), ("mouseMoved", 250), ("mouseMoved", 200), ("mouseReleased", 200)):
        page.mouse(kind, x + dx, y + 100)
    page.settle()
    moved = page.run("page.timeline.view")
    assert moved["t0"] == pytest.approx(view["t0"] + 100 / width * (view["t1"] - view["t0"]))
    assert page.texts("#details h2") == ["Nothing chosen"]  # a drag is no click
    page.click_on("#fit")
    assert page.run("page.timeline.view") == whole


def test_the_wheel_alone_scrolls_the_page(training, show):
    page = show(training, height=500)
    page.box_of("#bands")
    page.run("window.scrollTo(0, 0)")
    view = page.run("page.timeline.view")
    page.mouse("mouseWheel", 300, 300, deltaX=0, deltaY=200)
    page.run("new Promise((done) => setTimeout(done, 300))")
    assert page.run("window.scrollY") > 50
    assert page.run("page.timeline.view") == view


@pytest.mark.parametrize("scale", [1, 2])
def test_a_click_chooses_what_is_seen(training, show, scale):
    page = show(training, scale=scale)
    x, y, width, height = page.box_of("#bands")
    states, sizes = states_of(training, lambda block: block), training["blocks"]["nbytes"]
    view = page.run("page.timeline.view")
    time = training["blocks"]["allocated_ns"][40] + 1000
    alive = max((state for state in states if state[0] <= time), key=lambda state: state[0])[1]
    middle = sum(sizes[block] for block in alive if block < 12) + sizes[12] / 2
    assert 12 in alive
    page.click(x + width * time / view["t1"], y + height * (1 - middle / view["y1"]))
    assert page.run("page.timeline.block") == 12
    page.click(x + 2, y + 2)
    assert page.run("page.timeline.block") == -1


def test_moments_at_the_edges(recording, show):
    """Times and sizes at which a picture is easily lost: one block, one moment, nothing at all."""
    made = recording()
    assert show(made.snapshot()).texts("#figures .value")[0] == "0 bytes"
    made.free(made.allocate(1, "/a.py:1 f", after=0), after=0)
    page = show(made.snapshot())
    assert page.run("[page.snapshot.peak, page.snapshot.peakTime, page.snapshot.liveAtEnd]") == [1, 0, 0]
    page.run("page.timeline.zoomToBlock(0)")
    page.settle()
    made.allocate(2**52, "/a.py:2 g", after=10**15)
    page = show(made.snapshot())
    assert page.texts("#figures .value")[0] == "4194304.00 GiB"
    assert 1 in page.run("[...page.timeline.pictures.kept.at(-1).owners]")
