"""A headless Chromium to test pages in; these tests run only when asked for by name."""

import base64
import json
import os
import re
import shutil
import subprocess

import pytest

from tensix.profiling.timeline import html_of_snapshot

BLOCK_COLUMNS = ("address", "nbytes", "allocated_ns", "freed_ns", "stack", "thread", "allocator")
COMMANDS = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--hide-scrollbars", "--force-device-scale-factor=1", "--remote-debugging-pipe",
]  # fmt: skip


class Browser:
    """One page of a browser of its own, steered by the DevTools protocol over a pair of pipes: no port, no package.

    Attributes
    ----------
    complaints : list of str
        Uncaught exceptions, messages of the console, and requests that the page made.
    """

    def __init__(self, profile):
        command = next(filter(None, map(shutil.which, COMMANDS)), None)
        if command is None:
            raise FileNotFoundError(f"these tests need a browser: none of {', '.join(COMMANDS)} was found.")
        theirs, self._commands = os.pipe()
        self._answers, ours = os.pipe()

        def use_three_and_four():
            """The browser reads commands from descriptor 3 and writes answers to 4, whatever the pipes' numbers are."""
            high = os.dup(theirs), os.dup(ours)
            for number, pipe in zip((3, 4), high, strict=True):
                os.dup2(pipe, number)

        self._process = subprocess.Popen(
            [command, *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=use_three_and_four, close_fds=False, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs)
        os.close(ours)
        self._rest = b""
        self._number = 0
        self._session = None
        self.complaints = []
        target = self.call("Target.getTargets")["targetInfos"][0]["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self._session = None
        self.call("Browser.close")
        self._process.wait(timeout=20)
        os.close(self._commands)
        os.close(self._answers)

    def call(self, method, **parameters):
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._commands, data) :]
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _read(self):
        while b"\0" not in self._rest:
            more = os.read(self._answers, 1 << 20)
            assert more, "the browser is gone"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, event, parameters):
        if event == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled":
            self.complaints.append(f"console: {parameters['args']}")
        elif event == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif event == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith("file:"):
            self.complaints.append(f"request: {parameters['request']['url']}")

    # ---- what a person does

    def open(self, path, width=1280, height=1000, dark=False, scale=1):
        """Load a file and wait until it has drawn."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale}
        self.call("Emulation.setDeviceMetricsOverride", mobile=False, **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.as_uri())
        self.run("new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))")
        self.settle()

    def run(self, expression):
        """Evaluate JavaScript and return its value; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def settle(self):
        """Wait for two frames, and until the picture is exact: what was asked for is then drawn."""
        self.run(
            "(async () => { const frame = () => new Promise(requestAnimationFrame); await frame(); await frame();"
            " while (typeof page !== 'undefined' && page.timeline.areBandsOld) await frame(); })()"
        )

    def texts(self, selector):
        """Return the visible texts of all such elements."""
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.innerText)")

    def box_of(self, selector):
        """Return left, top, width and height of an element, after scrolling there."""
        return self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            " return [b.x, b.y, b.width, b.height]; })()"
        )

    def mouse(self, kind, x, y, **more):
        button = {"mousePressed": "left", "mouseReleased": "left"}.get(kind, "none")
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1, **more)

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, x, y)
        self.settle()

    def click_on(self, selector):
        """Click into the middle of an element."""
        x, y, width, height = self.box_of(selector)
        self.click(x + width / 2, y + height / 2)

    def press(self, key, modifiers=0):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}.get(key, 0)
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)
        self.settle()

    def pixels(self, canvas, x, y, width, height):
        """Return the colours of a part of one of the timeline's canvases, a number for each pixel, row by row."""
        return self.run(
            "(() => { const copy = document.createElement('canvas').getContext('2d', { willReadFrequently: true });"
            f" Object.assign(copy.canvas, {{ width: {width}, height: {height} }});"
            f" copy.drawImage(page.timeline.{canvas}, {-x}, {-y});"
            f" return [...new Uint32Array(copy.getImageData(0, 0, {width}, {height}).data.buffer)]; }})()"
        )

    def screenshot(self):
        """Return a PNG of what is in the window."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Return one browser for all tests; each opens its own pages."""
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def show(browser, tmp_path):
    """Return a function that opens a snapshot's page and returns the browser; the page may not complain."""

    def open_page(snapshot, **options):
        path = tmp_path / "page.html"
        path.write_text(html_of_snapshot(snapshot), encoding="utf-8")
        browser.complaints.clear()
        browser.open(path, **options)
        return browser

    yield open_page
    assert browser.complaints == []


