"""The picture is whole: well-formed, nothing outside, no card over another, every word escaped and inside its card."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import tensix
from tensix import Allocator, CPUAllocator, Storage, Tensor, explain

SVG = "{http://www.w3.org/2000/svg}"


def scenes():
    x = tensix.rand(3, 4)
    clone = x.lazy_clone()
    sparse = tensix.sparse_coo_tensor(tensix.tensor([[0, 2]]), tensix.ones(2), (4,))
    return {
        "whole": x, "lazy clone": clone[1:, ::2], "sparse": sparse, "large": tensix.empty(1 << 20),
        "numpy": tensix.from_numpy(np.ones((3, 4))[:, 1:]), "storage": x.storage(), "undefined": Tensor(),
        "allocator": tensix.get_allocator("cpu"),
    }  # fmt: skip


def picture(x):
    return ElementTree.fromstring(explain(x).svg())


def boxes(root, role):
    """Return the edges of rectangles: left, top, right, bottom."""
    found = []
    for rect in root.iter(f"{SVG}rect"):
        if role in rect.get("class").split():
            x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
            found.append((x, y, x + width, y + height))
    return found


@pytest.mark.parametrize("name", scenes())
def test_cards_have_room(name):
    kept = scenes()
    root = picture(kept[name])
    width, height = float(root.get("width")), float(root.get("height"))
    cards = boxes(root, "card")
    assert len(cards) == str(explain(kept[name]).to_dict()).count("'what'")
    for left, top, right, bottom in [*cards, *boxes(root, "pill")]:
        assert left >= 0 and top >= 0 and right <= width and bottom <= height
    for index, (left, top, right, bottom) in enumerate(cards):
        for other in cards[index + 1 :]:
            assert right <= other[0] or left >= other[2] or bottom <= other[1] or top >= other[3]
    for group in root.iter(f"{SVG}g"):
        (left, top, right, bottom) = boxes(group, "card")[0]
        for text in group.iter(f"{SVG}text"):
            x, y = float(text.get("x")), float(text.get("y"))
            assert left < x and top < y < bottom and x + 7.3 * len(text.text) <= right


def test_order_is_that_of_ownership():
    kept = scenes()
    root = picture(kept["lazy clone"])
    titles = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "what"]
    assert titles[:3] == ["Tensor", "TensorImpl", "StorageImpl"]
    tops = [box[1] for box in boxes(root, "card")]
    assert tops[:6] == sorted(tops[:6])
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert "1 other storage" in words and "copy-on-write context" in words


class Hostile(Allocator):
    alignment = 64

    def allocate(self, nbytes):
        return CPUAllocator().allocate(nbytes)


Hostile.__qualname__ = '<script>alert("&\x00\n")</script>'


def test_names_are_escaped():
    text = explain(Storage(8, Hostile())).svg()
    assert "<script" not in text and "\x00" not in text
    assert '<script>alert("&' in "".join(ElementTree.fromstring(text).itertext())


def test_nothing_comes_from_outside():
    text = explain(tensix.ones(3)).svg()
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg\")|url\(|@import|<script|href", text)
    assert explain(tensix.ones(3))._repr_svg_().startswith("<svg ")
    assert "prefers-color-scheme:dark" in text and 'role="img"' in text


def test_the_documentation_shows_this_picture():
    """Addresses are of equal length wherever they come from, so that only they differ."""
    x = tensix.rand(3, 4)
    clone = x.lazy_clone()
    shown = Path(__file__).parents[2].joinpath("docs/images/explain_lazy_clone.svg").read_text(encoding="utf-8")
    made = explain(clone[1:, ::2]).svg() + "\n"
    shown, made = (re.sub(r"0x[0-9a-f]+|aligned to \d+", "...", text) for text in (shown, made))
    assert made == shown
