"""What a page is made of: a first screen, then sections, in one order for pages of every kind."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar

from headway.models.auditing.finding import Severity
from headway.models.tables.table import Table
from headway.records import dataclass


@dataclass(frozen=True)
class Section:
    """A section of a page.

    Parameters
    ----------
    name
        Its place in addresses of the page.
    heading
        What stands above it.
    """

    name: str
    heading: str


CHANGE = Section("what-if", "What would change it")
TRUST = Section("trust", "How sure is this?")
SYSTEM = Section("system", "The system")
METHOD = Section("method", "Method")
DATA = Section("data", "Data")

SECTIONS = (CHANGE, TRUST, SYSTEM, METHOD, DATA)
"""Sections below the first screen, in the order in which every page has them; the command that
made the page stands last."""


class Light(StrEnum):
    """How bad something is, in a word that stands beside its colour."""

    GOOD = "good"
    LOOK = "look closer"
    BAD = "problem"


LIGHTS = {Severity.ERROR: Light.BAD, Severity.WARNING: Light.LOOK, Severity.NOTE: None}
"""The light of a finding, by its severity."""


@dataclass(frozen=True)
class Sign:
    """A number of the first screen.

    Parameters
    ----------
    name, value
        What it is, and the number as text.
    light
        How bad it is; None for what is neither good nor bad.
    """

    name: str
    value: str
    light: Light | None = None


@dataclass(frozen=True)
class Headline:
    """What a page asks, in the words of who asks, and the answer in one sentence."""

    question: str
    answer: str


def judged(value: float, good: float, bad: float) -> Light:
    """The light of a number that had better be small.

    Parameters
    ----------
    value
        The number.
    good, bad
        Up to where it is good, and beyond where it is a problem.

    Examples
    --------
    >>> [judged(error, 0.05, 0.1).value for error in (0.008, 0.07, 1.32)]
    ['good', 'look closer', 'problem']
    """
    return Light.GOOD if value <= good else Light.LOOK if value <= bad else Light.BAD


@dataclass(frozen=True)
class Words:
    """A paragraph.

    Parameters
    ----------
    text
        Its text.
    is_note
        Whether it stands in small letters.
    """

    macro: ClassVar = "words"
    text: str
    is_note: bool = False


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    macro: ClassVar = "heading"
    text: str


@dataclass(frozen=True)
class Grid:
    """A table."""

    macro: ClassVar = "grid"
    table: Table


@dataclass(frozen=True)
class Drawn:
    """A figure with what stands below it."""

    macro: ClassVar = "drawn"
    figure: Any
    caption: str


@dataclass(frozen=True)
class Warned:
    """Sentences by severity, each with its light and its word."""

    macro: ClassVar = "warned"
    found: Sequence[tuple[Light | None, str, str]]


@dataclass(frozen=True)
class Formulas:
    """Equations.

    Parameters
    ----------
    equations
        Each with its lines.
    has_erlang
        Whether Erlang's C is in one of them.
    """

    macro: ClassVar = "formulas"
    equations: Sequence[Any]
    has_erlang: bool


@dataclass(frozen=True)
class Sliders:
    """A panel to try other values on; or why there is none."""

    macro: ClassVar = "what_if"
    panel: Any
    missing: str
    output: str
    has_stations: bool
    has_data: bool


@dataclass(frozen=True)
class Folded:
    """What opens when it is asked for."""

    macro: ClassVar = "folded"
    summary: str
    blocks: Sequence[Any]


@dataclass(frozen=True)
class Beside:
    """Two columns where there is room for them."""

    macro: ClassVar = "beside"
    left: Sequence[Any]
    right: Sequence[Any]


Block = Words | Heading | Grid | Drawn | Warned | Formulas | Sliders | Folded | Beside
"""Whatever stands in a section: each kind has a macro of its name in ``pieces.html``."""


@dataclass(frozen=True)
class Contents:
    """Everything that a page says.

    Parameters
    ----------
    subject
        What the page is about: a model, a test.
    headline
        Question and answer.
    signs
        The few numbers beside the chart.
    chart
        The figure of the first screen; None where there is nothing to draw.
    caption
        What stands below it.
    sections
        By name of the section: its blocks. Those without any are left out.
    command
        What was typed to get the page.
    panel
        What the page calculates, where it has sliders.
    """

    subject: str
    headline: Headline
    signs: Sequence[Sign]
    chart: Any
    caption: str
    sections: Mapping[str, Sequence[Block]]
    command: str
    panel: Any = None


def arranged(contents: Contents) -> list[tuple[Section, Sequence[Block]]]:
    """The sections of a page that have anything in them, in their order.

    Examples
    --------
    >>> asked, said = Headline("Why?", "So."), {"data": [Words("b")], "what-if": [Words("a")]}
    >>> page = Contents("x", asked, (), None, "", said, "")
    >>> [section.heading for section, _ in arranged(page)]
    ['What would change it', 'Data']
    """
    return [(s, contents.sections[s.name]) for s in SECTIONS if contents.sections.get(s.name)]
