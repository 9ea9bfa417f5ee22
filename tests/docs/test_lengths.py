"""No page of the documentation is longer than a reader takes in at once."""

import re
from pathlib import Path

import pytest

from tests.support.pages import DOCS

MOST = 1600
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\([^)\s]*\)")


def prose(path: Path) -> int:
    """Count the words outside code blocks and tables; a link counts as its text."""
    lines = FENCED.sub("", path.read_text(encoding="utf-8")).splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("|"))
    return len(LINK.sub("]", text).split())


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda p: str(p.relative_to(DOCS)))
def test_no_page_has_more_prose_than_1600_words(path: Path) -> None:
    assert prose(path) <= MOST


def test_blocks_and_tables_are_no_prose(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Two words\n\n| a | b |\n\n```text\nno\n```\n[here](there.md#at) too\n")

    assert prose(page) == 5
