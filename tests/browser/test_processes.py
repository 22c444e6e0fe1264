"""What a snapshot may have beside its blocks: other processes, resident memory, uses, advice."""

import copy

import pytest

MIB = 1 << 20


@pytest.fixture
def two_processes(recording):
    """Return a program of 10 MiB for 100 µs, with a child that begins after 40 µs and has 7 MiB from 50 to 80 µs."""
    child = recording("worker.py")
    child.free(child.allocate(4 * MIB, "/h/pool.py:4 work", after=10_000), after=30_000)
    child.allocate(3 * MIB, "/h/main.py:3 <module>", after=0)
    child_snapshot = child.snapshot() | {"duration_ns": 40_000, "offset_ns": 40_000, "pid": 4242, "name": "Worker-1"}
    child_snapshot["blocks"]["allocated_ns"][1] = 10_000
    child_snapshot["resident"] = {
        "time_ns": [0, 20_000], "nbytes": [20 * MIB, 30 * MIB], "cached": [0, 5 * MIB], "recording": [MIB, MIB],
    }  # fmt: skip
    main = recording("main.py")
    main.allocate(10 * MIB, "/h/main.py:3 <module>", after=1000)
    snapshot = main.snapshot() | {"duration_ns": 100_000, "processes": [child_snapshot]}
    snapshot["resident"] = {
        "time_ns": [0, 50_000], "nbytes": [40 * MIB, 50 * MIB], "cached": [0, 2 * MIB], "recording": [MIB, MIB],
    }  # fmt: skip
    return snapshot


def use(page, name):
    page.run(
        "(() => { const e = document.querySelector('#process');"
        f" e.value = [...e.options].find((one) => one.value.includes('{name}')).value;"
        " e.onchange({ target: e }); })()"
    )
    page.settle()


