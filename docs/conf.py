"""Sphinx configuration. Build with ``sphinx-build -W -b html docs docs/_build``; tensix must be importable."""

from tensix import __version__

project = "tensix"
author = "the tensix maintainers"
version = release = __version__

extensions = ["sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"tensix {release}"

default_role = "py:obj"  # a name in single backticks is a link where the name is documented
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
numpydoc_show_class_members = False  # autodoc shows them
add_module_names = False
