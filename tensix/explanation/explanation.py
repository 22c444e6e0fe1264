"""The answer to "who owns this memory?"."""

from base64 import b64encode
from html import escape
from typing import Any

from tensix._support.argument_errors import names_signature
from tensix.explanation.chain import link_of
from tensix.explanation.link import Link
from tensix.explanation.picture import picture_of

__all__ = ["Explanation", "explain"]


@names_signature
def explain(x: Any, /) -> "Explanation":
    """Return the whole chain of ownership of an object: handles, bodies, storages, contexts, allocators.

    Parameters
    ----------
    x : Tensor, Storage, IntrusivePtr, WeakIntrusivePtr, IntrusiveTarget, DataPtr or Allocator
        Where the chain begins.

    Returns
    -------
    Explanation
        Printed it is text, in a notebook a picture, and `Explanation.to_dict` gives data.

    Raises
    ------
    TypeError
        If `x` is none of these.

    Notes
    -----
    Lifetime: the explanation holds no reference to what it explains, and says how things were when it was made. Nothing
    is counted, copied or materialized for it.

    Thread-safety: counts may change while others work; each is read at one moment.

    Examples
    --------
    >>> x = tensix.ones(3, 4)
    >>> clone = x.lazy_clone()
    >>> for line in str(tensix.explain(clone)).splitlines():
    ...     if "shared by" in line or "next write" in line:
    ...         print(" ".join(line.strip("│ ").split()))
    next write copies 48 bytes first
    shared by 2 storages
    """
    return Explanation(link_of(x))


class Explanation:
    """Hold a chain of ownership; `explain` makes it.

    Parameters
    ----------
    chain : Link
        The first link.

    Examples
    --------
    >>> chain = tensix.explain(tensix.empty(3)).to_dict()
    >>> while chain["owns"]:
    ...     chain = chain["owns"][0]
    >>> chain["what"], chain["facts"]["size"]
    ('block of a CPUAllocator, not counted', 64)
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self, chain: Link):
        self._chain = chain

    def to_dict(self) -> dict[str, Any]:
        """Return the chain as plain data, fit for JSON: per link ``"what"``, ``"kind"``, ``"facts"`` and ``"owns"``."""
        return self._chain.to_dict()

    def svg(self) -> str:
        """Return the chain as a picture: the text of an SVG file, which needs nothing else and suits light and dark."""
        return picture_of(self._chain, str(self))

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        # The picture as an image, and the text beside it: of an <svg> a notebook that is not trusted keeps the letters.
        image = b64encode(self.svg().encode()).decode()
        return (
            f'<div><img src="data:image/svg+xml;base64,{image}" alt="chain of ownership"/>'
            f"<details><summary>text</summary><pre>{escape(str(self))}</pre></details></div>"
        )

    def __str__(self) -> str:
        rows = [*rows_of(self._chain, "", "", "")]
        width = max((len(left) for left, text in rows if text), default=0)
        return "\n".join(f"{left:<{width}}  {text}" if text else left for left, text in rows)

    __repr__ = __str__


def rows_of(link: Link, branch: str, trunk: str, how: str) -> Any:
    """Yield the lines of a link as pairs: what stands left, drawing included, and the text beside it.

    `branch` is the drawing in front of the link's own line, `trunk` that in front of all its others.
    """
    yield f"{branch}{how}{link.what}", ""
    stem = "│  " if link.owns else "   "
    for name, text in link.texts.items():
        yield f"{trunk}{stem}{name}", text
    for index, (relation, owned) in enumerate(link.owns):
        is_last = index == len(link.owns) - 1
        yield from rows_of(
            owned, trunk + ("└─ " if is_last else "├─ "), trunk + ("   " if is_last else "│  "), f"{relation} ─ "
        )
