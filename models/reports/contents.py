"""The contents of a page: a first screen, then sections, in one order for all kinds of page."""

import re
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
        Its anchor in the page's address.
    heading
        Its heading.
    """

    name: str
    heading: str


CHANGE = Section("what-if", "What would change it")
TRUST = Section("trust", "How sure is this?")
SYSTEM = Section("system", "The system")
METHOD = Section("method", "Method")
DATA = Section("data", "Data")

SECTIONS = (CHANGE, TRUST, SYSTEM, METHOD, DATA)
"""Sections below the first screen, in the order of every page; the command that made the page comes
last."""


class Light(StrEnum):
    """How bad something is, in a word that is shown beside its colour."""

    GOOD = "good"
    LOOK = "look closer"
    BAD = "problem"


LIGHTS = {Severity.ERROR: Light.BAD, Severity.WARNING: Light.LOOK, Severity.NOTE: None}
"""The light of a finding, by its severity."""


@dataclass(frozen=True)
class Sign:
    """A number on the first screen.

    Parameters
    ----------
    name, value
        Its name, and the number as text.
    light
        How bad the number is; None if it is neither good nor bad.
    """

    name: str
    value: str
    light: Light | None = None


@dataclass(frozen=True)
class Headline:
    """The question that a page answers, in the user's words, and the answer in one sentence."""

    question: str
    answer: str


def judged(value: float, good: float, bad: float) -> Light:
    """The light of a number of which less is better.

    Parameters
    ----------
    value
        The number.
    good, bad
        The largest good value, and the value beyond which it is a problem.

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
        Whether it is set in small type.
    """

    macro: ClassVar = "words"
    text: str
    is_note: bool = False


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    macro: ClassVar = "heading"
    text: str


@dataclass(frozen=True)
class Grid:
    """A table."""

    macro: ClassVar = "grid"
    table: Table


@dataclass(frozen=True)
class Drawn:
    """A figure with its caption."""

    macro: ClassVar = "drawn"
    figure: Any
    caption: str


@dataclass(frozen=True)
class Warned:
    """Sentences of several severities, each with its light and the word for it."""

    macro: ClassVar = "warned"
    found: Sequence[tuple[Light | None, str, str]]


@dataclass(frozen=True)
class Formulas:
    """Equations.

    Parameters
    ----------
    equations
        Equations, each with the lines that it is broken into.
    has_erlang
        Whether one of them contains Erlang's C.
    """

    macro: ClassVar = "formulas"
    equations: Sequence[Any]
    has_erlang: bool


@dataclass(frozen=True)
class Sliders:
    """A panel for trying other values; or why there is none."""

    macro: ClassVar = "what_if"
    panel: Any
    missing: str
    output: str
    has_stations: bool
    has_data: bool


@dataclass(frozen=True)
class Folded:
    """Content that is folded until the reader opens it."""

    macro: ClassVar = "folded"
    summary: str
    blocks: Sequence[Any]


@dataclass(frozen=True)
class Beside:
    """Two columns, where the page is wide enough."""

    macro: ClassVar = "beside"
    left: Sequence[Any]
    right: Sequence[Any]


Block = Words | Heading | Grid | Drawn | Warned | Formulas | Sliders | Folded | Beside
"""What a section may contain: each kind has a macro of its name in ``pieces.html``."""


@dataclass(frozen=True)
class Contents:
    """All that a page shows.

    Parameters
    ----------
    subject
        What the page is about: a model, or a test.
    headline
        The question and its answer.
    signs
        The few numbers beside the chart.
    chart
        The figure of the first screen; None if there is nothing to draw.
    caption
        The caption of the figure.
    sections
        The blocks of each section, by name; sections without any are left out.
    command
        The command that made the page.
    panel
        The panel, if the page has sliders.
    """

    subject: str
    headline: Headline
    signs: Sequence[Sign]
    chart: Any
    caption: str
    sections: Mapping[str, Sequence[Block]]
    command: str
    panel: Any = None


def worth_showing(contents: Contents) -> list[Sign]:
    """The signs that say more than the answer: with a light, a bare count, or not said before.

    Examples
    --------
    >>> asked = Headline("Why?", "Up to 5 op/s, where cpu fills first.")
    >>> signs = (Sign("first", "cpu"), Sign("at", "5 op/s", Light.GOOD), Sign("next", "disk"))
    >>> page = Contents("x", asked, signs, None, "", {}, "")
    >>> [sign.name for sign in worth_showing(page)]
    ['at', 'next']
    """
    said = contents.headline.answer
    return [
        sign
        for sign in contents.signs
        if sign.light or sign.value.isdigit() or not _is_said(sign.value, said)
    ]


def _is_said(value: str, text: str) -> bool:
    """Whether a text has a value, as words of their own."""
    return re.search(rf"(?i)(?<!\w){re.escape(value)}(?!\w)", text) is not None


def arranged(contents: Contents) -> list[tuple[Section, Sequence[Block]]]:
    """The sections of a page that have contents, in order.

    Examples
    --------
    >>> asked, said = Headline("Why?", "So."), {"data": [Words("b")], "what-if": [Words("a")]}
    >>> page = Contents("x", asked, (), None, "", said, "")
    >>> [section.heading for section, _ in arranged(page)]
    ['What would change it', 'Data']
    """
    return [(s, contents.sections[s.name]) for s in SECTIONS if contents.sections.get(s.name)]
