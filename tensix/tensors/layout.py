"""Layouts: how a tensor keeps its elements.

Note [Sparse tensors have no storage]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A strided tensor is a view on a storage. A ``sparse_coo`` tensor has a shape, and instead of a storage two strided
tensors: the indices of its entries, one column each, and their values. So it has no strides, no address and no views.
Its dispatch key is another one, ``SparseCPU``, and only what is registered for that key runs; kernels that read
geometry never see such a tensor. What is asked of the handle itself, without the dispatcher, is refused there.
"""

__all__ = ["Layout", "sparse_coo", "strided"]


class Layout:
    """Name how a tensor keeps its elements; the layouts are ``tensix.strided`` and ``tensix.sparse_coo``.

    Examples
    --------
    >>> tensix.ones(2).layout
    tensix.strided
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"tensix.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # pickled as the module's variable


strided = Layout("strided")
sparse_coo = Layout("sparse_coo")
