"""The allocations and frees of a recording, played again: what was in use when, and what a change would leave of it.

Note [Replaying a recording]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
What a change would save is not estimated but replayed: the same blocks come and go in the same order, but for those
that the change frees earlier, keeps longer or leaves out. Only the moments at which more is in use than just before and
after are compared, the highest first, until none that follows can be higher than what is found, and those at which a
change lets something come or go, but not where an idle block ends: of that only the latest position is known.
"""

from bisect import bisect_right
from itertools import accumulate
from operator import itemgetter

import numpy as np

__all__ = ["Replay"]


class Replay:
    """Play the allocations and frees of one process or several again, on one clock.

    Parameters
    ----------
    snapshots : list of Snapshot
        Those with ``"offset_ns"`` began so much later than the first.

    Attributes
    ----------
    nbytes : array
        Sizes of all blocks, those of the first process first.
    times, live : array
        When something happened, and how many bytes were in use then.
    born, gone : list of int
        The position of each block's allocation and free among all that happened.
    peak, peak_at : int
        The most bytes in use, and the position at which they were.
    at_peak, at_end : array of bool
        Which blocks were in use then.
    numbers_at_peak : list of int
        The same blocks, by number.
    """

    def __init__(self, snapshots):
        columns = {
            key: np.concatenate([column_of(snapshot, key) for snapshot in snapshots])
            for key in ("nbytes", "allocated_ns", "freed_ns")
        }
        self.nbytes, self.at_end = columns["nbytes"].astype(np.int64), np.isinf(columns["freed_ns"])
        count = len(self.nbytes)
        times = np.concatenate([columns["allocated_ns"], columns["freed_ns"]])
        # Of one moment allocations first: what is freed was there.
        order = np.lexsort((np.arange(2 * count) >= count, times))
        order = order[: 2 * count - np.count_nonzero(self.at_end)]
        self.times, self.is_free = times[order], order >= count
        self.live = np.cumsum(np.concatenate([self.nbytes, -self.nbytes])[order])
        positions = np.full(2 * count, len(order))
        positions[order] = np.arange(len(order))
        born, gone = positions[:count], positions[count:]
        self.peak_at = int(np.argmax(self.live)) if count else 0
        self.peak = int(self.live[self.peak_at]) if count else 0
        self.at_peak = (born <= self.peak_at) & (self.peak_at < gone)
        self.numbers_at_peak = np.flatnonzero(self.at_peak).tolist()
        self.born, self.gone = born.tolist(), gone.tolist()
        self.heights = None  # bytes in use and the position, where these are more than just before and after

    def most_between(self, begin, end):
        """Return the most bytes in use from one time to another."""
        first = max(self.position_after(begin) - 1, 0)
        return int(self.live[first : self.position_after(end)].max(initial=0))

    def at_marks(self, snapshots):
        """Return the name of each mark, the bytes in use then, and the most since the mark before it.

        Parameters
        ----------
        snapshots : list of Snapshot
            Those that are replayed.
        """
        marks = sorted(
            (mark["time_ns"] + snapshot.get("offset_ns", 0), mark["name"])
            for snapshot in snapshots for mark in snapshot.get("marks", ())
        )  # fmt: skip
        before = [0, *(time for time, _ in marks)]
        return [
            (name, self.most_between(time, time), self.most_between(begin, time))
            for (time, name), begin in zip(marks, before, strict=False)
        ]

    def sums_by(self, keys):
        """Return for each key the bytes of its blocks at the peak, in total and at the end, and how many there are."""
        sums = {}
        columns = self.nbytes.tolist(), self.at_peak.tolist(), self.at_end.tolist()
        for key, nbytes, at_peak, at_end in zip(keys, *columns, strict=True):
            one = sums.setdefault(key, [0, 0, 0, 0])
            one[0] += nbytes if at_peak else 0
            one[1] += nbytes
            one[2] += nbytes if at_end else 0
            one[3] += 1
        return sums

    def position_after(self, time):
        """Return the position of the first event after a time."""
        return int(np.searchsorted(self.times, time, side="right"))

    def peak_with(self, ends, added=(), tops=()):
        """Return the peak if blocks ended elsewhere, and others were added.

        Parameters
        ----------
        ends : dict of int to int
            Where the blocks go that do not go as they did; where one is allocated if it is left out.
        added : iterable of (int, int, int)
            Where each further block is allocated and goes, and its bytes.
        tops : iterable of int
            Further positions at which more may be in use than just before and after.

        Returns
        -------
        int, int
            The bytes, and the position at which they are in use.
        """
        changes = [one for begin, end, nbytes in added for one in ((begin, nbytes), (end, -nbytes))]
        for number, end in ends.items():
            gone, nbytes = self.gone[number], int(self.nbytes[number])
            if end != gone:
                sign = 1 if end > gone else -1
                first, last = sorted((end, gone))
                changes += [(first, sign * nbytes), (last, -sign * nbytes)]  # position, bytes from there on
        changes.sort()
        positions = [position for position, _ in changes]
        sums = list(accumulate((nbytes for _, nbytes in changes), initial=0))
        if self.heights is None:
            found = np.flatnonzero(~self.is_free & np.append(self.is_free[1:], True))
            self.heights = sorted(zip(self.live[found].tolist(), found.tolist(), strict=True), reverse=True)
        tops = [position for position in tops if 0 <= position < len(self.live)]
        best = max(((int(self.live[one]) + sums[bisect_right(positions, one)], one) for one in tops), default=(0, 0))
        most = max(sums)
        for live, position in self.heights:
            if live + most <= best[0]:
                break
            now = live + sums[bisect_right(positions, position)]
            best = max(best, (now, position), key=itemgetter(0))
        return best

    def freed_at(self, position, ends, added=()):
        """Return how many bytes fewer are in use at a position with a change; its parameters as for `peak_with`."""
        more = sum(nbytes for begin, end, nbytes in added if begin <= position < end)
        return sum(
            int(self.nbytes[number]) * ((position < self.gone[number]) - (position < end))
            for number, end in ends.items() if self.born[number] <= position
        ) - more  # fmt: skip


def column_of(snapshot, key):
    """Return a column of blocks as an array, times on the clock of the first process."""
    offset = snapshot.get("offset_ns", 0) if key.endswith("_ns") else 0
    end = snapshot["duration_ns"] if "offset_ns" in snapshot else np.inf  # what another process has goes when it ends
    return offset + np.array([end if value is None else value for value in snapshot["blocks"][key]], float)
