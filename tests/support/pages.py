"""The pages of docs: figures that the tests recompute, and files that a reader writes."""

import re

from tests.support.places import ROOT

DOCS = ROOT / "docs"
FILE = re.compile(r"# (\S+\.\w+)\n")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def accuracy() -> str:
    """Return all pages on accuracy as one text."""
    pages = sorted((DOCS / "accuracy").glob("*.md"))
    return "".join(page.read_text(encoding="utf-8") for page in pages)


def model_files() -> str:
    """Return all pages on model files as one text."""
    pages = [DOCS / "model-files.md", *sorted((DOCS / "reference").glob("model-file-*.md"))]
    return "".join(page.read_text(encoding="utf-8") for page in pages)


def design() -> str:
    """Return both pages on the design as one text."""
    return "".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("design*.md")))


def blocks(path, language):
    return [text for kind, text in BLOCK.findall(path.read_text()) if kind == language]


def write_files(path, place):
    """Write the files that a document tells its reader to write.

    A block's first line names the file, as a comment; in a ``text`` block it is not part of it.
    A ``csv`` block without a name is ``curve.csv``.
    """
    for language in ("toml", "csv", "text"):
        for block in blocks(path, language):
            named = FILE.match(block)
            if named:
                (place / named[1]).write_text(block[named.end() :] if language == "text" else block)
            elif language == "csv":
                (place / "curve.csv").write_text(block)
