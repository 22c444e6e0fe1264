"""A count that remembers its peak and its totals."""

from dataclasses import dataclass

__all__ = ["Stat"]


@dataclass
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

    current: int = 0
    peak: int = 0
    allocated: int = 0
    freed: int = 0

    def increase(self, amount):
        """Add to the current value."""
        self.current += amount
        self.peak = max(self.peak, self.current)
        self.allocated += amount

    def decrease(self, amount):
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

    def reset_accumulated(self):
        """Start the totals again at 0."""
        self.allocated = self.freed = 0

    def reset_peak(self):
        """Start the peak again at the current value."""
        self.peak = self.current