def live_at(page, *times):
    return [page.run(f"page.snapshot.liveAt({time})") // MIB for time in times]


def test_the_sum_over_time_and_each_process(two_processes, show):
    page = show(two_processes)
    assert page.texts("#process option") == ["all, summed", "the program's process", "Worker-1, pid 4242"]
    assert live_at(page, 20_000, 45_000, 60_000, 90_000) == [10, 10, 17, 10]  # what it kept went with the child
    assert page.texts("#figures .value")[0] == "17.00 MiB"
    assert "2 processes" in page.texts("#facts")[0]
    # One line in both is one call site.
    assert [site["name"] for site in page.run("page.snapshot.sites.map(({ name }) => ({ name }))")] == [
        "main.py:3 <module>", "pool.py:4 work",
    ]  # fmt: skip
    page.run("page.timeline.choose({ block: 1 })")
    assert "Worker-1, pid 4242" in page.texts("#details dd")
    page.run("page.timeline.choose({ block: 0 })")
    assert "the program's process" in page.texts("#details dd")
    use(page, "Worker")
    assert page.texts("#figures .value")[0] == "7.00 MiB" and live_at(page, 20_000, 60_000) == [7, 3]
    assert page.texts("#details h2") == ["Nothing chosen"]
    use(page, "program")
    assert page.texts("#figures .value")[0] == "10.00 MiB"


def test_one_process_has_no_choice(training, show):
    page = show(training)
    assert page.run("document.querySelector('#process').parentElement.hidden")
    assert "process" not in page.run("[...document.querySelectorAll('#colour option')].map((one) => one.value)")


def test_what_the_search_for_holders_left_out(two_processes, show):
    """The texts of both processes' blocks name the sum of what their searches left out."""

    def holders():
        page = show(two_processes)
        page.run("page.timeline.choose({ block: 0 })")
        return dict(zip(page.texts("#details dt"), page.texts("#details dd"), strict=True))["held by"]

    child = two_processes["processes"][0]
    assert holders() == "nothing that Python can see"
    two_processes["left_out"], child["left_out"] = 40, 2
    assert holders() == "nothing that was found: the search left 42 objects out"
    two_processes["blocks_left_out"], child["blocks_left_out"] = 1, 6
    assert holders() == "nothing that was found: the search left 7 blocks out, the smallest"


def test_resident_memory(two_processes, show):
    """Beside the peak of the blocks the peak of the process, and what of it is in no block."""
    page = show(two_processes)
    resident = page.run("page.snapshot.facts.resident")
    assert resident == {"time_ns": [0, 40_000, 50_000, 60_000, 80_000],
                        "nbytes": [40 * MIB, 60 * MIB, 70 * MIB, 80 * MIB, 50 * MIB],
                        "cached": [0, 0, 2 * MIB, 7 * MIB, 2 * MIB],
                        "recording": [MIB, 2 * MIB, 2 * MIB, 2 * MIB, MIB]}  # fmt: skip
    assert page.texts("#figures dt")[1] == "Peak resident"
    assert page.texts("#figures .value")[1] == "80.00 MiB"
    assert page.texts("#figures .note")[1] == "54.00 MiB outside arrays, 9.00 MiB kept by tensix"
    page.run("document.querySelector('#parts').click()")
    assert "above this picture" in page.texts("#legend .resident")[-1]
    use(page, "program")
    assert page.texts("#figures .value")[1] == "50.00 MiB"
    assert page.run("[0, 49999, 50000].map((time) => page.snapshot.residentAt(time))") == [40 * MIB, 40 * MIB, 50 * MIB]
    del two_processes["resident"], two_processes["processes"]
    assert "Peak resident" not in show(two_processes).texts("#figures dt")


def test_the_line_of_resident_memory_is_drawn(training, show):
    plain = show(training).screenshot()
    training["resident"] = {
        "time_ns": [0, 10**6], "nbytes": [100 * MIB, 170 * MIB], "cached": [0, 0], "recording": [0, 0],
    }  # fmt: skip
    page = show(training)
    y = round(page.run("page.timeline.yOf(170 * 2 ** 20) + MARGIN.top"))
    assert any(page.pixels("marksCanvas", 500, y - 1, 1, 3)) and page.screenshot() != plain
    assert page.texts("#legend .resident")[-1] == "resident memory"


def test_parts_of_the_process_are_drawn_above_the_blocks(training, show):
    """From the start where arrays are less than half; the pointer names the part that it is over."""
    training["resident"] = {
        "time_ns": [0, 10**6], "nbytes": [200 * MIB, 900 * MIB], "cached": [0, 0], "recording": [0, 0],
        "python": [50 * MIB, 300 * MIB], "heap": [0, 200 * MIB],
    }  # fmt: skip
    page = show(training)
    assert page.run("page.timeline.showsProcess && document.querySelector('#parts').checked")
    live = page.run("page.timeline.snapshot.arraysAtResidentPeak")
    parts = page.run("page.timeline.snapshot.partsAtResidentPeak.map(({ name, begin, end }) => [name, begin, end])")
    assert parts == [["Python objects", live, live + 300 * MIB], ["C heap", live + 300 * MIB, live + 500 * MIB],
                     ["the rest", live + 500 * MIB, 900 * MIB]]  # fmt: skip
    banner = page.run("document.querySelector('#banner').textContent")
    assert banner.startswith("Arrays are ") and "300.00 MiB Python objects, 200.00 MiB C heap, " in banner
    x, y = page.run("[page.timeline.xOf(2e6), page.timeline.yOf(page.timeline.snapshot.liveAt(2e6) + 100 * 2 ** 20)]")
    assert any(page.pixels("marksCanvas", round(x) + 74, round(y) + 20, 1, 1))
    page.run(f"page.timeline.pointer = {{ x: {x}, y: {y} }}; page.timeline.redraw()")
    assert page.run("new Promise((done) => setTimeout(() => done(page.timeline.tip.textContent), 300))").startswith(
        "300.00 MiB Python objects"
    )
    page.run("document.querySelector('#parts').click()")
    assert page.run("page.timeline.whole.y1") < 900 * MIB and len(page.texts("#legend .resident")) == 1


def test_marks_are_drawn_with_their_names(training, show):
    plain = show(training).screenshot()
    training["marks"] = [{"name": f"epoch {number}", "time_ns": number * training["duration_ns"] // 3}
                         for number in range(3)]  # fmt: skip
    page = show(training)
    x = round(page.run("page.timeline.xOf(page.snapshot.duration / 3) + MARGIN.left"))
    assert any(page.pixels("marksCanvas", x - 1, 60, 3, 40)) and page.screenshot() != plain


@pytest.fixture
def with_uses(training):
    """Return the training, each block used until the middle of its life; the second one is NumPy's."""
    blocks = training["blocks"]
    ends = [training["duration_ns"] if end is None else end for end in blocks["freed_ns"]]
    blocks["last_used_ns"] = [(start + end) // 2 for start, end in zip(blocks["allocated_ns"], ends, strict=True)]
    blocks["last_written_ns"] = [start + 10 for start in blocks["allocated_ns"]]
    blocks["last_used_ns"][1] = blocks["last_written_ns"][1] = None
    blocks["kind"] = [int(number == 1) for number in range(len(ends))]
    training["advice"] = [
        {"text": "del hidden after model.py:52", "blocks": [21, 23], "saves": 42 * MIB, "peak_after": 108 * MIB},
        {"text": "clone() was never written to", "blocks": [9], "saves": 4 * MIB, "peak_after": 146 * MIB},
    ]
    return training


def test_when_a_block_was_used(with_uses, show):
    page = show(with_uses)
    page.run("page.timeline.choose({ block: 9 })")
    facts = dict(zip(page.texts("#details dt"), page.texts("#details dd"), strict=True))
    assert facts["last used"] == "at 16.4 ms, idle for 10.2 ms" and facts["last written"] == "at 6.20 ms"
    page.run("page.timeline.choose({ block: 1 })")
    facts = dict(zip(page.texts("#details dt"), page.texts("#details dd"), strict=True))
    assert facts["last used"].startswith("not known") and "last written" not in facts


def test_the_idle_part_of_a_band_is_hatched(with_uses, show):
    page = show(with_uses)
    start, end, y = page.run(
        "((t, s) => [t.xOf(s.allocated[8]), t.xOf(s.freed[8]), t.yOf(40 * 2 ** 20)])(page.timeline, page.snapshot)"
    )

    def colours(part):
        """Return how many colours a part of a line through the band has."""
        x, width = round(start + part * (end - start)), round((end - start) / 5)
        return len(set(page.pixels("bandsCanvas", x, round(y), width, 1)))

    assert with_uses["blocks"]["nbytes"][8] == 24 * MIB
    assert [colours(0.2), colours(0.6)] == [1, 2]
    assert page.texts("#legend .hatched") == ["hatched: not used again"]


def test_nothing_is_hatched_where_no_use_is_known(with_uses, show):
    with_uses["blocks"]["last_used_ns"] = [None] * len(with_uses["blocks"]["nbytes"])
    assert show(with_uses).texts("#legend .hatched") == []


def test_advice_leads_to_its_blocks(with_uses, show):
    page = show(with_uses)
    page.run("[...document.querySelectorAll('[role=tab]')].find((tab) => tab.innerText === 'Advice (2)').click()")
    cells = page.texts("[role=tabpanel]:not([hidden]) tbody td")
    assert cells[:3] == ["del hidden after model.py:52", "42.00 MiB", "108.00 MiB"]
    page.click_on("[role=tabpanel]:not([hidden]) tbody td button:nth-of-type(2)")
    assert page.run("page.timeline.block") == 23
    child = copy.deepcopy(with_uses) | {"pid": 7, "name": "worker", "offset_ns": 5}
    with_uses["processes"] = [child]
    page = show(with_uses)
    count = len(child["blocks"]["nbytes"])
    blocks = page.run("page.snapshot.facts.advice.map(({ blocks }) => blocks)")
    assert blocks == [[21, 23], [9], [21 + count, 23 + count], [9 + count]]
