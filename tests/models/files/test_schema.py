"""The JSON schema of model files: it accepts what the reader accepts, and knows every key."""

import copy
import json
import re
import tomllib
from random import Random

import jsonschema
import pytest
import tomli_w

from headway.errors import HeadwayError
from headway.models import parse_model, read_model
from headway.models.files.editors import SCHEMA_FILE, SCHEMA_LINE, json_schema
from headway.models.files.writing import document
from tests.support.command import headway
from tests.support.places import ROOT
from tests.support.random_models import random_model

CATALOGUE = ROOT / "models" / "catalogue"
MODELS = sorted(CATALOGUE.glob("*.toml"))
BLOCKS = [
    (page.name, tomllib.loads(block))
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for block in re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
]
PARTS = {"stations", "outputs", "caches", "parameters", "routes", "form"}
EXAMPLES = [(page, block) for page, block in BLOCKS if PARTS & block.keys()]
DRAWN, SPOILT = 100, 500

VALIDATOR = jsonschema.Draft7Validator(json_schema())


def wrong(table, validator=VALIDATOR):
    """What the schema has against a document."""
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(table)]


def refused(table):
    """What the reader has against a document; empty if nothing."""
    try:
        parse_model(tomli_w.dumps(table))
    except HeadwayError as error:
        return str(error)
    return ""


def test_the_file_that_ships_is_the_one_that_the_code_makes():
    """After a change of kinds or keys: headway kinds --schema > models/catalogue/FILE."""
    shipped = json.loads((CATALOGUE / SCHEMA_FILE).read_text())

    jsonschema.Draft7Validator.check_schema(shipped)
    assert shipped == json_schema()
    assert json.loads(headway("kinds", "--schema").out) == shipped


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_model_that_ships_names_the_schema_and_keeps_to_it(path):
    text = path.read_text()
    model = read_model(path)

    assert text.startswith(SCHEMA_LINE)
    assert (path.parent / SCHEMA_LINE.split()[1]).is_file()
    assert wrong(tomllib.loads(text)) == []
    assert wrong(document(model)) == []
    assert model.to_toml().startswith(SCHEMA_LINE)


@pytest.mark.parametrize(("page", "table"), EXAMPLES)
def test_every_example_of_the_documents_keeps_to_it(page, table):
    assert wrong({"name": "a piece", **table}) == [], page


def test_there_are_examples():
    assert len(EXAMPLES) > 30


def test_drawn_models_keep_to_it():
    for seed in range(DRAWN):
        table = tomllib.loads(random_model(seed).text)
        if not refused(table):
            assert wrong(table) == [], seed


