"""The reference of model files names everything that the code takes."""

import dataclasses
import re

import pytest

from headway.loggp import PLATFORMS, Convention
from headway.models.files.building.entries import FILE_KEYS
from headway.models.files.building.schema import (
    DerivedEntry,
    ModelEntry,
    OutputEntry,
    ParameterEntry,
    TriedEntry,
)
from headway.models.language.algorithms import ALGORITHMS
from headway.queueing.stations.listed.kinds import STATIONS, station_kind
from tests.support.pages import model_files

PAGE = model_files()


def row(first):
    """A row of the page's tables by its first cell."""
    match = re.search(rf"^\| ([^|]*`{re.escape(first)}`[^|]*) \|(.*)\|$", PAGE, re.MULTILINE)
    assert match, first
    return match[2]


def test_every_table_of_a_model_file_is_listed():
    places = re.findall(r"^\| `\[+(\w+)", PAGE, re.MULTILINE)
    scalars = {"name", "doc", "source", "assumptions", "reference"}

    assert set(ModelEntry._fields) == {*places, *scalars}
    assert all(f"`{key}`" in PAGE for key in scalars)


@pytest.mark.parametrize(
    ("place", "entry"),
    [
        ("[parameters] NAME", ParameterEntry),
        ("[outputs] NAME", OutputEntry),
        ("[[form.tried]]", TriedEntry),
        ("[form.derived] WORDS", DerivedEntry),
    ],
)
def test_every_key_of_an_entry_is_listed(place, entry):
    for field in entry._fields:
        assert f"`{field}`" in row(place), field


@pytest.mark.parametrize("kind", STATIONS)
def test_every_number_of_a_station_is_listed(kind):
    for field in dataclasses.fields(station_kind(kind)):
        assert f"`{FILE_KEYS.get(field.name, field.name)}`" in row(kind), field.name


@pytest.mark.parametrize("table", ALGORITHMS)
def test_every_number_of_an_algorithm_is_listed(table):
    algorithm = ALGORITHMS[table]

    for key in (*algorithm.lists, *algorithm.fields):
        assert f"`{key}`" in row(f"[{table}.NAME]"), key
    for part in algorithm.parts:
        assert f".{part}`" in PAGE, part


def test_every_platform_and_convention_is_listed():
    for name in (*PLATFORMS, *Convention):
        assert f"`{name}`" in PAGE, name