class Recording:
    """Write down a snapshot by hand, so that pictures do not depend on the machine.

    Frames are given as ``"file:line function"``, innermost first.
    """

    def __init__(self, program="train.py"):
        self.now = 0
        self.blocks = {name: [] for name in BLOCK_COLUMNS}
        self.frames, self.stacks = {}, {}
        self.holders, self.copies, self.failures = [], [], []
        self.head = {"format": "tensix memory snapshot", "version": 1, "tensix": "0.1.0", "program": program,
                     "started": "2026-05-04T10:15:30+00:00"}  # fmt: skip

    def stack(self, *frames):
        numbers = tuple(self.frames.setdefault(frame, len(self.frames)) for frame in frames)
        return self.stacks.setdefault(numbers, len(self.stacks))

    def allocate(self, nbytes, *frames, after=1000, thread=0):
        self.now += after
        number = len(self.blocks["nbytes"])
        values = (0x7F0000000000 + 4096 * number, nbytes, self.now, None, self.stack(*frames), thread, 0)
        for name, value in zip(BLOCK_COLUMNS, values, strict=True):
            self.blocks[name].append(value)
        return number

    def free(self, *blocks, after=200):
        for block in blocks:
            self.now += after
            self.blocks["freed_ns"][block] = self.now

    def moment(self, nbytes, *frames):
        return {"time_ns": self.now, "nbytes": nbytes, "stack": self.stack(*frames)}

    def snapshot(self):
        frames = []
        for frame in self.frames:
            file, line, function = re.fullmatch(r"(.*):(\d+) (.*)", frame, re.DOTALL).groups()
            frames.append({"file": file, "line": int(line), "function": function})
        return self.head | {
            "duration_ns": self.now + 1000, "dropped": 0, "frames": frames,
            "stacks": [list(stack) for stack in self.stacks],
            "call_sites": [stack[0] if stack else None for stack in self.stacks],
            "allocators": ["CachingAllocator(CPUAllocator(alignment=64))"], "threads": ["MainThread", "loader"],
            "blocks": self.blocks, "holders": self.holders, "copies": self.copies, "failures": self.failures,
        }  # fmt: skip


@pytest.fixture(scope="session")
def recording():
    return Recording


@pytest.fixture
def training():
    """Return the snapshot of a small training: weights, and in each step a hill of activations and gradients."""
    made = Recording()
    main, step = "/home/ada/train.py:88 <module>", "/home/ada/train.py:61 train"
    unit = 1 << 20
    weights = [
        made.allocate((2 + 2 * (n % 3)) * unit, "/home/ada/model.py:14 __init__", main, after=600_000) for n in range(8)
    ]
    data = made.allocate(24 * unit, "/home/ada/data.py:22 load", main, after=500_000)
    for number in range(5):
        batch = made.allocate(4 * unit, "/home/ada/data.py:41 next_batch", step, main, after=900_000, thread=1)
        kept, gradients = [], []
        for layer in range(8):
            forward = ("/home/ada/model.py:52 forward", step, main)
            wide = (4 + 2 * (layer % 4)) * unit
            kept.append(made.allocate(wide, "/home/ada/model.py:31 linear", *forward, after=700_000))
            bias = made.allocate(2 * unit, "/home/ada/model.py:33 bias", *forward, after=200_000)
            kept.append(made.allocate(wide // 2, "/home/ada/model.py:37 relu", *forward, after=400_000))
            made.free(bias, after=100_000)
        if number == 2:
            made.copies.append(made.moment(4 * unit, "/home/ada/train.py:66 clip", step, main))
        if number == 3:
            made.failures.append(made.moment(1 << 36, "/home/ada/train.py:69 whole_batch", step, main))
        for layer in reversed(range(8)):
            backward = ("/home/ada/model.py:71 backward", step, main)
            gradient = "/home/ada/model.py:75 gradient"
            gradients.append(made.allocate((2 + 2 * (layer % 3)) * unit, gradient, *backward, after=500_000))
            turned = made.allocate(4 * unit, "/home/ada/model.py:78 transposed", *backward, after=300_000)
            made.free(kept.pop(), kept.pop(), turned, after=100_000)
        made.free(*gradients, batch, after=50_000)
    made.free(data)
    made.holders = [{"block": block, "text": "Tensor float32 (1024, 512), storage use count 1"} for block in weights]
    return made.snapshot()
