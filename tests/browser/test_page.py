"""What a person does with the page: choose, read, sort, switch, by mouse and by keys alone."""

import json

import pytest

from tensix.core import format_size

HOSTILE = "</script><img src=x onerror=document.title='taken'><b>&amp;\u2028"
CONTRAST = """(() => {
  const light = (name) => {
    const word = wordOf(colourOf(name));
    const parts = [0, 8, 16].map((shift) => ((word >>> shift) & 255) / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ratio = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  return ['--card', '--paper', '--tint'].flatMap((paper) => ['--ink', '--soft', '--accent', '--bad', '--resident']
    .map((ink) => ratio(light(ink), light(paper))));
})()"""


def facts_in_panel(page):
    """Return the panel's list of facts."""
    return dict(zip(page.texts("#details dt"), page.texts("#details dd"), strict=True))


def rows_of(page):
    return page.run(
        "[...document.querySelectorAll('[role=tabpanel]:not([hidden]) tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.innerText))"
    )


def open_list(page, name):
    number = [text.partition(" (")[0] for text in page.texts("[role=tab]")].index(name)
    page.click_on(f"[role=tab]:nth-of-type({number + 1})")


def flames_of(page):
    """Return the frames of the flame view as (class, name and size), from above."""
    return page.run("[...document.querySelectorAll('#flame-rows button')].map((b) => [b.className, b.ariaLabel])")


def test_everything_about_a_block(training, show):
    page = show(training)
    page.run("page.timeline.choose({ block: 9 })")
    assert page.texts("#details h2") == ["Block of 4.00 MiB"]
    facts = facts_in_panel(page)
    assert facts == {
        "call site": "data.py:41 next_batch", "size": "4.00 MiB (4,194,304 bytes)", "lifetime": "20.4 ms",
        "allocated": "at 6.20 ms", "freed": "at 26.6 ms", "at the peak": "alive", "thread": "loader",
        "allocator": "CachingAllocator(CPUAllocator(alignment=64))", "address": "0x7f0000009000",
        "held by": "nothing, it was freed",
    }  # fmt: skip
    assert page.texts("#details li") == [
        "next_batch\n/home/ada/data.py:41", "train\n/home/ada/train.py:61", "<module>\n/home/ada/train.py:88",
    ]  # fmt: skip
    page.run("page.timeline.choose({ block: 0 })")
    facts = facts_in_panel(page)
    assert facts["held by"] == "Tensor float32 (1024, 512), storage use count 1"
    assert facts["freed"] == "not before the end" and facts["lifetime"].endswith(", until the end")


def test_call_sites_sort(training, show):
    page = show(training)
    sizes, stacks = training["blocks"]["nbytes"], training["blocks"]["stack"]
    totals = {}
    for nbytes, stack in zip(sizes, stacks, strict=True):
        frame = training["frames"][training["stacks"][stack][0]]
        name = f"{frame['file'].split('/')[-1]}:{frame['line']} {frame['function']}"
        totals[name] = totals.get(name, 0) + nbytes
    expected = sorted(totals, key=totals.get)

    page.click_on("th:nth-child(3) button")
    rows = rows_of(page)
    assert [row[0] for row in rows] == expected[::-1]
    assert rows[0][2] == f"{totals[expected[-1]] / 2**20:.2f} MiB"
    assert page.run("document.querySelector('th:nth-child(3)').ariaSort") == "descending"
    page.click_on("th:nth-child(3) button")
    assert [row[0] for row in rows_of(page)] == expected
    page.click_on("th:nth-child(1) button")
    assert [row[0] for row in rows_of(page)] == sorted(expected)
    page.click_on("tbody tr:nth-child(2) button")
    assert page.texts("#details h2") == ["Call site"] and facts_in_panel(page)["line"] == sorted(expected)[1]
    assert page.run("document.querySelector('tbody tr:nth-child(2)').className") == "chosen"


