"""Texts of tools spoilt in a deterministic way: cut, letters changed, lines dropped or repeated."""

import random
from collections.abc import Iterator
from pathlib import Path

from headway.errors import MeasurementError
from headway.models.measured.points import measurements_of
from headway.models.reading.loadtest import points_of

TOOLS = Path(__file__).parent / "data" / "tools"
LETTERS = '0123456789-.,:;eE{}[]<>/"\\ \t\nxNaµ\0'


def sample(*path: str) -> str:
    """The text of a file of tests/data/tools."""
    return TOOLS.joinpath(*path).read_text(encoding="utf-8")


def spoilt(text: str, count: int = 200, largest: int = 6000) -> Iterator[str]:
    """Variants of the first part of a text, the same each time."""
    chance = random.Random(13)
    text = text[:largest]
    for number in range(count):
        yield (_cut, _changed, _dropped, _repeated)[number % 4](text, chance)


def survives(text: str, count: int = 200) -> int:
    """How many spoilt variants are still read; any error but MeasurementError goes through."""
    return sum(refusal_of(variant) is None for variant in spoilt(text, count))


def refusal_of(text: str) -> str | None:
    """The one line by which a text is refused; None for one that is read."""
    try:
        measurements_of(points_of(text, "spoilt"), "spoilt")
    except MeasurementError as error:
        if "\n" not in str(error):
            return str(error)
        raise
    return None


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))]


def _changed(text: str, chance: random.Random) -> str:
    letters = list(text)
    for _ in range(chance.randint(1, 6)):
        letters[chance.randrange(len(letters))] = chance.choice(LETTERS)
    return "".join(letters)


def _dropped(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if chance.random() < 0.8)


def _repeated(text: str, chance: random.Random) -> str:
    first, second = sorted(chance.randrange(len(text)) for _ in range(2))
    return text[:second] + text[first:]
