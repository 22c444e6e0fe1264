"""What has to run in C to be measured at all, built at the first import against the tensix that is installed."""

from pathlib import Path

import tensix

from .build import HERE, import_extension

# Cython reads the .pxd files of the installed tensix, so they are part of what the build depends on.
PACKAGE = Path(tensix.__file__).parent

loops = import_extension("loops", HERE / "loops.pyx", include_path=PACKAGE.parent, depends=PACKAGE.rglob("*.pxd"))
