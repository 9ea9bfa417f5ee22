"""The JSON schema of model files, by which editors complete and check TOML.

Taplo, Even Better TOML and Tombi find it by the first line of a file, and use draft 7.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from headway.lazy import loaded
from headway.models.files.building.forks import FORK, FORK_KEYS, JOIN, JOIN_KEYS
from headway.models.files.building.keys import algorithm_keys, station_keys, summary
from headway.models.files.building.links import link_keys
from headway.models.files.building.schema import CLASS, MODEL
from headway.models.files.building.shapes import Json, KeyTable, TableKey, TextSchema, keyed
from headway.models.files.building.sources import KIND, SOURCE_KEYS
from headway.models.language.algorithms import ALGORITHMS, Algorithm
from headway.queueing.disciplines.table import DISCIPLINES
from headway.queueing.stations.listed.kinds import STATIONS, WRITTEN, station_kind

SCHEMA_FILE = "model.schema.json"
"""Name of the schema file in the folder of a model file."""

SCHEMA_LINE = f"#:schema ./{SCHEMA_FILE}\n\n"
"""The first line of a model file; Tombi needs the empty line after it."""

_DRAFT = "http://json-schema.org/draft-07/schema#"


def json_schema(kinds: Iterable[str] = STATIONS, disciplines: Iterable[str] = DISCIPLINES) -> Json:
    """The JSON schema of model files, which accepts every file that can be read.

    What no schema can say is left to the reader: whether names are known, formulas make sense, and
    numbers are possible.

    Parameters
    ----------
    kinds
        Names of the kinds of station that a file may use; by default headway's own.
    disciplines
        Names of their disciplines; by default headway's own.

    Examples
    --------
    >>> json_schema()["properties"]["name"]["description"]
    "The model's name; that of the file by default."
    >>> "MM1" in json_schema()["definitions"]["station"]["allOf"][0]["properties"]["kind"]["enum"]
    True
    """
    parts = {table: _algorithm(algorithm) for table, algorithm in ALGORITHMS.items()}
    definitions = {
        "station": _stations(kinds, tuple(disciplines)),
        "link": keyed(link_keys()),
        "class": keyed(CLASS),
        **parts,
    }
    words = {"title": "headway model", "description": "A performance model, as headway reads it."}
    return {"$schema": _DRAFT, **words, **MODEL.described(), "definitions": definitions}


def _stations(kinds: Iterable[str], disciplines: tuple[str, ...]) -> Json:
    classes = {name: station_kind(name) for name in kinds}
    tables = {name: station_keys(kind, disciplines) for name, kind in classes.items()}
    docs = {name: summary(kind) for name, kind in classes.items()}
    tables |= {KIND: SOURCE_KEYS, FORK: FORK_KEYS, JOIN: JOIN_KEYS}
    docs |= {
        name: f"{written.title}." if written.title else summary(loaded(f"{written.module}:{name}"))
        for name, written in WRITTEN.items()
    }
    word = TableKey(
        TextSchema(tuple(tables)), "The kind of station, which decides its numbers.", needed=True
    )
    return _by_kind("kind", word, tables, docs)


def _algorithm(algorithm: Algorithm) -> Json:
    if not algorithm.kinds:
        return keyed(algorithm_keys(algorithm, algorithm.kind()))
    kinds = {word: algorithm.kind(word) for word, _ in algorithm.kinds}
    tables = {word: algorithm_keys(algorithm, kind) for word, kind in kinds.items()}
    docs = {word: summary(kind) for word, kind in kinds.items()}
    return _by_kind(algorithm.word, TableKey(TextSchema(tuple(tables)), "Its kind."), tables, docs)


def _by_kind(
    name: str, word: TableKey, tables: Mapping[str, KeyTable], docs: Mapping[str, str]
) -> Json:
    """A table whose keys depend on one of its words.

    First come the keys of all kinds together, which editors use for completion; then those of each
    kind.
    """
    described = {kind: keyed(keys) for kind, keys in tables.items()}
    every = keyed({name: word})
    every["properties"][name]["x-taplo"] = {"docs": {"enumValues": [docs[kind] for kind in tables]}}
    every["properties"] |= _together([one["properties"] for one in described.values()])
    cases = [_case(name, kind, one) for kind, one in described.items()]
    return {"type": "object", "additionalProperties": True, "allOf": [every, *cases]}


def _case(name: str, kind: str, own: Json) -> Json:
    """The keys of a table of one kind."""
    known = {**own, "properties": {name: {}, **own["properties"]}}
    return {"if": {"properties": {name: {"enum": [kind]}}, "required": [name]}, "then": known}


def _together(tables: Iterable[Mapping[str, Json]]) -> dict[str, Json]:
    """All keys of several tables, with the description and form that most of them have."""
    by_key: dict[str, list[Json]] = {}
    for table in tables:
        for key, one in table.items():
            by_key.setdefault(key, []).append(one)
    return {key: _usual(each) for key, each in by_key.items()}


def _usual(each: list[Json]) -> Json:
    """A key as several tables have it: the usual description, and its form if all agree."""
    usual = Counter(one["description"] for one in each).most_common(1)[0][0]
    forms = [{k: v for k, v in one.items() if k != "description"} for one in each]
    return {"description": usual, **(forms[0] if all(form == forms[0] for form in forms) else {})}
