"""The extension modules and how Cython compiles them; everything else is in pyproject.toml."""

import os
import sys

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

# One line per module, floor by floor: a .pyx is Cython, a .py is plain Python with a .pxd beside it.
MODULES = [
    "tensix/core/device.pyx",
    "tensix/core/intrusive_target.pyx",
    "tensix/core/intrusive_ptr.pyx",
    "tensix/core/weak_intrusive_ptr.pyx",
    "tensix/core/births.pyx",
    "tensix/core/raw.pyx",
    "tensix/core/data_ptr.pyx",
    "tensix/core/allocator.pyx",
    "tensix/core/memory_reports.pyx",
    "tensix/core/cpu_allocator.pyx",
    "tensix/core/storage_impl.pyx",
    "tensix/core/memory_facts.pyx",
    "tensix/core/cow_context.pyx",
    "tensix/core/refcounted_deleter.pyx",
    "tensix/core/storage.pyx",
    "tensix/core/cow.pyx",
    "tensix/memory/caching_allocator.pyx",
    "tensix/memory/call_site.pyx",
    "tensix/memory/statistics_scope.pyx",
    "tensix/memory/recorder.pyx",
    "tensix/memory/profiler.pyx",
    "tensix/memory/adaptors.pyx",
    "tensix/memory/function_allocators.pyx",
    "tensix/memory/page_allocators.pyx",
    "tensix/memory/shared_memory_allocator.pyx",
    "tensix/tensors/dtype.py",
    "tensix/tensors/type_meta.py",
    "tensix/tensors/element_allocator.py",
    "tensix/tensors/typed_storage.py",
    "tensix/tensors/tensor_impl.py",
    "tensix/tensors/memory_format.py",
    "tensix/tensors/tensor_base.py",
    "tensix/dispatch/dispatch_key.py",
    "tensix/dispatch/local_state.pyx",
    "tensix/dispatch/argument_parser.py",
    "tensix/dispatch/kernel.py",
    "tensix/dispatch/operator_table.py",
    "tensix/dispatch/operator.py",
    "tensix/tensors/foreign_memory.pyx",
    "tensix/tensors/ndarray.py",
    "tensix/tensors/buffer.pyx",
    "tensix/tensors/dlpack.pyx",
    "tensix/tensors/dlpack_export.pyx",
    "tensix/tensors/pickling.py",
    "tensix/tensors/quiet_calls.pyx",
    "tensix/tensors/index_key.py",
    "tensix/tensors/view_methods.py",
    "tensix/tensors/operands.py",
    "tensix/tensors/comparison_methods.py",
    "tensix/tensors/operator_methods.py",
    "tensix/tensors/reduction_methods.py",
    "tensix/tensors/sparse_tensor_impl.py",
    "tensix/tensors/sparse_methods.py",
    "tensix/tensors/conversion_methods.py",
    "tensix/tensors/exchange_methods.py",
    "tensix/tensors/copying.py",
    "tensix/tensors/tensor.py",
    "tensix/tensors/indexing.py",
    "tensix/tensors/views.py",
    "tensix/tensors/reshaping.py",
    "tensix/tensors/splitting.py",
    "tensix/tensors/promotion.py",
    "tensix/functions/kernels/strided_kernel.pyx",
    "tensix/functions/kernels/empty.pyx",
    "tensix/functions/kernels/parallel.pyx",
    "tensix/functions/kernels/iterator.pyx",
    "tensix/functions/kernels/conversion.pyx",
    "tensix/functions/kernels/overlap.pyx",
    "tensix/functions/kernels/copy.pyx",
    "tensix/functions/kernels/numpy_memory.pyx",
    "tensix/functions/kernels/selection.pyx",
    "tensix/functions/kernels/indexing.pyx",
    "tensix/functions/kernels/amended_loops.pyx",
    "tensix/functions/kernels/ufunc.pyx",
    "tensix/functions/kernels/complex_parts.pyx",
    "tensix/functions/kernels/sparse_coo.pyx",
    "tensix/functions/kernels/random.pyx",
    "tensix/functions/kernels/meta.pyx",
    "tensix/functions/kernels/reduction.pyx",
    "tensix/functions/kernels/products.pyx",
    "tensix/functions/kernels/moments.pyx",
    "tensix/functions/kernels/searching.pyx",
    "tensix/functions/kernels/numpy_kernel.pyx",
    "tensix/functions/kernels/choosing.pyx",
    "tensix/functions/kernels/joining.pyx",
    "tensix/functions/kernels/ranges.pyx",
    "tensix/functions/nested_numbers.pyx",
    "tensix/functions/creation.pyx",
    "tensix/functions/creation_exchange.pyx",
    "tensix/functions/data_types.pyx",
    "tensix/functions/finding.pyx",
    "tensix/functions/statistical.pyx",
    "tensix/functions/searching.pyx",
    "tensix/functions/utility.pyx",
    "tensix/functions/elementwise.pyx",
    "tensix/functions/elementwise_arithmetic.pyx",
    "tensix/functions/elementwise_exponential.pyx",
    "tensix/functions/elementwise_trigonometric.pyx",
    "tensix/functions/elementwise_comparison.pyx",
    "tensix/functions/elementwise_logical.pyx",
    "tensix/functions/elementwise_rounding.pyx",
    "tensix/functions/elementwise_floating.pyx",
    "tensix/interop/file_map.pyx",
    "tensix/interop/tensor_bytes.pyx",
    "tensix/c_api.pyx",
]

