"""Write into documents what their commands print now: ``python -m tests.redocument PAGE...``.

Read the difference before you commit it: a document says what its author means, and a command
may be wrong.
"""

import os
import shlex
import sys
import tempfile
from pathlib import Path

from tests.docs.test_documents import ROOT, as_shown, commands, tidy
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
            text = text.replace(f"$ {line}\n{shown}", f"$ {line}\n{printed.strip()}{end}")
    return text


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
