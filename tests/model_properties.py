"""What must hold of the answers of every model, whatever it is made of: a function a property.

Each takes the text of a model file and says what does not hold. ``python -m tests.model_properties
FIRST COUNT`` tries the random models of so many seeds.
"""

import re
import sys
import tomllib
import warnings
from collections.abc import Iterator

import numpy as np
import tomli_w

from headway.errors import HeadwayError
from headway.models import parse_model
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.parts.keys import station_at
from headway.queueing.stations.base import Station
from tests.random_models import random_model

AGREE = 1e-7
"""How well two ways to the same number have to agree, relative."""

PARTS = ("throughput", "utilisation", "queue_length", "response_time")
_TIME = re.compile(r'"([0-9.]+) ms"')


def solved(text: str) -> Solution | None:
    """The answer; None where the model is refused."""
    try:
        return parse_model(text).solve()
    except HeadwayError:
        return None


def numbers(solution: Solution) -> dict[str, float]:
    """What a solution says of the system and of each station."""
    names = ["throughput", "response_time"]
    names += [f"{station}.{part}" for station in solution.stations for part in PARTS]
    return {n: float(np.asarray(solution.values[n])) for n in names if n in solution.values}


def _differing(one: dict[str, float], other: dict[str, float], what: str) -> Iterator[str]:
    for name, value in one.items():
        if not np.isclose(value, other.get(name, np.nan), rtol=AGREE, atol=1e-12, equal_nan=True):
            yield f"{what}: {name} is {value}, then {other.get(name)}"


def renaming(text: str) -> Iterator[str]:
    """Other names, in another alphabetical order, change nothing."""
    before = solved(text)
    if before is None:
        return
    written = tomllib.loads(text)["stations"]
    names = {station: f"z{9 - k}" for k, station in enumerate(written)}
    names |= {f"{name}_fork": f"{other}_fork" for name, other in names.items()}
    renamed = text
    for name, other in names.items():
        renamed = re.sub(rf"\b{re.escape(name)}\b", other, renamed)
    after = solved(renamed)
    if after is None:
        yield "renamed it is refused"
        return
    expected = {
        ".".join([names.get(n.split(".")[0], n.split(".")[0]), *n.split(".")[1:]]): value
        for n, value in numbers(before).items()
    }
    yield from _differing(expected, numbers(after), "renamed")


def order_in_the_file(text: str) -> Iterator[str]:
    """Parameters, routes and classes the other way round; stations too, where arrivals are told."""
    before, document = solved(text), tomllib.loads(text)
    if before is None:
        return
    turned = dict(document)
    told = "arrivals" in document or any("visits" in s for s in document["stations"].values())
    for table in ("parameters", "classes", *(("stations",) if told else ())):
        if table in document:
            turned[table] = dict(reversed(document[table].items()))
    if "routes" in document:
        turned["routes"] = document["routes"][::-1]
    after = solved(tomli_w.dumps(turned))
    if after is None:
        yield "in another order it is refused"
        return
    yield from _differing(numbers(before), numbers(after), "in another order")


def units(text: str) -> Iterator[str]:
    """Times in seconds in place of milliseconds change nothing."""
    before = solved(text)
    if before is None:
        return
    after = solved(_TIME.sub(lambda m: f'"{float(m[1]) / 1000:.12g} s"', text))
    if after is None:
        yield "in seconds it is refused"
        return
    yield from _differing(numbers(before), numbers(after), "in seconds")


def littles_law(text: str) -> Iterator[str]:
    """At each station the number there is throughput times response time."""
    solution = solved(text)
    if solution is None or solution.saturated.any() or solution.model.graph.blocks:
        return
    each = numbers(solution)
    for name in solution.stations:
        parts = [each.get(f"{name}.{part}") for part in ("queue_length", *PARTS[::3])]
        if None in parts or not np.isfinite(parts).all():
            continue
        queue, rate, time = parts
        if not solution.model.graph.stations[name].loses and not np.isclose(
            queue, rate * time, rtol=AGREE, atol=1e-12
        ):
            yield f"{name} holds {queue}, but X R is {rate * time}"


def more_servers(text: str) -> Iterator[str]:
    """A server more never makes jobs slower where answers are exact and no station slows with jobs.

    To one that does, faster ones send more jobs at once.
    """
    before, document = solved(text), tomllib.loads(text)
    if before is None or before.approximation or before.model.graph.blocks:
        return
    stations = [station_at(name).of(before.values) for name in before.stations]
    if not all(station.hastens for station in stations if isinstance(station, Station)):
        return
    for name, entry in document["stations"].items():
        if entry["kind"] != "MMm" or not isinstance(entry.get("servers"), int):
            continue
        eased = {**document["stations"], name: {**entry, "servers": entry["servers"] + 1}}
        after = solved(tomli_w.dumps({**document, "stations": eased}))
        now, then = (float(one["response_time"]) for one in (before, after or before))
        if not after or after.approximation or then <= now * (1 + AGREE):
            continue
        yield f"with a server more at {name} it takes {then} in place of {now}"


CHECKS = (renaming, order_in_the_file, units, littles_law, more_servers)


def findings(seed: int) -> list[str]:
    """Every property of a seed's model that does not hold."""
    text, rows = random_model(seed).text, []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for check in CHECKS:
            try:
                rows += [f"{seed} {check.__name__}: {what}" for what in check(text)]
            except Exception as error:
                rows.append(f"{seed} {check.__name__}: {type(error).__name__}: {str(error)[:150]}")
    return rows


def main() -> None:
    """Print what does not hold."""
    first, count = map(int, sys.argv[1:3])
    for seed in range(first, first + count):
        for row in findings(seed):
            print(row, flush=True)


if __name__ == "__main__":
    main()