def test_flame_view(training, show):
    page = show(training)
    open_list(page, "Flame view")
    widths = (
        "Object.fromEntries([...document.querySelectorAll('#flame-rows button')]"
        ".map((b) => [b.ariaLabel, parseFloat(b.style.width)]))"
    )
    found = page.run(widths)
    peak = page.run("page.snapshot.peak") / 2**20
    assert found[f"everything, {peak:.2f} MiB"] == 100
    assert found["data.py:22 load, 24.00 MiB"] == pytest.approx(100 * 24 / peak)
    measure = "Object.assign(document.querySelector('#measure'), {{ value: '{}' }}).onchange()"
    page.run(measure.format("live"))
    assert page.run(widths) == {
        "everything, 30.00 MiB": 100, "train.py:88 <module>, 30.00 MiB": 100, "model.py:14 __init__, 30.00 MiB": 100,
    }  # fmt: skip
    page.run(measure.format("total"))
    number = page.texts("#flame-rows button").index("model.py:52 forward")
    page.click_on(f"#flame-rows button:nth-child({number + 1})")
    names = [(kind, name.partition(",")[0]) for kind, name in flames_of(page)]
    assert names[:4] == [("above", "everything"), ("above", "train.py:88 <module>"), ("above", "train.py:61 train"),
                         ("", "model.py:52 forward")]  # fmt: skip
    assert {name for _, name in names[4:]} == {"model.py:31 linear", "model.py:37 relu", "model.py:33 bias"}


def test_copies_and_failures(training, show):
    page = show(training)
    open_list(page, "Copies")
    assert [row[:2] for row in rows_of(page)] == [["train.py:66 clip", "4.00 MiB"]]
    open_list(page, "Failures")
    assert [row[:2] for row in rows_of(page)] == [["train.py:69 whole_batch", "64.00 GiB"]]
    open_list(page, "Live at the end")
    rows = rows_of(page)
    assert len(rows) == 8 and {row[3] for row in rows} == {"Tensor float32 (1024, 512), storage use count 1"}


def test_keys_alone(training, show):
    page = show(training)
    for _ in range(20):
        page.press("Tab")
        if page.run("document.activeElement.id") == "plot":
            break
    page.press("n")
    page.press("n")
    assert page.run("page.timeline.block") == 1
    page.press("p")
    assert page.texts("#details h2") == ["Block of 2.00 MiB"]
    whole = page.run("page.timeline.view")
    page.press("+")
    assert page.run("page.timeline.view.t1 - page.timeline.view.t0") == pytest.approx(0.7 * whole["t1"])
    page.press("]")
    assert page.run("page.timeline.view.y1") < whole["y1"]
    before = page.run("page.timeline.view.t0")
    page.press("ArrowRight")
    assert page.run("page.timeline.view.t0") > before
    page.press("0")
    assert page.run("page.timeline.view") == whole
    page.press("Escape")
    assert page.texts("#details h2") == ["Nothing chosen"]
    page.press("Enter")  # nothing to zoom to
    assert page.run("page.timeline.view") == whole
    page.run("document.querySelector('[role=tab]').focus()")
    page.press("ArrowLeft")
    assert page.run("document.activeElement.innerText") == "Compare"
    page.press("ArrowLeft")
    assert page.run("document.activeElement.innerText") == "Failures (1)"
    assert page.run("document.activeElement.ariaSelected") == "true"


@pytest.mark.parametrize(
    "selector", ["#legend li:nth-child(2) button", "tbody tr:nth-child(2) button", "#details button", "#fit", "h1"]
)
def test_escape_after_any_click(training, show, selector):
    """Wherever the last click went, Esc chooses nothing."""
    page = show(training)
    page.run("page.timeline.choose({ block: 9 })")
    page.click_on(selector)
    assert page.texts("#details h2") != ["Nothing chosen"]
    page.press("Escape")
    assert page.texts("#details h2") == ["Nothing chosen"]
    page.press("n")
    assert page.texts("#details h2") == ["Block of 2.00 MiB"]


def test_the_focus_stays_on_what_was_pressed(training, show):
    """Who goes on by keys does not begin again at the top of the page."""
    page = show(training)
    page.run("document.querySelector('tbody tr:nth-child(3) button').focus()")
    page.press("Enter")
    assert page.texts("#details h2") == ["Call site"]
    assert page.run("document.activeElement === document.querySelector('tbody tr:nth-child(3) button')")
    page.run("page.timeline.choose({ block: 3 })")
    page.run("[...document.querySelectorAll('#details button')].find((one) => one.innerText === 'Next').focus()")
    for block in (4, 5):
        page.press("Enter")
        assert page.run("[page.timeline.block, document.activeElement.innerText]") == [block, "Next"]


