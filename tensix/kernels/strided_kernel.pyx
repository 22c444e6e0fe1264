"""The options `layout` and `pin_memory` of factories.

Factories declare them as PyTorch's do. All of ours make strided tensors in memory that is not pinned, so there is one
thing to ask for: that is checked here, and kernels are not told of it.
"""
from tensix.dispatch.kernel cimport PythonKernel

from tensix.tensors.layout import Layout, strided


cdef class StridedKernel(PythonKernel):
    """Run a Python callable that makes strided tensors."""

    cdef object call(self, tuple args, dict kwargs):
        return PythonKernel.call(self, args, strided_options(kwargs))


cdef dict strided_options(dict options):
    """Return options without layout and pin_memory."""
    if not options or "layout" not in options and "pin_memory" not in options:
        return options
    options = options.copy()
    check_strided(options.pop("layout", None), options.pop("pin_memory", None))
    return options


cdef int check_strided(object layout, object pin_memory) except -1:
    """Check that nothing else is asked for."""
    if layout is not None and not isinstance(layout, Layout):
        raise TypeError(f"a layout is tensix.strided or None here, found {type(layout).__name__}.")
    if layout is not None and layout is not strided:
        raise ValueError(
            f"new tensors are tensix.strided, found layout={layout}. "
            "Make a sparse one with sparse_coo_tensor() or to_sparse()."
        )
    if pin_memory is not None and pin_memory is not False:
        raise ValueError(
            f"pin_memory must be False or None, found {pin_memory!r}: tensix pins no memory. Leave it out, or use an "
            "allocator that pins its blocks."
        )
    return 0
