"""Settings of the documentation: ``make docs`` builds it with warnings as errors."""

import gc
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from numpy.typing import ArrayLike
from pygments.lexers.shell import BashSessionLexer
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode
from sphinx.util.typing import stringify_annotation

import headway

# Pages are trees whose nodes know their parents, and there are many: they are looked through for
# rubbish less often than Python would.
gc.set_threshold(100_000, 20, 50)

project = "headway"
author = "the headway developers"
copyright = "2026, the headway developers"  # noqa: A001
release = version = headway.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}

html_theme = "furo"
html_title = "headway"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sphinx = False
html_domain_indices = False  # of modules, which are no concern of those who import names
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fa8", "color-brand-content": "#1f5fa8"},
    "dark_css_variables": {"color-brand-primary": "#7ab4f5", "color-brand-content": "#7ab4f5"},
}
highlight_language = "none"  # a block without a language is no Python
pygments_style = "default"
pygments_dark_style = "github-dark"

# What a reader copies is what he types: no prompts, and nothing that was printed.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
copybutton_copy_empty_lines = False
copybutton_line_continuation_character = "\\"

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
myst_heading_anchors = 4
default_role = "py:obj"
# No lexer knows CSV; the tests know these blocks by that name.
suppress_warnings = ["misc.highlighting_failure"]
# Console blocks show tables that no lexer knows; they are checked by tests/docs/test_documents.py.
highlight_options = {"default": {"stripall": False}}

FOREIGN = "dict, tuple, str, int, Enum, StrEnum, Exception, object"
EXAMPLE = re.compile(r"Example: (headway .*)")
OPTION = re.compile(r"(?<![\w`-])(--[a-z][a-z-]*)(?![^`]*``)")
ADDRESS = re.compile(r"(?<!`)\b[\w.-]+@[\w=+]+")
"""What would become a link to a mailbox: a file with a setting behind an @."""
ROOMS = ("headway.models", "headway.queueing", "headway.loggp")


ARRAY = re.compile(
    r"~?(?:numpy\.)?ndarray\[tuple\[~?(?:typing\.)?Any, \.\.\.\], "
    r"~?(?:numpy\.)?dtype\[~?(?:\w+\.)*(\w+)\]\]"
)
DOTTED = re.compile(r"(?<![\w.~])(?:\w+\.)+\w+")
SMART = stringify_annotation(ArrayLike, "smart")
ARRAY_LIKE = (SMART, SMART.replace("~typing.", "").replace("~", ""), re.sub(r"~|\w+\.", "", SMART))


class Terminal(BashSessionLexer):
    """Commands behind ``$`` and what they print: no line of an answer is taken for a prompt."""

    _ps1rgx = re.compile(r"^(\$ )(.*\n?)")
    _venv = re.compile(r"(?!)")  # no environment stands before a prompt here