@pytest.mark.parametrize("frames", [1, 64])
def test_details_are_as_high_as_the_timeline(recording, show, frames):
    """However long the stack is, the lists below stay where they are, and the rest of the details scrolls."""
    made = recording()
    made.allocate(5000, *(f"/home/ada/deep/down/module{number}.py:{number} recurse" for number in range(frames)))
    page = show(made.snapshot(), width=1400, height=900)
    top = "document.querySelector('#lists').getBoundingClientRect().top"
    before = page.run(top)
    page.run("page.timeline.choose({ block: 0 })")
    assert page.run(top) == before < 800
    heights = page.run("['#timeline', '#details'].map((id) => document.querySelector(id).offsetHeight)")
    assert heights[0] == heights[1]
    scrolls = page.run("page.details.panel.scrollHeight > page.details.panel.clientHeight")
    assert scrolls == (frames > 10)


def test_an_empty_recording_says_why(recording, show):
    made = recording()
    page = show(made.snapshot())
    assert "NumPy arrays are recorded only inside" in page.texts("#nothing")[0]
    made.failures.append(made.moment(1 << 40, "/a.py:1 f"))
    snapshot = made.snapshot() | {"dropped": 7}
    snapshot["blocks"]["kind"] = []
    said = show(snapshot).texts("#nothing")[0]
    assert "7 events did not fit" in said and "Every allocation failed" in said and "no NumPy array was made" in said
    made.allocate(1, "/a.py:1 f")
    assert show(made.snapshot()).texts("#nothing") == [""]


def test_everything_that_can_be_pressed_has_a_name(training, show):
    page = show(training)
    page.call("Accessibility.enable")
    for number in range(6):
        page.run(f"document.querySelectorAll('[role=tab]')[{number}].click()")
        nodes = page.call("Accessibility.getFullAXTree")["nodes"]
        roles = ("button", "tab", "combobox", "application", "searchbox")
        pressed = [node for node in nodes if node.get("role", {}).get("value") in roles]
        assert len(pressed) > 10
        assert [node for node in pressed if not node["name"]["value"]] == []


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark(training, show, dark):
    page = show(training, dark=dark)
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.run(paper) == ("rgb(18, 21, 26)" if dark else "rgb(246, 246, 243)")
    assert min(page.run(CONTRAST)) >= 4.5
    page.click_on("#theme")
    assert page.run(paper) == ("rgb(246, 246, 243)" if dark else "rgb(18, 21, 26)")


def test_hostile_names_are_text(recording, show):
    made = recording(HOSTILE)
    block = made.allocate(5000, f"/x/{HOSTILE}:3 {HOSTILE}")
    made.holders.append({"block": block, "text": HOSTILE})
    made.copies.append(made.moment(7, f"/x/{HOSTILE}:3 {HOSTILE}"))
    snapshot = made.snapshot()
    snapshot["threads"], snapshot["allocators"] = [HOSTILE], [HOSTILE]
    page = show(snapshot)
    for number in range(6):
        page.run(f"document.querySelectorAll('[role=tab]')[{number}].click()")
    page.run("page.timeline.choose({ block: 0 })")
    page.run("page.timeline.choose({ group: page.snapshot.sites[0] })")
    page.run("page.timeline.choose({ block: 0 })")
    page.settle()
    assert page.run("document.querySelectorAll('img, b').length") == 0
    assert page.run("document.title") == "Memory of " + HOSTILE
    assert page.run("document.querySelector('h1').textContent") == "Memory of " + HOSTILE
    held = page.run("[...document.querySelectorAll('#details dd')].map((e) => e.textContent)")
    assert held.count(HOSTILE) == 3, json.dumps(held)


def test_stacks_without_python(recording, show):
    made = recording()
    made.allocate(4096)
    page = show(made.snapshot())
    page.run("page.timeline.choose({ block: 0 })")
    assert facts_in_panel(page)["call site"] == "no Python frame"
    open_list(page, "Flame view")
    assert flames_of(page)[-1] == ["leaf", "no Python frame, 4.00 KiB"]


def test_sizes_read_as_in_python(recording, show):
    page = show(recording().snapshot())
    sizes = [0, 1, 1024, 1025, 2**20 - 1, 2**20, 10**7, 2**30 - 1, 2**30, 10**13]
    assert page.run(f"{sizes}.map(formatSize)") == [format_size(size) for size in sizes]
    times = {0: "0 ns", 999: "999 ns", 1000: "1.00 µs", 123_456: "123 µs", 999_700: "1.00 ms", 12_345_678: "12.3 ms",
             5_000_000_000: "5.00 s", 600_000_000_000: "600 s", 7_260_000_000_000: "2 h 1 min"}  # fmt: skip
    assert page.run(f"{list(times)}.map(formatTime)") == list(times.values())
