"""A million events: every frame of the screen is drawn. And the picture that the documentation shows."""

import random
from pathlib import Path

import pytest

IMAGES = Path(__file__).parents[2] / "docs" / "images"
FRAMES = """(async () => {
  const { timeline } = page;
  const times = {};
  const frame = () => new Promise(requestAnimationFrame);
  const measure = async (name, act) => {
    const draw = timeline.drawNow;
    const work = [];
    const between = [];
    timeline.drawNow = () => {
      const start = performance.now();
      draw.call(timeline);
      work.push(performance.now() - start);
    };
    let last = await frame();
    for (let number = 0; number < 60; number++) {
      act(number);
      const now = await frame();
      between.push(now - last);
      last = now;
    }
    delete timeline.drawNow;
    times[name] = [between, work].map((found) => found.sort((one, other) => one - other));
  };
  await measure("zoom in", () => timeline.zoomTime(0.93));
  await measure("move", (number) => timeline.moveBy(number < 30 ? 0.05 : -0.05, 0));
  await measure("zoom out", () => timeline.zoomTime(1 / 0.93));
  timeline.fit();
  timeline.zoomTime(0.5);
  await measure("move far out", (number) => timeline.moveBy(number < 30 ? 0.01 : -0.01, 0));
  return times;
})()"""


@pytest.fixture(scope="module")
def million_events(recording):
    """Return the snapshot of 500,000 blocks, each of them freed again, a few hundred alive at a time."""
    draw = random.Random(0)
    made, alive = recording("many.py"), []
    for _ in range(500_000):
        line = draw.randrange(300)
        frames = (f"/srv/a{line % 20}.py:{line} f{line}", f"/srv/b.py:{line % 7} g", "/srv/c.py:1 <module>")
        alive.append(made.allocate(int(2 ** draw.uniform(6, 22)), *frames, after=draw.randrange(500, 20_000)))
        if len(alive) > 300:
            made.free(alive.pop(draw.randrange(len(alive))))
    made.free(*alive)
    return made.snapshot()


def test_million_events(million_events, show, capsys):
    """Each frame asked for is drawn. The times are printed, not judged: ``pytest tests/browser -k million -s``."""
    page = show(million_events, width=1400, height=900)
    assert page.run("page.snapshot.events") == 1_000_000
    for name, (between, work) in page.run(FRAMES).items():
        assert len(work) >= 40
        with capsys.disabled():
            print(f"\n{name:<12} frames every {between[30]:5.1f} ms, drawn in {work[len(work) // 2]:4.1f} ms,"
                  f" at worst {between[-1]:5.1f} and {work[-1]:4.1f} ms", end="")  # fmt: skip
    page.settle()
    exact = "page.timeline.pictures.kept.some((one) => sameView(one.view, page.timeline.view))"
    assert page.run(exact)  # at rest, whatever was shown while it moved
    page.click_on("th:nth-child(5) button")
    assert page.run("document.querySelectorAll('tbody tr').length") == 200
    page.click_on(".more")
    assert page.run("document.querySelectorAll('tbody tr').length") == page.run("page.snapshot.sites.length")


def test_a_moving_picture_is_stretched_from_what_there_is(million_events, show):
    """While an exact one is made, the whole shows where one is; a click finds the block that is seen."""
    page = show(million_events, width=1400, height=900)
    page.run("page.timeline.pictures.advance = () => false; page.timeline.zoomTime(0.6); page.timeline.drawNow()")
    at = "page.timeline.blockAt(page.timeline.width / 2, page.timeline.height - 4)"
    assert page.run(at) >= 0
    assert len(set(page.pixels("bandsCanvas", 100, 200, 400, 100))) > 8
    page.run("delete page.timeline.pictures.advance")
    page.settle()
    assert page.run("page.timeline.pictures.kept.length") == 2 and page.run(at) >= 0


SOURCES = {
    "relu": "return tensix.maximum(h, 0)", "forward": "h = relu(linear(h, layer))",
    "train": "loss = model.forward(batch)", "<module>": "train(steps=5)", "linear": "return h @ layer.weight",
    "__init__": "self.weight = tensix.rand(rows, columns)", "load": "return tensix.load(path)",
}  # fmt: skip


def test_picture_for_the_documentation(training, show):
    for frame in training["frames"]:
        if frame["function"] in SOURCES:
            frame["source"] = SOURCES[frame["function"]]
    page = show(training, width=1280, height=900)
    page.run("page.timeline.choose({ block: 21 })")
    page.settle()
    assert len(set(page.pixels("bandsCanvas", 0, 0, 700, 300))) > 8  # it is not blank
    picture = page.screenshot()
    assert picture.startswith(b"\x89PNG") and len(picture) > 20_000
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "timeline.png").write_bytes(picture)
