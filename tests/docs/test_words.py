"""One word a thing: public names use the words of the design, and none that it rules out."""

import ast
import re
from functools import cache

import pytest

from tests.house import parsed
from tests.support.places import ROOT

ROOMS = ("queueing", "loggp", "models")
AMERICAN = re.compile(
    r".+i[z](e|es|ed|er|ing|ation)|.+yz(e|ed|ing)|(cent|met|fib)er|(col|behavi|fav|neighb|lab)or"
)
NOT_AMERICAN = {"size", "sizes", "sized", "sizing", "linearizer"}


def table():
    """Rows of the design's words: the words, and those that must not stand for them."""
    text = (ROOT / "docs" / "design.md").read_text().split("## Words")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(row[0].split(", "), [word for word in row[3].split(", ") if word]) for row in cells]


def words_of(name):
    """Words of a name, each in the singular: SharedStations is "shared station"."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return " ".join(word.lower().removesuffix("s") for word in words)


def declared(body):
    """Names that functions, classes and constants give, with parameters and fields of classes."""
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name
            if isinstance(node, ast.ClassDef):
                yield from declared(node.body)
            else:
                yield from (part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg))


@cache
def public_names(room):
    """Every public name of a room, with the file that it stands in."""
    items = set()
    for path in sorted((ROOT / room).rglob("*.py")):
        if "published" in path.parts:  # documents keep their own words
            continue
        names = [path.stem, *declared(parsed(path).body)]
        place = str(path.relative_to(ROOT))
        items |= {(place, name) for name in names if not name.startswith("_")}
    return items


def holding(word, room):
    """Public names of a room that hold a word."""
    wanted = f" {words_of(word)} "
    return [f"{place}: {n}" for place, n in public_names(room) if wanted in f" {words_of(n)} "]


def test_names_are_cut_into_words():
    assert words_of("SharedStations") == "shared station"
    assert words_of("MM1K_queue_length") == "mm k queue length"
    assert words_of("LogGP") == "log gp"


def test_every_name_is_walked():
    names = {name for _, name in public_names("queueing")}

    assert {"erlang_b", "offered_load", "SharedStation", "service_times", "network"} < names
    assert not {"_steady", "self._order"} & names


@pytest.mark.parametrize(("words", "others"), table(), ids=lambda cell: cell[0] if cell else "")
def test_the_public_names_use_the_words_of_the_design(words, others):
    for word in words:
        assert any(holding(word, room) for room in ROOMS), word
    kept = {word for row, _ in table() for word in row}  # those have a meaning in LogGP
    for word in others:
        for room in ROOMS:
            if room != "loggp" or word not in kept:
                assert holding(word, room) == [], word


@pytest.mark.parametrize("room", ROOMS)
def test_the_public_names_are_in_british_spelling(room):
    names = {
        (place, word)
        for place, name in public_names(room)
        for word in re.findall(r"[a-z]+", re.sub(r"([A-Z]+)", r"_\1", name).lower())
        if AMERICAN.fullmatch(word) and word not in NOT_AMERICAN
    }

    assert names == set()
