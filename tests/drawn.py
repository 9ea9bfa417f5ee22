"""Pictures of the documents, drawn by the commands that stand beside them.

``python -m tests.drawn`` draws every picture that README or a page of docs/ shows into
docs/pictures, and for dark pages into docs/pictures/dark; the build of the documentation does so
first, so that none is out of date. ``python -m tests.drawn NAME.svg`` draws only that one.
"""

import contextlib
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from tests import house
from tests.support.command import headway
from tests.support.fits import keep_fits
from tests.support.pages import write_files

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "pictures"
DARK = FOLDER / "dark"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_PICTURE = re.compile(r"!\[[^\]]+\]\([^)]*?pictures/([\w-]+\.svg)\)")
_DRAWS = r"(?:--plot|--svg)\s+(?:docs/pictures/)?([\w-]+\.svg)"
_COMMANDS = (
    re.compile(rf"`((?:headway|python -m tests\.house)\s[^`]*{_DRAWS})`"),
    re.compile(rf"^\$ (headway .*{_DRAWS})$", re.MULTILINE),
)
"""How a page states a command: in a sentence, or in a console block."""


def shown() -> dict[str, list[Path]]:
    """Pages that show each picture, by its file's name."""
    by_name: dict[str, list[Path]] = {}
    for page in PAGES:
        for name in _PICTURE.findall(page.read_text()):
            by_name.setdefault(name, []).append(page)
    return by_name


def commands() -> dict[str, list[str]]:
    """Words of the command that draws each picture, as a page that shows it states them."""
    pages = shown()
    by_name = {}
    for page in PAGES:
        text = page.read_text()
        for line, name in (found for stated in _COMMANDS for found in stated.findall(text)):
            if page in pages.get(name, ()):
                by_name[name] = shlex.split(line)
    return by_name


def draw(name: str, words: list[str], folder: Path, *looks: str) -> None:
    """Draw a picture into a folder, with options on its looks such as ``--dark``.

    A command may name files of the clone, and files that the page tells its reader to write.

    Raises
    ------
    RuntimeError
        Where its command fails, with what it says.
    """
    *given, _ = words
    if given[0] == "headway":
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
            Path("models").symlink_to(ROOT / "models")
            for page in shown().get(name, ()):
                write_files(page, Path(place))
            result = headway(*given[1:], folder / name, *looks)
        if result.code:
            msg = f"{' '.join(words)}: {result.err.strip()}"
            raise RuntimeError(msg)
    else:
        house.main([*given[3:], str(folder / name), *looks])


def main(*wanted: str) -> int:
    """Draw pictures, all if none is named, and name those that no command draws."""
    known = {name: words for name, words in commands().items() if name in (wanted or (name,))}
    DARK.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        keep_fits(patch)  # a picture for dark pages is of the same fit
        for name, words in known.items():
            draw(name, words, FOLDER)
            draw(name, words, DARK, "--dark")
    without = sorted(set(wanted or shown()) - known.keys())
    for name in without:
        print(f"{name}: no page that shows it states the command that draws it", file=sys.stderr)
    return bool(without)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
