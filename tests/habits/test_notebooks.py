"""What a notebook shows: tensors, profiles and snapshots as small tables, which change nothing of what they show."""

import base64
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import tensix


def table_of(thing):
    """Return the caption and the rows of what a notebook shows, which must be well formed."""
    root = ElementTree.fromstring(thing._repr_html_())
    HTMLParser().feed(thing._repr_html_())
    assert {part.tag for part in root.iter()} <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    rows = [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]
    return root.findtext("strong"), rows


def test_a_matrix():
    caption, rows = table_of(tensix.tensor([[1.0, 2.5], [3.0, -4.0]]))
    assert caption == "Tensor float32, shape (2, 2), 16 bytes"
    assert rows == [["", "0", "1"], ["0", "1.0", "2.5"], ["1", "3.0", "-4.0"]]


@pytest.mark.parametrize(
    "shape", [(), (1,), (3,), (11,), (9, 10), (10, 11), (11, 10), (2000, 3000), (2, 3, 4), (2, 1, 99)]
)
@pytest.mark.parametrize("dtype", ["int64", "float32", "bool", "complex64", "bfloat16"])
def test_every_element_that_belongs_there_is_shown(shape, dtype):
    """All of a short dimension, five at both ends of a long one, and a mark for what is left out."""
    count = int(np.prod(shape))
    x = tensix.reshape(tensix.arange(count), shape).to(dtype)
    _, rows = table_of(x)
    height, width = (1, 1, *shape)[-2:]

    def ends(length):
        return [*range(length)] if length <= 10 else [0, 1, 2, 3, 4, None, *range(length - 5, length)]

    assert rows[0] == ["", *("…" if column is None else str(column) for column in ends(width))]
    assert len(rows) == 1 + len(ends(height))
    for row, line in zip(ends(height), rows[1:], strict=True):
        assert len(line) == 1 + len(ends(width))
        for column, text in zip(ends(width), line[1:], strict=True):
            left_out = row is None or column is None
            assert (text == "…") == left_out
            if not left_out and dtype == "int64":
                assert int(text) == row * width + column
            if not left_out and dtype == "bool":
                assert text == str(row * width + column > 0)


def test_what_has_no_table():
    assert table_of(tensix.empty(3, device="meta")) == ("Tensor float32, shape (3,), 12 bytes, on meta", [])
    assert "<div>elements without memory</div>" in tensix.empty(3, device="meta")._repr_html_()
    assert table_of(tensix.ones((0, 3))) == ("Tensor float32, shape (0, 3), 0 bytes", [])
    assert "<div>no elements</div>" in tensix.ones((0, 3))._repr_html_()
    assert table_of(tensix.Tensor()) == ("Tensor, undefined", [])


def test_a_sparse_tensor_shows_its_entries():
    x = tensix.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.5], (2, 3))
    assert table_of(x) == (
        "Tensor float32, shape (2, 3), sparse_coo, nnz=2",
        [["dim 0", "dim 1", "value"], ["0", "2", "3.0"], ["1", "0", "4.5"]],
    )
    many = tensix.arange(1, 100).to("bfloat16").to_sparse()
    _, rows = table_of(many)
    assert [row[0] for row in rows] == ["dim 0", "0", "1", "2", "3", "4", "…", "94", "95", "96", "97", "98"]
    assert rows[6] == ["…", "…"] and rows[-1] == ["98", "99."]
    empty = tensix.zeros(2, 3).to_sparse()
    assert table_of(empty)[1] == [] and "<div>no elements stored</div>" in empty._repr_html_()


def test_an_explanation_is_a_picture_and_its_text():
    """An image, not an element ``<svg>``, of which a notebook that somebody else ran keeps the bare letters."""
    explanation = tensix.explain(tensix.ones(2))
    assert ElementTree.fromstring(explanation._repr_svg_()).tag.endswith("svg")
    root = ElementTree.fromstring(explanation._repr_html_())
    kind, _, image = root.find("img").get("src").partition(";base64,")
    assert kind == "data:image/svg+xml" and base64.b64decode(image).decode() == explanation.svg()
    assert root.findtext("details/pre") == str(explanation) and {part.tag for part in root.iter()}.isdisjoint({"svg"})


def test_showing_changes_nothing():
    x = tensix.rand(100, 100)
    lazy = x.lazy_clone()
    before = tensix.memory_allocated()
    assert "copy-on-write" in table_of(lazy)[0]
    assert x.is_cow() and lazy.is_cow()
    assert tensix.memory_allocated() == before
    y = tensix.ones(4)
    table_of(y)
    y.storage().resize_(32)  # which is refused while somebody has the memory
    readonly = tensix.asarray(bytes(8))
    assert table_of(readonly)[0].endswith("read-only") and readonly.readonly


def test_a_profile_and_a_snapshot():
    with tensix.record() as recording, tensix.profile(quiet=True) as profile:
        kept = tensix.ones(1000)
        tensix.ones(250)
    caption, rows = table_of(profile)
    assert "peak=4.88 KiB" in caption
    assert rows[0] == ["peak", "total", "count", "alive", "line"]
    assert [row[0] for row in rows[1:]] == ["3.91 KiB", "1000 bytes"]
    caption, rows = table_of(recording.snapshot())
    assert caption == "Peak 4.88 KiB"
    assert [row[:2] for row in rows[1:]] == [["3.91 KiB", "80 %"], ["1000 bytes", "20 %"]]
    assert "kept = tensix.ones(1000)" in rows[1][2]
    assert kept.shape == (1000,)


def test_the_names_of_lines_are_escaped():
    names = {}
    exec(compile("import tensix\nx = tensix.ones(9)", "<b>&amp;.py", "exec"), {})
    with tensix.record() as recording, tensix.profile(quiet=True) as profile:
        exec(compile("import tensix\nx = tensix.ones(1000)", "<b>&amp;.py", "exec"), names)
    for thing in (profile, recording.snapshot()):
        _, rows = table_of(thing)
        assert rows[1][-1].startswith("<b>&amp;.py:2 in <module>")


def test_a_long_profile_is_cut():
    with tensix.record() as recording, tensix.profile(quiet=True) as profile:
        kept = []
        exec("import tensix\n" + "kept.append(tensix.ones(1000))\n" * 30, {"kept": kept})
    for thing in (profile, recording.snapshot()):
        assert len(table_of(thing)[1]) == 11
        assert "20 more lines are left out." in thing._repr_html_()


def test_an_empty_recording():
    with tensix.record() as recording, tensix.profile(quiet=True) as profile:
        pass
    assert table_of(profile)[1] == table_of(recording.snapshot())[1] == []