class PublicNames(SphinxDirective):
    """``public-names:: ROOM``: what people import of a room, and nothing else that it holds.

    With ``:inherited:`` each class shows all that it can be asked, wherever that is defined.
    """

    required_arguments = 1
    option_spec = {"inherited": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Document the names in the room's ``__all__``, under the names they are imported by."""
        inherited = f"   :inherited-members: {FOREIGN}\n" if "inherited" in self.options else ""
        rst = f".. automodule:: {self.arguments[0]}\n   :members:\n{inherited}"
        return self.parse_text_to_nodes(f"```{{eval-rst}}\n{rst}```\n")


class Modules(SphinxDirective):
    """``modules:: ROOM``: every module of a room, with the first line of what it says of itself."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """List the modules in the order of their names."""
        room = importlib.import_module(self.arguments[0])
        names = sorted(m.name for m in pkgutil.walk_packages(room.__path__, f"{room.__name__}."))
        rst = "".join(f".. automodule:: {name}\n\n" for name in names)
        return self.parse_text_to_nodes(f"```{{eval-rst}}\n{rst}```\n")


class BothThemes(SphinxTransform):
    """Show each drawn picture on a light page, and as drawn for a dark one where that is dark."""

    default_priority = 10

    def apply(self, **_: Any) -> None:
        """Put the picture for dark pages beside each; the theme's style shows one of them."""
        for light in list(self.document.findall(nodes.image)):
            folder, _, name = light["uri"].rpartition("/")
            if folder.endswith("pictures"):
                dark = light.deepcopy()
                dark["uri"] = f"{folder}/dark/{name}"
                light["classes"].append("only-light")
                dark["classes"].append("only-dark")
                light.parent.insert(light.parent.index(light) + 1, dark)


class NoEmptyEnds(SphinxTransform):
    """Leave out empty lines at the end of blocks: doctest needs one, a reader none."""

    default_priority = 10

    def apply(self, **_: Any) -> None:
        """Cut each block behind its last line."""
        for block in self.document.findall(nodes.literal_block):
            text = block.astext()
            if text.endswith("\n"):
                block.children = [nodes.Text(text.rstrip("\n"))]
                block.rawsource = block.astext()


def keep_colons(_app: Sphinx, what: str, _n: str, _o: Any, _p: Any, lines: list[str]) -> None:
    """Keep a property's first sentence whole: words before a colon would become its type."""
    if what in ("property", "attribute", "data"):
        lines[:0] = ["..", ""]  # an empty comment: napoleon looks at the first line alone


def keep_returns(_app: Sphinx, _w: str, _n: str, obj: Any, _p: Any, lines: list[str]) -> None:
    """Put the type before what a Returns section says: napoleon takes its first line for one."""
    for start in range(len(lines) - 1):
        if lines[start] == "Returns" and set(lines[start + 1]) == {"-"}:
            rest = lines[start + 2 :]
            end = next((k for k, line in enumerate(rest) if not line), len(rest))
            given = aliased(stringify_annotation(inspect.signature(obj).return_annotation, "smart"))
            lines[start + 2 :] = [given, *(f"    {line}" for line in rest[:end]), *rest[end:]]
            return


def aliased(text: str) -> str:
    """Name types of arrays as NumPy does, where these aliases are written out."""
    for long in ARRAY_LIKE:
        text = text.replace(long, "ArrayLike")
    return ARRAY.sub(r"NDArray[\1]", text)


def short_fields(_app: Sphinx, _w: str, _n: str, _o: Any, _p: Any, lines: list[str]) -> None:
    """Name the types of a class's arguments without their modules, as those of functions."""
    for number, line in enumerate(lines):
        if line.startswith(":type "):
            lines[number] = DOTTED.sub(r"~\g<0>", aliased(line))


def short_types(app: Sphinx, domain: str, _type: str, content: Any) -> None:
    """Name the types of arguments and of properties by their aliases."""
    if domain != "py":
        return
    own = content.parent[0]
    types = app.env.current_document.autodoc_annotations.get(
        f"{own['module']}.{own['fullname']}", {}
    )
    types.update({name: aliased(text) for name, text in types.items()})
    for written in content.parent.findall(addnodes.desc_annotation):
        parts = (
            part["reftarget"] if isinstance(part, addnodes.pending_xref) else part.astext()
            for part in written.children
        )
        if (text := aliased(whole := "".join(parts))) != whole:
            written.clear()
            written += nodes.Text(text)


def name_module(_app: Sphinx, what: str, name: str, _o: Any, _p: Any, lines: list[str]) -> None:
    """Show a module by its name and the first line of what it says of itself."""
    if what == "module":
        lines[:] = [] if name in ROOMS else [f"``{name}``: {lines[0] if lines else ''}", ""]


def mark_options(_app: Sphinx, _context: Any, lines: list[str]) -> None:
    """Set options that help texts name as code: elsewhere two hyphens become a dash."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((".. ", ":")):
            line = ADDRESS.sub(r"``\g<0>``", line)
            lines[number] = OPTION.sub(r"``\1``", EXAMPLE.sub(r"Example: ``\1``", line))


def imported_from() -> dict[str, str]:
    """Find where people import each name from, by where it is defined."""
    homes = {}
    for room in map(importlib.import_module, ROOMS):
        for name in room.__all__:
            home = getattr(getattr(room, name), "__module__", "")
            homes[f"{home}.{name}"] = f"{room.__name__}.{name}"
    return homes


def draw_pictures(app: Sphinx) -> None:
    """Draw the pages' pictures by the commands that stand beside them."""
    command = [sys.executable, "-m", "tests.drawn"]
    done = subprocess.run(command, cwd=Path(app.srcdir).parent, check=False)  # noqa: S603
    if done.returncode:
        raise ExtensionError("a picture of the documentation is not drawn; see above")


SCREEN = """```{include} ../README.md
:start-after: "# headway"
:end-before: "## What sets headway apart"
:relative-docs: docs/
:relative-images:
```"""
MENU = """
```{toctree}
:hidden:

tutorial
how-to/index
explanation/index
reference/index
notebooks
```

```{toctree}
:caption: For developers
:hidden:

design
How answers are computed <design-answers>
dependencies
```
"""


def first_page(_app: Sphinx, name: str, source: list[str]) -> None:
    """Let the first page show README's first screen in place of a link to it, and add the menu.

    GitHub shows directives as they stand, so that index.md has none.
    """
    if name == "index":
        shown, count = re.subn(r"^\[README\].+$", SCREEN, source[0], flags=re.MULTILINE)
        if count != 1:
            raise ExtensionError("index.md: one line is to begin with a link to README")
        source[0] = shown + MENU


def setup(app: Sphinx) -> None:
    """Add what this documentation needs of its own."""
    app.connect("source-read", first_page)
    app.connect("builder-inited", draw_pictures)
    app.add_transform(BothThemes)
    app.add_transform(NoEmptyEnds)
    app.add_lexer("console", Terminal)
    app.add_directive("public-names", PublicNames)
    app.add_directive("modules", Modules)
    app.connect("autodoc-process-docstring", name_module)
    app.connect("autodoc-process-docstring", keep_colons, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", keep_returns, priority=400)
    app.connect("autodoc-process-docstring", short_fields, priority=600)  # after it
    app.connect("object-description-transform", short_types, priority=400)  # they come at 500
    for part in ("description", "options", "epilog"):
        app.connect(f"sphinx-click-process-{part}", mark_options)
    homes = imported_from()

    def lead_home(app: Sphinx, env: Any, node: Any, content: Any) -> nodes.reference | None:
        domain = env.get_domain("py")
        target = domain.objects.get(homes.get(node.get("reftarget"), ""))
        if node.get("refdomain") != "py" or not target:
            return None
        return make_refnode(app.builder, node["refdoc"], target.docname, target.node_id, content)

    app.connect("missing-reference", lead_home)
