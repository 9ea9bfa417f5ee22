"""Every number in a text goes through the shared words: no room formats digits on its own."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.numerals import data_size, four_digits, significant
from tests.house import nodes_of
from tests.support.places import ROOT

ROOMS = ("models", "cli", "loggp", "queueing", "src")
FEW_DIGITS = re.compile(r"(\.\d)?[eg]")
"""Formats with powers of ten, and without commas between thousands."""

OWN = {
    "src/headway/numerals.py": "the words themselves",
    "models/language/digits.py": "an error beside a number too large or too small for decimals",
    "models/language/formula.py": "a number to type into a formula, where commas separate",
    "models/auditing/contradictions.py": "a time whose digits are counted",
    "models/measured/cells.py": "both readings of a cell whose comma may be a decimal mark",
    "models/sweeping/reductions/beyond.py": "a limit that is read back",
    "models/published/tables.py": "cells beside printed ones",
    "models/plotting/typesetting.py": "numbers inside formulas",
}
"""Files with formats of their own, and why."""


def formats(path: Path) -> Iterator[str]:
    """Formats of numbers in a file's texts."""
    for node in nodes_of(path):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            parts = node.format_spec.values
            yield "".join(p.value if isinstance(p, ast.Constant) else "N" for p in parts)


FILES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def test_no_file_formats_numbers_on_its_own() -> None:
    names = {
        name
        for path in FILES
        if any(map(FEW_DIGITS.fullmatch, formats(path)))
        for name in [str(path.relative_to(ROOT))]
    }
    assert names == OWN.keys()


@pytest.mark.parametrize(
    ("number", "count", "text"),
    [
        (0.0, 2, "0"),
        (99.96, 3, "100"),
        (123.4, 2, "120"),
        (1.5e6, 3, "1,500,000"),
        (-20870.0, 3, "-20,900"),
        (2e-5, 3, "2e-05"),
        (3e12, 3, "3e+12"),
    ],
)
def test_numbers_of_a_thousand_and_more_are_written_in_full(
    number: float, count: int, text: str
) -> None:
    assert significant(number, count) == text


def test_sizes_and_counts_are_as_people_write_them() -> None:
    assert four_digits(30910.4) == "30,910"
    sizes = [0.0, 512.0, 1024.0, 1536.0, 65536.0, 3 * 2.0**20]
    assert [*map(data_size, sizes)] == ["0 B", "512 B", "1 KiB", "1536 B", "64 KiB", "3 MiB"]