# TENSIX_DEBUG=1 turns Cython's own checks and debug symbols back on, for whoever hunts a crash.
DEBUG = os.environ.get("TENSIX_DEBUG") == "1"
DIRECTIVES = {
    "language_level": 3,
    # Off: 5 ns less per call of a method, and a quarter less import. On, said there, for Python classes, whose
    # docstrings would begin with the signature, and for static methods, which pickle finds by their qualified names.
    "binding": False,
    "embedsignature": True,
    "infer_types": True,  # C integers stay C integers without a declaration each
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": True,
    "autotestdict": False,  # doctests are found by their docstrings; a second copy would run them twice
    "unraisable_tracebacks": False,  # True prints past sys.unraisablehook, and SystemExit would end the process
    "embedsignature.format": "clinic",  # what inspect.signature reads
    "auto_pickle": False,  # counts and addresses must never be pickled by accident
}
if sys.platform == "win32":
    COMPILE_ARGS = ["/O2", "/std:c11"]
else:
    COMPILE_ARGS = ["-O2", "-fno-strict-aliasing", "-Wno-unused-function", "-g" if DEBUG else "-g0"]
    # A product and a sum are rounded each, as NumPy does: where the processor has an instruction for both, as all ARM64
    # have, compilers would round once, and numbers would differ from machine to machine.
    COMPILE_ARGS += ["-ffp-contract=off"]
    # Errors for every compiler, because they are so for GCC 14 and later.
    COMPILE_ARGS += [f"-Werror={fault}" for fault in ("incompatible-pointer-types", "int-conversion")]
# Loops of our own over elements that the compiler can take many at once; GCC does so from -O3 on.
FURTHER_ARGS = {} if sys.platform == "win32" else {"tensix/functions/kernels/choosing.pyx": ["-O3"]}

extensions = [
    Extension(
        path.rpartition(".")[0].replace("/", "."),
        [path],
        include_dirs=["tensix/include", np.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=COMPILE_ARGS + FURTHER_ARGS.get(path, []) + os.environ.get("TENSIX_CFLAGS", "").split(),
        extra_link_args=os.environ.get("TENSIX_LDFLAGS", "").split(),
    )
    for path in MODULES
]

setup(
    ext_modules=cythonize(extensions, compiler_directives=DIRECTIVES, nthreads=os.cpu_count() or 1, annotate=DEBUG),
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
