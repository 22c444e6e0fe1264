"""The entry point by which Dask learns the sizes of tensors and storages.

`dask.sizeof` loads this module in every environment that has tensix. So it lies outside the package, and imports
tensix when a program hands a tensor to Dask, which has imported it by then.
"""

import sys


def register_sizes(sizeof):
    """Have Dask take the size of a tensor or storage from `sys.getsizeof`: a view counts what it refers to.

    Parameters
    ----------
    sizeof : dask.utils.Dispatch
        Where Dask registers functions for types.
    """

    @sizeof.register_lazy("tensix")
    def register():
        from tensix import Storage, Tensor  # noqa: PLC0415

        sizeof.register((Tensor, Storage), sys.getsizeof)
