"""The site: ``tools/build_site`` makes it with Sphinx and MyST from these pages and the docstrings."""

import re

import ocl

project = "TapeCL"
author = "the TapeCL developers"
version = release = ocl.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
# Links to sources, as ../nn/module.h, lead into a clone: test_documentation.py checks them.
suppress_warnings = ["myst.xref_missing"]

autodoc_member_order = "groupwise"
autodoc_default_options = {"members": True}
autodoc_typehints = "none"  # signatures of C++ functions have their types in their docstrings
napoleon_google_docstring = True

html_theme = "furo"
html_title = f"TapeCL {release}"

_SIGNATURE = re.compile(r"(\d+\. )?(\w+\(.*\)(?: -> .*)?)$")
_CODE = re.compile(r"(``.+?``|`[^`]*`)")


def _escape(text):
    """Plain text, in which ``*``, ``|`` and a final ``_`` of a name mark nothing."""
    return re.sub(r"(?<=\w)_(?!\w)|[*|]", r"\\\g<0>", text)


def _quote_code(app, kind, name, value, options, lines):
    """Docstrings are plain text: signatures of overloads become code, and nothing else is markup."""
    for number, line in enumerate(lines):
        if found := _SIGNATURE.match(line):
            lines[number] = f"{found[1] or ''}``{found[2]}``"
        elif not line.startswith((" ", ":", "..")):
            parts = _CODE.split(line)
            lines[number] = "".join(part if part.startswith("`") else _escape(part) for part in parts)


def setup(app):
    app.connect("autodoc-process-docstring", _quote_code)
