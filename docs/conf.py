"""The site: ``tools/build_site`` makes it with Sphinx and MyST from these pages and the docstrings."""

import re
from pathlib import Path, PurePosixPath

import ocl

ROOT = Path(__file__).resolve().parents[1]

project = "TapeCL"
author = "the TapeCL developers"
copyright = "the TapeCL developers, under the MIT licence"
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
html_static_path = ["_static"]
html_css_files = ["site.css"]

# Pages of the root that the site shows too.
_ROOT_PAGES = {"contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)([^)#\s]+)(#[^)\s]*)?\)")


def _follow_links(app, name, source):
    """Takes the text of a page of the root, and leads links to such pages to the site's.

    A link to a folder of the sources becomes plain text, since the site has no page of it. A link to a file
    of the sources stays: Sphinx offers the file for download.
    """
    page = Path("docs", name)
    if name in _ROOT_PAGES:
        page = Path(_ROOT_PAGES[name])
        source[0] = (ROOT / page).read_text()

    def followed(link):
        text, target, anchor = link[1], link[2], link[3] or ""
        path = (ROOT / page).parent.joinpath(target).resolve()
        if path.is_dir():
            return text
        for shown, file in _ROOT_PAGES.items():
            if path == ROOT / file:
                path = ROOT / "docs" / f"{shown}.md"
        up = [".."] * len(Path(name).parent.parts)
        relative = path.relative_to(ROOT / "docs") if path.is_relative_to(ROOT / "docs") else None
        where = [*up, relative] if relative else [*up, "..", path.relative_to(ROOT)]
        return f"[{text}]({PurePosixPath(*where)}{anchor})"

    source[0] = _LINK.sub(followed, source[0])


_SIGNATURE = re.compile(r"(\d+\. )?(\w+\(.*\)(?: -> .*)?)$")
_ENUMERATOR = re.compile(r" +\w+$")  # in pybind11's list of an enumeration's members
_CODE = re.compile(r"(``.+?``|`[^`]*`)")


def _escape(text):
    """Plain text, in which ``*``, ``|`` and a final ``_`` of a name mark nothing."""
    return re.sub(r"(?<=\w)_(?!\w)|[*|]", r"\\\g<0>", text)


def _quote_code(app, kind, name, value, options, lines):
    """Docstrings are plain text: signatures of overloads become code, and nothing else is markup."""
    if lines[:1] == dict.__doc__.splitlines()[:1]:  # of an attribute without a docstring
        lines.clear()
    for number, line in enumerate(lines):
        if found := _SIGNATURE.match(line):
            lines[number] = f"{found[1] or ''}``{found[2]}``"
        elif _ENUMERATOR.match(line) or not line.startswith((" ", ":", "..")):
            parts = _CODE.split(line)
            lines[number] = "".join(part if part.startswith("`") else _escape(part) for part in parts)


_CELL = re.compile(r"<t[dh]\b.*?</t[dh]>", re.DOTALL)
_WORD = re.compile(r'(?<=<span class="pre">)[^<]+')


def _let_code_break(app, page, template, context, doctree):
    """Lets a long name in a table's cell break after its dots and underscores, so that tables fit."""

    def broken(cell):
        return _WORD.sub(lambda word: re.sub(r"(?<=\w[._(,=/])(?=\w)", "<wbr>", word[0]), cell[0])

    if "body" in context:
        context["body"] = _CELL.sub(broken, context["body"])


def setup(app):
    app.connect("source-read", _follow_links)
    app.connect("html-page-context", _let_code_break)
    app.connect("autodoc-process-docstring", _quote_code)
