"""What is in use, without a scope: numbers that are counted always, and a table of them for a person."""

from tensix._support.argument_errors import names_signature
from tensix.core import Device, format_size, get_allocator
from tensix.core.memory_reports import max_memory_allocated, memory_allocated, reset_peak_memory_stats
from tensix.memory.caching_allocator import caches_of
from tensix.memory.resident_memory import resident_nbytes

__all__ = ["max_memory_allocated", "memory_allocated", "memory_reserved", "memory_summary", "reset_peak_memory_stats"]


@names_signature
def memory_reserved(device: str | Device = "cpu") -> int:
    """Return how many bytes are in use, and kept for reuse by the allocator in use.

    Parameters
    ----------
    device : str or Device, optional
        Of which device type.

    Returns
    -------
    int
        `memory_allocated`, and what each `CachingAllocator` keeps that is the allocator in use or one upstream of it.

    Raises
    ------
    RuntimeError
        If no allocator is registered for the device type.

    Notes
    -----
    What is kept and has no pages takes up addresses only: `memory_summary` shows both. `CachingAllocator.trim` gives
    all of it back.

    Thread-safety: any thread may ask.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.ones(1000)
    >>> tensix.memory.memory_reserved() >= tensix.memory.memory_allocated() >= 4000
    True
    """
    return memory_allocated(device) + sum(cache.stats().cached for cache in caches_of(get_allocator(device)))


@names_signature
def memory_summary(device: str | Device = "cpu") -> str:
    """Return a table for a person: what is in use, its peak, what is kept for reuse, what the process takes.

    Parameters
    ----------
    device : str or Device, optional
        Of which device type.

    Returns
    -------
    str
        Lines of numbers and what they are. Those of the process are not there if the system does not tell them.

    Raises
    ------
    RuntimeError
        If no allocator is registered for the device type.

    Notes
    -----
    Thread-safety: any thread may ask; others may allocate between two of the numbers.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.ones(1000)
    >>> print(tensix.memory.memory_summary())  # doctest: +ELLIPSIS
    allocator in use      CachingAllocator(CPUAllocator(...
    allocated             ...
    peak allocated        ...
    """
    allocator = get_allocator(device)
    rows = [("allocator in use", repr(allocator))]
    rows += [("allocated", format_size(memory_allocated(device)))]
    rows += [("peak allocated", format_size(max_memory_allocated(device)))]
    for cache in caches_of(allocator):
        kept = cache.stats()
        requests = kept.hits + kept.misses
        rows += [
            ("kept for reuse", f"{format_size(kept.cached)}, at most {format_size(kept.max_cached)}"),
            ("  of it with pages", format_size(kept.resident)),
            ("allocations", f"{requests:,}, {kept.hits:,} of them ({kept.hit_rate:.0%}) from what was kept"),
        ]
    resident = resident_nbytes()
    if resident is not None:
        now, most = map(format_size, resident[:2])
        rows += [("process resident", now), ("  at its peak", most)]
    return "\n".join(f"{name:<20}  {text}" for name, text in rows)