EVERYTHING = """
name = "everything"
doc = "every section that a model file may have"
reference = "front"

[parameters]
arrival_rate = "5 op/s"
delay = { value = "1 ms", min = "0 ms", max = "1 s", ci95 = ["0.9 ms", ""], unit = "ms" }
cpu_time = { value = "2 ms", ci95 = ["1.9 ms", "2.1 ms"], doc = "CPU", source = "measured" }
double = { formula = "2 * cpu_time", unit = "ms" }

[links.lan]
platform = "now"
gap = { value = "9 us", doc = "slower" }

[links.wan]
convention = "netgauge"
latency = "20 us"
overhead = "3 us"
gap = "6 us"
gap_per_byte = "26 ns/B"

[pipelines.net]
stages = ["host", "wire"]
occupancy = ["5 us", "1 us"]
gap_per_byte = ["10 ns/B", "8 us/KiB"]
transfer = "64 KiB"
packet = "2 KiB"

[contention.read]
work = "1 ms"
latency = "10 us"
handler_time = "5 us"

[caches.buffer]
policy = "fifo"
size = 10
objects = 100

[stations.front]
kind = "Delay"
service_time = "delay + lan.latency"

[stations.cpu]
kind = "MM1"
service_time = "double"
discipline = "fcfs"

[stations.disks]
kind = "MMm"
service_time = "4 ms"
servers = 4

[stations.many]
kind = "LoadDependent"
rates = ["100 /s", "150 /s"]

[[routes]]
from = "front"
to = "cpu"

[[routes]]
from = "cpu"
to = "disks"
probability = 0.5

[[routes]]
from = "disks"
to = "many"

[arrivals]
front = { rate = "arrival_rate" }

[outputs]
inside = { formula = "throughput * response_time", better = "less" }
twice = "2 * net.total_time + read.cycle_time + buffer.hit_ratio + wan.latency"

[presets.slow]
doc = "slower"
cpu_time = "5 ms"
lan.latency = "50 us"

[tails]
99 = 1.1

[correlations]
"delay, cpu_time" = -0.3

[form]
family = "everything"
saturation = "1 / cpu_time"
equation = ["delay", "cpu_time"]

[[form.tried]]
load = "open"
free = ["delay", "cpu_time"]
order = 3

[form.start]
delay = "least_time / 2"

[form.least]
delay = "least_time / 9"

[form.most]
delay = "least_time"

[form.disclosed]
cpu_time = "processors"

[form.derived]
"busy time" = { formula = "cpu_time", unit = "ms" }
"""
CLASSED = """
name = "classed"
[classes.web]
arrival_rate = "5 /s"
arrives = "cpu"
[classes.batch]
population = 3
think_time = "1 s"
reference = "cpu"
[stations.cpu]
kind = "MM1"
discipline = "ps"
service_time = { web = "10 ms", batch = "20 ms" }
[stations.disk]
kind = "MM1"
service_time = "10 ms"
[[routes]]
from = "cpu"
to = "disk"
class = "web"
"""
POOLED = """
name = "pooled"
[parameters]
arrival_rate = "5 op/s"
[stations.cpu]
kind = "MM1"
service_time = "10 ms"
[stations.disk]
kind = "MM1K"
service_time = "10 ms"
capacity = 4
blocking = "after service"
[[routes]]
from = "cpu"
to = "disk"
[regions.pool]
stations = ["cpu"]
limit = 3
"""
FORKED = """
name = "forked"
[parameters]
arrival_rate = "5 op/s"
[stations.split]
kind = "Fork"
[stations.a]
kind = "MM1"
service_time = "10 ms"
[stations.b]
kind = "MM1"
service_time = "20 ms"
[stations.wait]
kind = "Join"
fork = "split"
needed = 1
[[routes]]
from = "split"
to = "a"
[[routes]]
from = "split"
to = "b"
[[routes]]
from = "a"
to = "wait"
[[routes]]
from = "b"
to = "wait"
"""
SOURCED = """
name = "sourced"
[stations.repair]
kind = "FiniteSource"
service_time = "1 s"
servers = 1
sources = 3
think_time = "5 s"
"""
SEVERAL = (
    """
name = "one"

[parameters.work]
value = "5 ms"
ci95 = ["4 ms", "6 ms"]

[stations.cpu]
kind = "MM1"
service_time = "work"

[measured]
arrival_rate = "90 op/s"

[draws]
sets = """
    + '"""'
    + """
work
0.0045
0.0055
"""
    + '"""'
    + """

[[alternatives]]
weight = 0.25

[alternatives.model]
name = "two"

[alternatives.model.stations.cpu]
kind = "MMm"
service_time = "8 ms"
servers = 2
"""
)
LAYERED = """
name = "layered"
[processors.cpu]
servers = 2
[tasks.users]
population = 3
[tasks.users.entries.visit]
calls = { page = 1 }
[tasks.web]
processor = "cpu"
[tasks.web.entries.page]
flow = ["look", "reply", "note"]
activities = { look = { demand = 0.1 }, note = { demand = 0.2 } }
"""
SCALED = """
name = "scaled"
[parameters]
servers = 2
[stations.cpu]
kind = "MMm"
service_time = "95 ms"
servers = "servers"
[autoscaler]
scales = "servers"
target = "70%"
minimum = 2
maximum = 12
"""
TEXTS = (EVERYTHING, CLASSED, POOLED, FORKED, SOURCED, SEVERAL, LAYERED, SCALED)
WHOLE = [tomllib.loads(text) for text in TEXTS]
NAMED = {"stations", "links", "pipelines", "contention", "caches", "classes", "regions"}
NAMED |= {"processors", "tasks"}
IN_TASKS = {"entries", "calls", "activities"}
FREE = {"parameters", "outputs", "arrivals", "presets", "correlations", "tails", "measured", *NAMED}
FREE_OF_FORM = {"start", "least", "most", "disclosed", "derived"}


