"""Write into documents what their commands print now: ``python -m tests.redocument PAGE...``.

Read the difference before you commit it: a document says what its author means, and a command
may be wrong.
"""

import difflib
import os
import shlex
import sys
import tempfile
from pathlib import Path

from tests.docs.test_documents import LEFT_OUT, ROOT, as_shown, commands, tidy
from tests.support.command import headway
from tests.support.pages import write_files


def rewritten(path: Path) -> str:
    """The text of a document with the answers of its commands, in the folder of a reader."""
    text = path.read_text()
    write_files(path, Path.cwd())
    for line, shown in commands(path):
        program, *arguments = shlex.split(line)
        if program != "headway":
            continue
        result = headway(*arguments)
        printed = result.err if result.code else result.out
        if as_shown(tidy(printed), tidy(shown)) != tidy(shown):
            end = "\n\n" if shown.endswith("\n\n") else "\n"
            kept = "\n".join(shortened(shown.strip().splitlines(), printed.strip().splitlines()))
            text = text.replace(f"$ {line}\n{shown}", f"$ {line}\n{kept}{end}")
    return text


def shortened(shown: list[str], printed: list[str]) -> list[str]:
    """What is printed now, without what the document left out of what was printed before.

    Each part that the document shows goes on from the line most like its first one to that
    most like its last.

    Examples
    --------
    >>> shortened(["a 1", "...", "c 1", "d 1"], ["a 2", "b 2", "c 2", "cc 2", "d 2", "e 2"])
    ['a 2', '...', 'c 2', 'cc 2', 'd 2']
    """
    if LEFT_OUT not in shown:
        return printed
    kept: list[str] = []
    parts = "\n".join(shown).split(LEFT_OUT)
    place = 0
    for number, part in enumerate(parts):
        lines = part.strip("\n").splitlines()
        kept += [LEFT_OUT] if number else []
        if lines:
            first = place + nearest(lines[0], printed[place:])
            last = first + (nearest(lines[-1], printed[first:]) if len(lines) > 1 else 0)
            kept += printed[first : last + 1]
            place = last + 1
    return kept


def nearest(line: str, others: list[str]) -> int:
    """Where the first of the lines most like one stands."""
    ratios = [difflib.SequenceMatcher(None, line, other).ratio() for other in others]
    return ratios.index(max(ratios))


def main(pages: list[str]) -> None:
    """Rewrite each page that is named."""
    for page in [Path(name).resolve() for name in pages]:
        with tempfile.TemporaryDirectory() as folder:
            for entry in ("models", "docs"):
                (Path(folder) / entry).symlink_to(ROOT / entry)
            os.chdir(folder)
            text = rewritten(page)
        page.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
