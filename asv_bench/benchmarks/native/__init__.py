"""What has to run in C to be measured at all, built at the first import against the tensix that is installed."""

from pathlib import Path

import numpy as np

import tensix

from .build import HERE, import_extension

# Cython reads the .pxd files of the installed tensix, so they are part of what the build depends on.
PACKAGE = Path(tensix.__file__).parent

DECLARATIONS = {"include_path": PACKAGE.parent, "depends": sorted(PACKAGE.rglob("*.pxd"))}
# Private headers lie in the package, beside the files that need them.
HEADERS = {"include_dirs": [str(PACKAGE.parent), tensix.get_include(), np.get_include()]}
loops = import_extension("loops", HERE / "loops.pyx", **HEADERS, **DECLARATIONS)
exchange_loops = import_extension("exchange_loops", HERE / "exchange_loops.pyx", **HEADERS, **DECLARATIONS)
dispatch_loops = import_extension("dispatch_loops", HERE / "dispatch_loops.pyx", **HEADERS, **DECLARATIONS)
