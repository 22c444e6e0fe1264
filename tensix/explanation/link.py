"""One owner in a chain of ownership."""

from typing import Any, Self


class Link:
    """One owner in a chain: what it is, such as ``"StorageImpl"``, the facts about it, and what it owns.

    `kind` is its name for a program: ``"handle"``, ``"target"``, ``"memory"``, ``"context"``, ``"allocator"``,
    ``"object"``. `facts` are name to value, numbers as numbers, what JSON can say; `texts` are the same for a person's
    eyes. `owns` has how it owns, such as ``"strong"``, and what: another link. `others` says who else owns it, such as
    ``"2 other owners"``; it is empty if no one does.
    """

    def __init__(self, what: str, kind: str):
        self.what, self.kind, self.others = what, kind, ""
        self.facts: dict[str, Any] = {}
        self.texts: dict[str, str] = {}
        self.owns: list[tuple[str, Link]] = []

    def say(self, name: str, value: Any, text: str | None = None) -> Self:
        """Add a fact; the text is that of the value if not given."""
        self.facts[name] = value
        self.texts[name] = str(value) if text is None else text
        return self

    def own(self, how: str, link: "Link") -> Self:
        """Add what is owned."""
        self.owns.append((how, link))
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the link and all that it owns as plain data."""
        owns = [{"how": how, **link.to_dict()} for how, link in self.owns]
        return {"what": self.what, "kind": self.kind, "facts": self.facts, "owns": owns}


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
