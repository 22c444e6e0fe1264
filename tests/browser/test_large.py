"""A hundred thousand events: the page stays usable. And the picture that the documentation shows."""

import random
from pathlib import Path

import pytest

IMAGES = Path(__file__).parents[2] / "docs" / "images"
FRAMES = """(async () => {
  const timeline = page.timeline;
  const times = {};
  const measure = async (name, act) => {
    const draw = timeline.drawNow;
    const found = [];
    timeline.drawNow = () => {
      const start = performance.now();
      draw.call(timeline);
      found.push(performance.now() - start);
    };
    for (let frame = 0; frame < 40; frame++) {
      act(frame);
      await new Promise((done) => requestAnimationFrame(done));
    }
    delete timeline.drawNow;
    times[name] = found.sort((one, other) => one - other);
  };
  await measure("zoom in", () => timeline.zoomTime(0.9));
  await measure("move", (frame) => timeline.moveBy(frame < 20 ? 0.05 : -0.05, 0));
  await measure("zoom out", () => timeline.zoomTime(1 / 0.9));
  return times;
})()"""


@pytest.fixture
def many_events(recording):
    """Return a snapshot of 50,000 blocks, nearly all of them freed again."""
    draw = random.Random(0)
    made, alive = recording("many.py"), []
    for _ in range(50_000):
        line = draw.randrange(300)
        frames = (f"/srv/a{line % 20}.py:{line} f{line}", f"/srv/b.py:{line % 7} g", "/srv/c.py:1 <module>")
        alive.append(made.allocate(int(2 ** draw.uniform(6, 22)), *frames, after=draw.randrange(500, 20_000)))
        if len(alive) > 300:
            made.free(alive.pop(draw.randrange(len(alive))))
    made.free(*alive[:250])
    return made.snapshot()


def test_many_events(many_events, show, capsys):
    """Each frame asked for is drawn. The times are printed, not judged: ``pytest tests/browser -k many -s``."""
    page = show(many_events, width=1360)
    freed = [time for time in many_events["blocks"]["freed_ns"] if time is not None]
    assert page.run("page.snapshot.events") == 50_000 + len(freed) > 99_000
    for name, times in page.run(FRAMES).items():
        assert len(times) >= 40
        with capsys.disabled():
            print(f"\n{name:<9} median {times[len(times) // 2]:5.1f} ms, slowest {times[-1]:5.1f} ms", end="")
    page.run("new Promise((done) => setTimeout(done, 300))")
    page.settle()
    assert page.run("page.timeline.columns === Math.round(page.timeline.width)")  # at rest the picture is fine again
    page.click_on("th:nth-child(5) button")
    assert page.run("document.querySelectorAll('tbody tr').length") == 200
    page.click_on(".more")
    assert page.run("document.querySelectorAll('tbody tr').length") == page.run("page.snapshot.sites.length")


def test_picture_for_the_documentation(training, show):
    page = show(training, width=1180, height=840)
    page.run("page.timeline.choose({ block: 21 })")
    page.settle()
    assert page.run("new Set(page.timeline.image.data).size") > 20  # it is not blank
    picture = page.screenshot()
    assert picture.startswith(b"\x89PNG") and len(picture) > 20_000
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "timeline.png").write_bytes(picture)
