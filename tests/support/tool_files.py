"""Samples of what tools wrote: their texts, their points, and the same spoilt in a fixed way."""

import random
from collections.abc import Iterator

import pytest

from headway.errors import MeasurementError
from headway.models.measured.points import Point, measurements_of
from headway.models.measured.reader import Reader
from headway.models.reading.loadtest import points_of
from headway.models.reading.recognise import recognised
from tests.support.places import DATA

TOOLS = DATA / "tools"
LETTERS = '0123456789-.,:;%eE{}[]<>/"\\ \t\nxNaµ\0'


def sample(*path: str) -> str:
    """The text of a file of tests/data/tools; a letter a byte where it is none."""
    file = TOOLS.joinpath(*path)
    content = file.read_bytes()
    return content.decode("latin-1") if content[:1] == b"\0" else file.read_text(encoding="utf-8")


def samples(*tools: str) -> list[str]:
    """Files of some tools, or of all: what stands beside a licence."""
    folders = [TOOLS / tool for tool in tools] if tools else [TOOLS]
    items = sorted(path for folder in folders for path in folder.glob("**/*.*") if path.is_file())
    names = [path.relative_to(TOOLS).as_posix() for path in items]
    return [name for name in names if "/" in name and "LICENSE" not in name]


def points(*path: str) -> list[Point]:
    """The points of a file of tests/data/tools."""
    return points_of(sample(*path), str(path[-1]))


def only(*path: str) -> Point:
    """The one point of such a file."""
    (point,) = points(*path)
    return point


def while_sending(requests) -> tuple[float, float]:
    """The rate of good requests answered until the last was sent, and that time.

    Parameters
    ----------
    requests
        Start, time and success of each.
    """
    starts = [start for start, _, _ in requests]
    answered = sum(good and start + time <= max(starts) for start, time, good in requests)
    return answered / (max(starts) - min(starts)), max(starts) - min(starts)


def shown(values):
    """As a mean of what stands there, to floating-point rounding."""
    return pytest.approx(values, rel=1e-9, abs=1e-12)


def refused(text: str, message: str, name: str = "run") -> None:
    """Assert that a text is refused in one line that a pattern is found in."""
    with pytest.raises(MeasurementError, match=message) as result:
        points_of(text, name)
    assert "\n" not in str(result.value)
    assert name in str(result.value)


def kind(text: str) -> str:
    """Whose a text is."""
    return recognised(text)[0].kind


def spoilt(text: str, count: int = 200, largest: int | None = 6000) -> Iterator[str]:
    """Variants of the first part of a text, the same each time."""
    chance = random.Random(13)
    text = text[:largest]
    for number in range(count):
        yield _WAYS[number % len(_WAYS)](text, chance)


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


def outcome(reader: Reader, text: str, name: str) -> str:
    """What a reader makes of a text, whether it recognises it or not."""
    reader.recognises(text)
    try:
        points = reader.points(text, name) if reader.points else ()
        return f"{name}: {len(points)} points, {len(reader.read(text, name))}"
    except MeasurementError as error:
        return str(error)


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))]


def _changed(text: str, chance: random.Random) -> str:
    letters = list(text)
    for _ in range(chance.randint(1, 8)):
        letters[chance.randrange(len(letters))] = chance.choice(LETTERS)
    return "".join(letters)


def _dropped(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if chance.random() < 0.8)


def _repeated(text: str, chance: random.Random) -> str:
    first, second = sorted(chance.randrange(len(text)) for _ in range(2))
    return text[:second] + text[first:]


def _without_a_line(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return "".join(lines)


def _doubled(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    place = chance.randrange(len(lines))
    return "".join([*lines[:place], *lines[place : place + 1] * 2, *lines[place + 1 :]])


def _swapped(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    one, other = chance.randrange(len(words)), chance.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


_WAYS = (_cut, _changed, _dropped, _repeated, _without_a_line, _doubled, _swapped)
