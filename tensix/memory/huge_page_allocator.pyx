"""Large blocks in huge pages, if wanted with all of them made at once."""
from tensix.core.cpu_allocator cimport CPUAllocator

__all__ = ["HugePageAllocator"]


cdef class HugePageAllocator(CPUAllocator):
    """Give blocks of a huge page and more regions of their own, with advice to back them by huge pages.

    Parameters
    ----------
    populate : bool, optional
        Make all pages of such a block at once, so that touching it later costs no faults.
    numa_node : int, 0 to 63, or None, optional
        The node that the pages of blocks of 64 KiB and more prefer.

    Notes
    -----
    A huge page is 2 MiB where a page is 4 KiB: one fault and one entry of the processor's table of pages in place of
    512. Where pages are larger it is larger too, up to 512 MiB. The system may not have any, which is no error. Large
    blocks begin at a huge page; smaller ones come from the C library's heap, which the advice never touches, aligned to
    64 bytes. Regions go back to the system when they are freed; put a `CachingAllocator` over it to keep them.

    Lifetime: blocks do not need the allocator; they may outlive it.

    Thread-safety: any number of threads may allocate and free at once.

    Examples
    --------
    >>> import tensix
    >>> from tensix.memory import HugePageAllocator
    >>> with tensix.use_allocator(HugePageAllocator(populate=True)):
    ...     x = tensix.empty(1000, 1000)
    >>> x.allocator, x.data_ptr() % 64
    (HugePageAllocator(populate=True), 0)
    """

    def __init__(self, populate=False, *, numa_node=None):
        super().__init__(huge_pages=True, numa_node=numa_node)
        self.populates = populate

    @property
    def populate(self):
        """Whether all pages of a large block are made at once."""
        return self.populates

    def __repr__(self):
        options = ["populate=True"] if self.populates else []
        options += [] if self.numa_node is None else [f"numa_node={self.numa_node}"]
        return f"{type(self).__name__}({', '.join(options)})"
