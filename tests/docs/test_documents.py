"""Every command and snippet in README and docs runs, and prints what the document shows."""

import doctest
import re
import shlex

import pytest

from tests.support.command import headway
from tests.support.pages import BLOCK, blocks, write_files
from tests.support.places import ROOT

DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "notebooks").glob("*.md")),
]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
DECIMAL = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?")
IN_FULL = 13
"""From so many digits on a number is printed in full; processors differ in its last ones."""
BUILT = {"house.svg"}  # by the build of the documents


def commands(path):
    """Each ``$ headway ...`` line with the output shown below it."""
    for block in blocks(path, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            yield line, shown


def names(path):
    return str(path.relative_to(ROOT))


def joins_a_cluster(path):
    """Whether tests/models/test_cluster.py runs a document's commands, as they need other
    machines."""
    return any("--cluster" in line for line, _ in commands(path))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder that looks like the clone's root, with files that documents tell to write."""
    for entry in ("models", "docs"):
        (tmp_path / entry).symlink_to(ROOT / entry)
    monkeypatch.chdir(tmp_path)
    return tmp_path


HERE = [path for path in DOCUMENTS if not joins_a_cluster(path)]


@pytest.mark.parametrize("path", HERE, ids=names)
@pytest.mark.usefixtures("fits_once")
def test_commands(path, place):
    write_files(path, place)
    for line, shown in commands(path):
        check(line, shown)


def check(line, shown):
    """Run what a document tells to type, and compare what it prints."""
    program, *arguments = shlex.split(line)
    if program != "headway":
        return
    result = headway(*arguments)
    assert result.code == (2 if shown.startswith("error: ") else 0), (line, result)
    printed = result.err if shown.startswith("error: ") else result.out
    assert as_shown(tidy(printed), tidy(shown)) == tidy(shown), line


LEFT_OUT = "..."
"""A line of a document for any number of lines that are left out there."""


def as_shown(printed, shown):
    """Printed lines, shortened where a document leaves some out."""
    if LEFT_OUT not in shown:
        return printed
    lines = [".*" if line == LEFT_OUT else re.escape(line) for line in shown]
    return shown if re.fullmatch("\n".join(lines), "\n".join(printed), re.DOTALL) else printed


def test_lines_that_are_left_out_may_be_any():
    printed = ["a", "b", "c", "d"]

    for shown in (["a", "...", "d"], ["...", "b", "..."], ["a", "b", "..."]):
        assert as_shown(printed, shown) == shown
    for shown in (["a", "...", "c"], ["...", "x", "..."], ["b", "..."], ["...", "d", "a"]):
        assert as_shown(printed, shown) == printed


def tidy(text):
    """Lines without spaces at their ends, and numbers in full to nine digits."""
    return [line.rstrip() for line in DECIMAL.sub(nine_digits, text.strip()).splitlines()]


def nine_digits(number):
    mantissa = number[0].partition("e")[0].replace(".", "").lstrip("0")
    return repr(float(f"{float(number[0]):.9g}")) if len(mantissa) >= IN_FULL else number[0]


def test_only_numbers_in_full_are_rounded():
    same, other = "2.8999999999999998e-06", "2.899999999999999e-06"

    assert tidy(f'"slope": {same},') == tidy(f'"slope": {other},') == ['"slope": 2.9e-06,']
    assert tidy("0.004200000000000001") == tidy("0.0042") == ["0.0042"]
    assert tidy("1500.0000000002, 1.5") == tidy("1500.0, 1.5") == ["1500.0, 1.5"]
    assert tidy("2.901 ms  ") == ["2.901 ms"]
    assert tidy("0.00420001000000001") != tidy("0.0042000100100001")


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
@pytest.mark.usefixtures("fits_once")
def test_python(path, place):
    """The Python of a document is one session, from top to bottom."""
    write_files(path, place)
    session = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for text in blocks(path, "pycon"):
        test = doctest.DocTestParser().get_doctest(text, session, path.name, str(path), 0)
        report = runner.run(test, clear_globs=False)
        assert report.failed == 0, text
        session = test.globs


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_no_code_is_left_unrun(path):
    kinds = {kind for kind, _ in BLOCK.findall(path.read_text())}

    assert kinds <= {"console", "pycon", "toml", "csv", "text"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_no_sentence_is_lost_as_a_comment(path):
    """MyST leaves out lines that begin with a per cent sign."""
    lines = BLOCK.sub("", path.read_text()).splitlines()

    assert [line for line in lines if line.lstrip().startswith("%")] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_relative_links(path):
    """Each link leads to a file that is there, and to a heading that is in it."""
    for target, heading in LINK.findall(BLOCK.sub("", path.read_text())):
        file = (path.parent / target).resolve() if target else path
        assert file.exists() or file.name in BUILT, target
        assert not heading or heading in anchors(file), f"{target}#{heading}"


@pytest.mark.parametrize("folder", ["how-to", "explanation", "reference"])
def test_each_page_is_in_the_list_and_in_the_tree_of_its_folder(folder):
    index = (ROOT / "docs" / folder / "index.md").read_text()
    trees = "\n".join(re.findall(r"^```\{toctree\}\n(.*?)^```", index, re.DOTALL | re.MULTILINE))
    listed = set(re.findall(r"\]\(([\w-]+)\.md[)#]", index))
    inside = set(re.findall(r"^(?:.*<)?([\w-]+)>?$", trees, re.MULTILINE))
    pages = {path.stem for path in (ROOT / "docs" / folder).glob("*.md")} - {"index"}

    assert pages <= listed
    assert pages <= inside


def anchors(path):
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def test_readme_names_both_set_up_commands():
    text = (ROOT / "README.md").read_text()

    assert "make demo" in text
    assert "make test" in text
    assert list(commands(ROOT / "README.md"))
    assert blocks(ROOT / "README.md", "pycon")


def test_the_tutorial_takes_ten_commands_at_most():
    assert 5 < len(list(commands(ROOT / "docs/tutorial.md"))) <= 10
