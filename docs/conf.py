"""Sphinx configuration. Build with ``sphinx-build -W -b html docs docs/_build``; tensix must be importable."""

import sys
from pathlib import Path

from tensix import __version__

sys.path.append(str(Path(__file__).parent))  # floors.py and floors_picture.py

project = "tensix"
author = "the tensix maintainers"
version = release = __version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "floors_picture"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"tensix {release}"

default_role = "py:obj"  # a name in single backticks is a link where the name is documented
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
numpydoc_show_class_members = False  # autodoc shows them
add_module_names = False
