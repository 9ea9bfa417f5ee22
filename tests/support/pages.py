"""The pages of docs whose figures the tests recompute."""

from tests.support.places import ROOT

DOCS = ROOT / "docs"


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
