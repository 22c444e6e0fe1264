"""A chain of ownership as a picture: a card for each link, an arrow for each way of owning.

What a link owns stands below it, side by side if there are several; an allocator, which is kept and not owned, stands
to the right. Letters are all equally wide, so that the size of a card is known without asking a browser.
"""

from textwrap import wrap
from typing import Any

from tensix.explanation.link import Link

LETTER, LINE = 7.25, 18  # width and height of the small letters
PADDING, HEAD = 14, 34  # of a card
GAP, SIDE_GAP = 46, 84  # between cards, downwards and sideways
MARGIN = 10
STEM = 52  # where arrows leave a card and come to one, from its left edge
MAX_LETTERS = 46  # of a value, before it is wrapped
MIN_WIDTH = 300
BESIDE = "keeps"  # the way of owning that leads sideways

COLOURS = {  # of the edge, by kind: on light paper, on dark paper
    "handle": ("#2563eb", "#60a5fa"),
    "target": ("#7c3aed", "#a78bfa"),
    "memory": ("#b45309", "#fbbf24"),
    "context": ("#047857", "#34d399"),
    "allocator": ("#475569", "#94a3b8"),
    "object": ("#be185d", "#f472b6"),
}
PAPER = {  # paper, card, head of a card, ink, faint ink, lines
    False: ("#ffffff", "#ffffff", "#f6f7f9", "#111827", "#6b7280", "#9ca3af"),
    True: ("#0f1218", "#171c25", "#1e2531", "#e5e7eb", "#9aa4b2", "#5b6675"),
}
NAMES = ("paper", "card", "head", "ink", "faint", "line")

CONTROLS = dict.fromkeys(range(32), "\ufffd")  # which XML cannot say
ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"} | CONTROLS)


def picture_of(chain: Link, text: str) -> str:
    """Return the text of an SVG file of a chain; `text` is its description."""
    root = Card(chain)
    root.measure()
    root.place(MARGIN, MARGIN)
    width, height = root.total_width + 2 * MARGIN, root.total_height + 2 * MARGIN
    body = "".join(root.draw())
    words = text.translate(ESCAPES | {10: "\n"})
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tensix-explanation" role="img" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
        f"<desc>{words}</desc><style>{style()}</style>"
        f'<rect class="paper" width="100%" height="100%" rx="8"/>{body}</svg>'
    )


def style() -> str:
    """Return the style sheet: light or dark as the system says, or as a notebook says that knows better."""
    light, dark = variables(False), variables(True)
    this = ".tensix-explanation"
    return (
        f"{this}{{{light}max-width:100%;height:auto}}"
        f"@media (prefers-color-scheme:dark){{{this}{{{dark}}}}}"
        f'[data-jp-theme-light="true"] {this},[data-theme="light"] {this},.vscode-light {this}{{{light}}}'
        f'[data-jp-theme-light="false"] {this},[data-theme="dark"] {this},.vscode-dark {this}{{{dark}}}'
        f"{this} text{{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        "fill:var(--ink);white-space:pre}"
        f"{this} .what{{font-weight:700;font-size:13px}}{this} .name,{this} .how{{fill:var(--faint)}}"
        f"{this} .paper{{fill:var(--paper)}}{this} .card{{fill:var(--card);stroke:var(--edge);stroke-width:1.3}}"
        f"{this} .head{{fill:var(--head)}}{this} .mark{{fill:var(--edge)}}"
        f"{this} .pill{{fill:var(--paper);stroke:var(--line)}}{this} .others{{stroke-dasharray:3 3}}"
        f"{this} .arrow{{fill:none;stroke:var(--line);stroke-width:1.5}}{this} .tip{{fill:var(--line)}}"
        f"{this} .loose{{stroke-dasharray:4 4}}"
        + "".join(f"{this} .{kind}{{--edge:var(--{kind})}}" for kind in COLOURS)
    )


def variables(is_dark: bool) -> str:
    """Return the colours as variables of the style sheet."""
    named = dict(zip(NAMES, PAPER[is_dark], strict=True)) | {kind: both[is_dark] for kind, both in COLOURS.items()}
    return "".join(f"--{name}:{colour};" for name, colour in named.items())


