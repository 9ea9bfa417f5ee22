"""Every command and snippet in README and docs runs, and prints what the document shows."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.command import headway

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(path, language):
    return [text for kind, text in BLOCK.findall(path.read_text()) if kind == language]


def commands(path):
    """Each ``$ headway ...`` line with the output shown below it."""
    for block in blocks(path, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            yield line, shown


def names(path):
    return str(path.relative_to(ROOT))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder that looks like the clone's root, with files that documents tell to write."""
    for entry in ("models", "docs"):
        (tmp_path / entry).symlink_to(ROOT / entry)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_commands(path, place):
    for text in blocks(path, "toml"):
        named = re.match(r"# (\S+\.toml)\n", text)
        if named:
            (place / named[1]).write_text(text)
    for text in blocks(path, "csv"):
        (place / "curve.csv").write_text(text)
    for line, shown in commands(path):
        program, *arguments = shlex.split(line)
        if program != "headway":
            continue
        result = headway(*arguments)
        assert result.code == (2 if shown.startswith("error: ") else 0), (line, result)
        printed = result.err if shown.startswith("error: ") else result.out
        assert tidy(printed) == tidy(shown), line


def tidy(text):
    return [line.rstrip() for line in text.strip().splitlines()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_python(path, place):
    for text in blocks(path, "pycon"):
        test = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
        report = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
        assert report.failed == 0, text


def test_readme_names_both_set_up_commands():
    text = (ROOT / "README.md").read_text()

    assert "make demo" in text
    assert "make test" in text
    assert list(commands(ROOT / "README.md"))
    assert blocks(ROOT / "README.md", "pycon")
