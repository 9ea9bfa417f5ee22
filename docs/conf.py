"""Settings of the documentation: ``make docs`` builds it with warnings as errors."""

import headway

project = "headway"
author = "the headway developers"
copyright = "2026, the headway developers"  # noqa: A001
release = version = headway.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_click",
]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
html_theme = "alabaster"
html_theme_options = {
    "description": "analytic performance models",
    "fixed_sidebar": True,
    "page_width": "1100px",
}
html_title = "headway"

autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
myst_heading_anchors = 4
# No lexer knows CSV; the tests know these blocks by that name. Words of a Returns line, such as
# "shape (classes, points)", are taken for names of types; several classes have fields so called.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]
# Console blocks show tables that no lexer knows; they are checked by tests/test_documents.py.
highlight_options = {"default": {"stripall": False}}