def tables(table, path=()):
    """Every table of a document by its path, itself included."""
    yield path, table
    for key, entry in table.items():
        for place, one in enumerate(entry if isinstance(entry, list) else [entry]):
            if isinstance(one, dict):
                at = (*path, key, place) if isinstance(entry, list) else (*path, key)
                yield from tables(one, at)


def at(table, path):
    for key in path:
        table = table[key]
    return table


def has_fixed_keys(path):
    """Whether a table's keys are those of the language, rather than names of the model's."""
    if path[:1] == ("alternatives",):
        return has_fixed_keys(path[3:])
    if path[:1] in {("presets",), ("correlations",), ("tails",), ("measured",)} or path[-1:] == (
        "arrives",
    ):
        return False
    names = len(path) == 1 and path[0] in FREE
    names |= path[:1] == ("tasks",) and path[-1] in IN_TASKS
    return not names and not (path[:1] == ("form",) and path[-1] in FREE_OF_FORM)


MISSPELT = [
    (n, path)
    for n, table in enumerate(WHOLE)
    for path, _ in tables(table)
    if has_fixed_keys(path) and path[-1:] != ("service_time",)
]


def test_whole_models_are_read_and_keep_to_it():
    sections = {key for table in WHOLE for key in table}

    assert [refused(table) for table in WHOLE] == [""] * len(WHOLE)
    assert [wrong(table) for table in WHOLE] == [[]] * len(WHOLE)
    assert sections >= json_schema()["properties"].keys() - {"source", "assumptions"}


@pytest.mark.parametrize(("number", "path"), MISSPELT)
def test_a_misspelt_key_is_refused_by_both(number, path):
    table = copy.deepcopy(WHOLE[number])
    at(table, path)["misspelt"] = 1

    assert "misspelt" in refused(table)
    assert wrong(table)


def test_every_section_was_misspelt():
    sections = {path[0] for _, path in MISSPELT if path}

    assert sections == json_schema()["properties"].keys() - {
        *("name", "doc", "source", "assumptions", "reference"),
        *("presets", "correlations", "tails", "measured"),
    }


VALUES = (3, 0.5, -1.5, "1 ms", "", "cpu", True, [], ["1 ms"], [1, 2], {}, {"web": 1}, {"value": 2})


def spoilt(table, chance):
    """The document with one key renamed, left out, moved, or given another value."""
    table = copy.deepcopy(table)
    places = [(one, key) for _, one in tables(table) for key in one]
    one, key = chance.choice(places)
    way = chance.randrange(4)
    entry = one.pop(key) if way < 3 else one[key]
    other, name = chance.choice(places)
    if way == 0:
        one[name] = entry
    elif way == 2:
        other[key] = entry
    elif way == 3:
        one[key] = copy.deepcopy(chance.choice([*VALUES, other.get(name, 1)]))
    return table


def test_what_it_refuses_the_reader_refuses():
    """A file that can be read is never marked as wrong; of those spoilt both see many."""
    chance, rows = Random(18), []
    drawn = [tomllib.loads(random_model(seed).text) for seed in range(30)]
    for _ in range(SPOILT):
        table = spoilt(chance.choice([*WHOLE, *drawn]), chance)
        why, faults = refused(table), wrong(table)
        assert why or not faults, (faults, table)
        rows.append((bool(why), bool(faults)))

    assert rows.count((True, True)) > SPOILT / 4
    assert rows.count((False, False)) > SPOILT / 10


def test_what_a_station_cannot_take_is_refused_in_one_line():
    for kind, key, entry in (
        ("MMm", "servers", {"a": 1}),
        ("MMm", "servers", [1, 2]),
        ("MMm", "service_time", ["1 ms"]),
        ("MMm", "visits", [1]),
        ("MMm", "visits", {}),
        ("LoadDependent", "rates", "5 /s"),
        ("MG1", "scv", [1]),
    ):
        station = {"kind": kind, "service_time": "1 ms", "servers": 1, key: entry}
        keys = {"MMm": {"servers"}, "LoadDependent": {"rates"}, "MG1": {"scv"}}[kind]
        known = {"kind", "visits", *keys, *(() if kind == "LoadDependent" else ("service_time",))}
        by_name = {name: one for name, one in station.items() if name in known}
        table = {"name": "one", "parameters": {"arrival_rate": 1}, "stations": {"cpu": by_name}}

        assert f"[stations.cpu.{key}]: must be" in refused(table)
        assert wrong(table)
