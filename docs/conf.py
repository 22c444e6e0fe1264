"""Sphinx configuration. Build with ``sphinx-build -W -b html docs docs/_build``; tensix must be importable."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from docutils.nodes import Element
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

import tensix
from tensix import __version__

sys.path.append(str(Path(__file__).parent))  # floors.py and floors_picture.py

project = "tensix"
author = copyright = "the tensix maintainers"
version = release = __version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "floors_picture"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"tensix {release}"
html_static_path = ["_static"]
html_css_files = ["front.css"]

default_role = "py:obj"  # a name in single backticks is a link where the name is documented
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
numpydoc_show_class_members = False  # autodoc shows them
add_module_names = False


class Functions(SphinxDirective):
    """Describe every function that a module exports, and what they return, under the names that they have in tensix."""

    required_arguments = 1

    def run(self):
        """Return what `autofunction` makes of them."""
        module = import_module(self.arguments[0])
        package = module.__name__ if module.__name__.count(".") == 1 else "tensix"
        names = [name for name in module.__all__ if callable(getattr(module, name))]
        if package != "tensix":  # those of the main namespace are described there
            names = [name for name in names if getattr(tensix, name, None) is not getattr(module, name)]
        described = Element()
        text = []
        for name in names:
            if inspect.isroutine(getattr(module, name)):
                text.append(f".. autofunction:: {package}.{name}")
            else:  # a named tuple: the function that returns it explains its fields
                text += [f".. autoclass:: {package}.{name}", "   :no-members:", ""]
        lines = StringList(text, source=self.get_source_info()[0])
        self.state.nested_parse(lines, self.content_offset, described)
        return described.children


def make_gallery(app, exception):
    """Write the pages to which gallery.rst links, by running the programs."""
    if exception is None and app.builder.name == "html":
        folder, examples = Path(app.outdir, "gallery"), Path(__file__).parents[1] / "examples"
        folder.mkdir(exist_ok=True)
        for page in re.findall(r"<gallery/(\w+)\.html>", Path(__file__).with_name("gallery.rst").read_text("utf-8")):
            command = [sys.executable, "-m", "tensix", "memory", "-q", "-o", f"{page}.html", examples / f"{page}.py"]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def setup(app):
    """Add the directive, and the pages of the gallery."""
    app.add_directive("functions", Functions)
    app.connect("build-finished", make_gallery)