class Card:
    """Draw a link with everything below it and at its sides."""

    def __init__(self, link: Link):
        self.link = link
        self.below = [(how, Card(owned)) for how, owned in link.owns if how != BESIDE]
        self.beside = [(how, Card(owned)) for how, owned in link.owns if how == BESIDE]
        self.name_width = max((len(name) for name in link.texts), default=0) * LETTER
        self.rows: list[tuple[str, str]] = []
        for name, text in link.texts.items():
            for index, part in enumerate(wrap(text, MAX_LETTERS) or [""]):
                self.rows.append((name if index == 0 else "", part))
        widest = max((len(text) for _, text in self.rows), default=0) * LETTER
        title = len(link.what) * LETTER * 13 / 12 + 12
        self.width = max(2 * PADDING + max(self.name_width + 14 + widest, title), MIN_WIDTH)
        self.height = HEAD + (len(self.rows) * LINE + PADDING if self.rows else 0)
        self.x = self.y = self.total_width = self.total_height = self.below_y = 0.0

    def measure(self, width: float = 0.0) -> None:
        """Find out how much space this card and all others of its part need; cards of one column are equally wide."""
        self.width = max(self.width, width, *(card.width for card in self.column()))
        for _, card in self.beside:
            card.measure()
        for _, card in self.below:
            card.measure(self.width if len(self.below) == 1 else 0.0)
        row_width = self.width + sum(SIDE_GAP + card.total_width for _, card in self.beside)
        row_height = max([self.height, *(card.total_height for _, card in self.beside)])
        below_width = sum(card.total_width for _, card in self.below) + GAP * max(len(self.below) - 1, 0)
        below_height = max([GAP + card.total_height for _, card in self.below], default=0)
        self.total_width = max(row_width, below_width)
        self.below_y = self.height if below_width <= self.width else row_height  # beneath neighbours only if it is wide
        self.total_height = max(row_height, self.below_y + below_height)

    def column(self) -> "list[Card]":
        """Return this card and those below it, as far as there is one each."""
        return [self, *(self.below[0][1].column() if len(self.below) == 1 else ())]

    def place(self, x: float, y: float) -> None:
        """Give this card and all others of its part their places."""
        self.x, self.y = x, y
        right = x + self.width
        for _, card in self.beside:
            card.place(right + SIDE_GAP, y)
            right += SIDE_GAP + card.total_width
        left = x
        for _, card in self.below:
            card.place(left, y + self.below_y + GAP)
            left += card.total_width + GAP

    def draw(self) -> Any:
        """Yield the elements of the picture: arrows first, cards over them."""
        for how, card in self.below[::-1]:  # the words of the first one over the lines to the others
            yield from draw_down(self, card, how)
        for how, card in self.beside:
            yield from draw_sideways(self, card, how)
        yield from draw_card(self)
        for _, card in [*self.below, *self.beside]:
            yield from card.draw()


def draw_card(card: Card) -> Any:
    """Yield a card: its head, its name, its facts."""
    x, y, width, height = card.x, card.y, card.width, card.height
    yield f'<g class="{card.link.kind}">'
    yield f'<rect class="card" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="7"/>'
    head = f"M{x + 0.7:.1f} {y + HEAD - 6}v-{HEAD - 13}q0 -6.3 6.3 -6.3h{width - 14:.1f}q6.3 0 6.3 6.3v{HEAD - 13}z"
    yield f'<path class="head" d="{head}"/>'
    yield f'<circle class="mark" cx="{x + PADDING + 4:.1f}" cy="{y + 14:.1f}" r="4"/>'
    yield text_at(x + PADDING + 16, y + 18.5, card.link.what, "what")
    for index, (name, value) in enumerate(card.rows):
        line = y + HEAD + 11 + index * LINE
        yield text_at(x + PADDING, line, name, "name")
        yield text_at(x + PADDING + card.name_width + 14, line, value)
    yield "</g>"


def draw_down(owner: Card, owned: Card, how: str) -> Any:
    """Yield the arrow to a card below, with how it is owned, and who else owns it."""
    x, top, bottom = owned.x + STEM, owner.y + owner.height, owned.y
    if owned.x > owner.x:
        middle = bottom - GAP / 2
        yield f'<path class="arrow" d="M{owner.x + STEM:.1f} {top:.1f}V{middle:.1f}H{x:.1f}V{bottom - 6:.1f}"/>'
    else:
        yield f'<path class="arrow" d="M{x:.1f} {top:.1f}V{bottom - 6:.1f}"/>'
    yield tip(x, bottom, 0, 1)
    label = max(top, bottom - GAP) + GAP / 2 - 2
    yield pill(x, label, how, "how")
    if owned.link.others:
        middle = x + (len(how) + len(owned.link.others)) * LETTER / 2 + 44
        yield f'<path class="arrow loose" d="M{middle:.1f} {label:.1f}V{bottom - 6:.1f}"/>'
        yield tip(middle, bottom, 0, 1)
        yield pill(middle, label, owned.link.others, "others")


def draw_sideways(owner: Card, kept: Card, how: str) -> Any:
    """Yield the arrow to a card beside."""
    y = owner.y + 14
    left, right = owner.x + owner.width, kept.x
    yield f'<path class="arrow loose" d="M{left:.1f} {y:.1f}H{right - 6:.1f}"/>'
    yield tip(right, y, 1, 0)
    yield pill((left + right) / 2 - 2, y, how, "how")


def tip(x: float, y: float, along: int, down: int) -> str:
    """Return the head of an arrow that ends at a point, going right or down."""
    back_x, back_y = x - 8 * along, y - 8 * down
    return (
        f'<path class="tip" d="M{x:.1f} {y:.1f}L{back_x + 4 * down:.1f} {back_y + 4 * along:.1f}'
        f'L{back_x - 4 * down:.1f} {back_y - 4 * along:.1f}z"/>'
    )


def pill(x: float, y: float, text: str, role: str) -> str:
    """Return a word on an arrow, its middle at a point."""
    width = len(text) * LETTER + 16
    place = f'x="{x - width / 2:.1f}" y="{y - 10:.1f}" width="{width:.1f}" height="20" rx="10"'
    return f'<rect class="pill {role}" {place}/>' + text_at(x, y + 4, text, "how", ' text-anchor="middle"')


def text_at(x: float, y: float, text: str, role: str = "", more: str = "") -> str:
    """Return a line of text that begins at a point."""
    role = f' class="{role}"' if role else ""
    return f'<text{role} x="{x:.1f}" y="{y:.1f}"{more}>{text.translate(ESCAPES)}</text>' if text else ""
