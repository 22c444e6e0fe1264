"""A count that remembers its peak and its totals."""

from tensix._support.argument_errors import names_signature

__all__ = ["Stat"]


class Stat:
    """Follow a quantity that goes up and down.

    Attributes
    ----------
    current, peak : int
        Now, and at most since the last `reset_peak`.
    allocated, freed : int
        Sums of all increases and decreases since the last `reset_accumulated`.

    Examples
    --------
    >>> from tensix.core import Stat
    >>> stat = Stat()
    >>> stat.increase(100)
    >>> stat.decrease(60)
    >>> stat
    Stat(current=40, peak=100, allocated=100, freed=60)
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self, current: int = 0, peak: int = 0, allocated: int = 0, freed: int = 0) -> None:
        self.current, self.peak, self.allocated, self.freed = current, peak, allocated, freed

    def increase(self, amount: int) -> None:
        """Add to the current value."""
        self.current += amount
        self.peak = max(self.peak, self.current)
        self.allocated += amount

    def decrease(self, amount: int) -> None:
        """Take from the current value.

        Raises
        ------
        ValueError
            If it would fall below zero; nothing changes then.
        """
        if amount > self.current:
            raise ValueError(f"cannot decrease by {amount}: only {self.current} is there.")
        self.current -= amount
        self.freed += amount

    def reset_accumulated(self) -> None:
        """Start the totals again at 0."""
        self.allocated = self.freed = 0

    def reset_peak(self) -> None:
        """Start the peak again at the current value."""
        self.peak = self.current

    def __repr__(self) -> str:
        return f"Stat(current={self.current}, peak={self.peak}, allocated={self.allocated}, freed={self.freed})"

    def __eq__(self, other: object) -> bool:
        return repr(self) == repr(other) if isinstance(other, Stat) else NotImplemented

    __hash__ = None  # type: ignore[assignment]
