"""A part of the campaign that measures what blocking and regions miss; the words say so."""

import re

import pytest

from headway.queueing.blocking.measured import (
    BEHIND,
    CLOSED,
    DECOMPOSED,
    DELAYED,
    EQUIVALENT,
    OPEN,
    decomposed_note,
    delayed_note,
    equivalent_note,
    poisson_note,
)
from headway.queueing.blocking.solve_blocking import BlockingMethod as Way
from tests.campaigns.blocking_errors import CASES, measured
from tests.support.cases import mostly_slow
from tests.support.pages import accuracy

NAMES = list(CASES)


def figures(name):
    """What the words say of a case: largest errors of throughput and response time [%]."""
    way, load = CASES[name][2], OPEN if name.endswith(OPEN) else CLOSED
    if way is not Way.CHAIN:
        return (DECOMPOSED if way is Way.DECOMPOSITION else EQUIVALENT)[load]
    return (0.0, BEHIND) if "behind" in name else DELAYED[load]


def rows():
    """The table of docs/accuracy.md: numbers of each case."""
    text = accuracy().split("## Blocking and regions")[1]
    matches = re.findall(r"^\| (.*(?:open|closed)) \|(.*)\|$", text.split("\n## ")[0], re.MULTILINE)
    return {name: [float(x) for x in re.findall(r"\d[\d.]*", rest)] for name, rest in matches}


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_slow(NAMES, 2))
def test_errors_are_within_what_is_said(name):
    most, table = figures(name), rows()[name]
    for seed in range(NAMES.index(name), 2 * len(NAMES), len(NAMES)):
        case, missed = measured(seed)
        assert case == name
        for error, words, worst in zip(missed or (), most, (table[3], table[6]), strict=False):
            assert 100 * error <= worst + 0.05  # printed to a tenth
            assert worst <= words


def test_what_is_said_was_met():
    """Each figure is the largest of the table's cases that it speaks of."""
    table = rows()
    assert set(table) == set(CASES)
    for words in {figures(name) for name in NAMES}:
        about = [table[name] for name in NAMES if figures(name) == words]
        assert words == (max(row[3] for row in about), max(row[6] for row in about))


def test_words():
    rate, time = DECOMPOSED[CLOSED]
    assert decomposed_note(closed=True) == (
        "networks that block are solved approximately, by decomposition; largest error measured: "
        f"throughput {rate:g}%, response time {time:g}%"
    )
    assert f"response time {EQUIVALENT[OPEN][1]:g}%" in equivalent_note(closed=False)
    assert f"{DELAYED[OPEN][1]:g}%" in delayed_note(closed=False)
    assert poisson_note(["a", "b"]).startswith("arrivals at a, b are assumed Poisson; largest")
