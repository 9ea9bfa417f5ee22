"""Where the data that ship with headway are from, and under which licence, in one table.

``python -m tests.licences`` writes the table into docs/reference/licences.md, from the README of
each folder: a paragraph of its own with ``Source: ...`` and ``Licence: ...``.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = ROOT / "models" / "data"
PAGE = ROOT / "docs" / "reference" / "licences.md"
_STATED = re.compile(r"^Source: (.+?)\.\nLicence: (.+?)\.\n\n", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"^\| folder \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)


def stated(folder: Path) -> tuple[str, str]:
    """Source and licence of a folder, as its README states them.

    Raises
    ------
    ValueError
        If it states none.
    """
    readme = folder / "README.md"
    found = _STATED.search(readme.read_text(encoding="utf-8")) if readme.is_file() else None
    if found is None:
        msg = f"{readme}: add a paragraph with Source: ... and Licence: ..., a line each"
        raise ValueError(msg)
    source, licence = (" ".join(text.split()) for text in found.groups())
    return source, licence


def table() -> str:
    """The table of all folders, in Markdown."""
    folders = sorted(path for path in DATA.iterdir() if path.is_dir())
    rows = [
        f"| `{folder.name}` | {' | '.join(stated(folder))} |"
        for folder in folders
        if folder.name != "__pycache__"
    ]
    return "\n".join(["| folder | source | licence |", "|---|---|---|", *rows])


def written(page: str) -> str:
    """A page with the table of today."""
    return _TABLE.sub(lambda _: table(), page, count=1)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
