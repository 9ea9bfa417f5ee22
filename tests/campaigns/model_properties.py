"""Properties that the answers of every model must have, whatever its parts: one function each.

Each function takes the text of a model file and reports violations. ``python -m
tests.campaigns.model_properties FIRST COUNT [NAME]`` tries the random models of so many seeds, on
the properties whose names start with NAME.

No constant or label names it.
"""

import re
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import tomli_w

from headway.errors import HeadwayError
from headway.models import parse_model
from headway.models.language.units import quantity
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.parts.keys import station_at
from headway.queueing.stations.base import Station
from tests.support.model_checks import slopes_agree
from tests.support.random_models import random_model

AGREE = 1e-7
"""Relative tolerance of two ways to the same number."""

SIMULATED = 0.9999
"""Confidence of the simulated intervals: some hundred are compared."""
UNSEEN = 1e-4
"""Share of time that a station may be idle without a simulation ever seeing it."""

Check = Callable[[str], Iterator[str]]

PARTS = ("throughput", "utilisation", "queue_length", "response_time")
_QNA = "(QNA)"
_SLOPES_EVERY, _SLOPES_AT = 10, 3  # seeds whose slopes `tests.support.model_checks` leaves out
_TIME = re.compile(r'"([0-9.]+) ms"')


@lru_cache(maxsize=4)  # every property of a model begins with this
def solved(text: str) -> Solution | None:
    """The solution; None if the model is refused."""
    try:
        return parse_model(text).solve()
    except HeadwayError:
        return None


def numbers(solution: Solution) -> dict[str, float]:
    """A solution's numbers for the system and each station."""
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
    """Reversing parameters, routes, classes (and stations, if arrivals are given) is harmless."""
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
    """At each station the mean number of jobs is throughput times response time."""
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
    """A further server never slows jobs where answers are exact and no station slows with jobs.

    At a station that slows with jobs, faster ones elsewhere make more jobs present at once.
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


def splitting_a_class(text: str) -> Iterator[str]:
    """Two equal classes in place of one, with half of its arrivals or its jobs, change no sum.

    Jobs of closed classes may be divided in any way, but approximations do not obey this, nor do
    two of them agree: one class uses QNA by default where two take flows as Poisson.
    """
    before, document = solved(text), tomllib.loads(text)
    if before is None or before.saturated.any():
        return
    for name, entry in document.get("classes", {}).items():
        halved = _halved(entry, document.get("parameters", {}))
        if not halved or "regions" in document or f"class {name}" in text or "becomes" in text:
            continue
        split = _with_copy(document, name)
        split["classes"] = {**document["classes"], name: halved[0], f"{name}2": halved[1]}
        after = solved(tomli_w.dumps(split))
        if after is None:
            if len(document["classes"]) > 1:  # some stations and arrivals are of one class only
                yield f"with class {name} in two it is refused"
        elif _QNA in before.approximation and _QNA not in after.approximation:
            continue
        elif "population" not in entry or not (before.approximation or after.approximation):
            yield from _differing(_visited(before), numbers(after), f"class {name} in two")
            yield from _differing(_of(before, name), _of(after, name), f"class {name} in two")


def _visited(solution: Solution) -> dict[str, float]:
    """Without mean visit times where no job comes, which are means over classes."""
    each = numbers(solution)
    empty = {n for n in solution.stations if not each.get(f"{n}.throughput", 1.0)}
    return {n: v for n, v in each.items() if n.removesuffix(".response_time") not in empty}


def _of(solution: Solution, name: str) -> dict[str, float]:
    return {"response time": float(np.asarray(solution[f"class {name}.response_time"]))}


def _halved(entry: dict, parameters: dict) -> tuple[dict, dict] | None:
    """Tables of the two halves of a class; None if it has fewer than two jobs."""
    if "arrival_rate" in entry:
        half = {**entry, "arrival_rate": _half(entry["arrival_rate"])}
        return half, half
    jobs = parameters.get(entry["population"], entry["population"])
    if not isinstance(jobs, int) or jobs < 2:
        return None
    few = jobs // 2
    return {**entry, "population": few}, {**entry, "population": jobs - few}


def _half(value: object) -> str | float:
    """Half of a number, of a number with its unit, or of a formula."""
    if isinstance(value, int | float):
        return value / 2
    number, _, unit = str(value).partition(" ")
    try:
        return f"{float(number) / 2!r} {unit}"
    except ValueError:
        return f"({value}) / 2"


def _with_copy(document: dict, name: str) -> dict:
    """The document with a copy of a class, at its stations and on its routes."""
    stations = {
        station: {
            key: {**value, f"{name}2": value[name]}
            if isinstance(value, dict) and name in value
            else value
            for key, value in entry.items()
        }
        for station, entry in document["stations"].items()
    }
    copied = {**document, "stations": stations}
    if "routes" in document:
        more = [{**r, "class": f"{name}2"} for r in document["routes"] if r.get("class") == name]
        copied["routes"] = document["routes"] + more
    return copied


def splitting_a_station(text: str) -> Iterator[str]:
    """A delay divided into two equal ones, each visited half as often, changes nothing else.

    In an exact open network, a queue next to an equal one works like a single one with all visits.
    """
    before, document = solved(text), tomllib.loads(text)
    if before is None or before.approximation or "regions" in document:
        return
    for name, entry in document["stations"].items():
        if "visits" not in entry or entry["kind"] not in ("Delay", "MM1"):
            continue
        visits = entry["visits"]
        shared = isinstance(visits, dict)
        half = {c: _half(v) for c, v in visits.items()} if shared else _half(visits)
        one = {**document["stations"], name: {**entry, "visits": half}}
        alone = before if entry["kind"] == "Delay" else solved(_with(document, one))
        after = solved(_with(document, {**one, f"{name}2": one[name]}))
        if alone is None or after is None:
            yield f"{name} in two is refused"
        elif entry["kind"] == "Delay":
            kept = {k: v for k, v in numbers(before).items() if not k.startswith(f"{name}.")}
            yield from _differing(kept, numbers(after), f"{name} in two")
        elif _is_open(document) and not after.approximation:
            kept = {k: v for k, v in numbers(alone).items() if k != "response_time"}
            yield from _differing(kept, numbers(after), f"{name} beside its equal")
        if after is not None:
            equal = {k: v for k, v in numbers(after).items() if k.startswith(f"{name}2.")}
            now = {k.replace(f"{name}.", f"{name}2.", 1): v for k, v in numbers(after).items()}
            yield from _differing(equal, now, f"{name} and its equal")


def _with(document: dict, stations: dict) -> str:
    return tomli_w.dumps({**document, "stations": stations})


def _is_open(document: dict) -> bool:
    classes = document.get("classes", {}).values()
    return not any("population" in entry for entry in (*classes, document["parameters"]))


def flow_balance(text: str) -> Iterator[str]:
    """At each station as many jobs arrive as routes and visits send there."""
    solution, document = solved(text), tomllib.loads(text)
    if solution is None or solution.saturated.any() or solution.model.graph.blocks:
        return
    stations, each = document["stations"], numbers(solution)
    if solution.model.graph.losing or not all(f"{n}.throughput" in each for n in stations):
        return
    if all("visits" in s and not isinstance(s["visits"], dict) for s in stations.values()):
        come = {n: each["throughput"] * _number(solution, stations[n]["visits"]) for n in stations}
    elif "routes" in document and document["routes"] and "visits" not in text:
        come = _by_routes(solution, document, each)
    else:
        return
    through = {name: each[f"{name}.throughput"] for name in come}
    yield from _differing(through, come, "flows")


def _by_routes(solution: Solution, document: dict, each: dict[str, float]) -> dict[str, float]:
    """Jobs that arrive at each station [1/s]; none if some classes have routes of their own."""
    said = {key for route in document["routes"] for key in route} | {
        key for entry in document.get("classes", {}).values() for key in entry
    }
    if said & {"class", "becomes", "parallel", "arrives", "reference"} or "reference" in document:
        return {}
    closed = "population" in document.get("parameters", {})
    if "arrivals" in document and ("classes" in document or closed):  # those are shares
        return {}
    come = dict.fromkeys(document["stations"], 0.0)
    leave = dict.fromkeys(document["stations"], 1.0)
    for route in document["routes"]:
        share = _number(solution, route.get("probability", 1.0))
        come[route["to"]] += share * each[f"{route['from']}.throughput"]
        leave[route["from"]] -= share
    first = next(iter(come))
    given = document.get("arrivals", {first: each["throughput"]})
    # otherwise a job begins again at the first station
    if any(share > AGREE for share in leave.values()):
        for name, rate in given.items():
            come[name] += _number(solution, rate)
    return come


def _number(solution: Solution, said: object) -> float:
    """The value of a number, with or without its unit, a parameter, another value, or a half."""
    if isinstance(said, dict):
        return _number(solution, said["rate"])
    if isinstance(said, int | float) or str(said)[0].isdigit():
        return quantity(said)
    name, _, factor = str(said).partition(" * ")
    return float(np.asarray(solution.values[name])) * float(factor or 1)


def derivatives(text: str) -> Iterator[str]:
    """Slopes are the differences of the solver."""
    try:
        model = parse_model(text)
        yield from slopes_agree(model, "")
    except HeadwayError:
        return


def simulated_utilisation(text: str) -> Iterator[str]:
    """Utilisations of an exact answer are inside the intervals of a simulation."""
    solution = solved(text)
    if solution is None or solution.approximation or solution.saturated.any():
        return
    try:
        simulation = parse_model(text).simulate(half_width=0.05, seed=1)
    except HeadwayError:  # what cannot be simulated is refused with a reason
        return
    for name in solution.stations:
        told = numbers(solution).get(f"{name}.utilisation")
        if told is None or f"{name}.utilisation" not in simulation.estimates:
            continue
        low, high = simulation[f"{name}.utilisation"].interval(SIMULATED)
        if not low - UNSEEN <= told <= high + UNSEEN:
            yield f"{name} is {told:.6g} busy, simulated {low:.6g} to {high:.6g}"


CHECKS = (
    renaming,
    order_in_the_file,
    units,
    littles_law,
    more_servers,
    splitting_a_class,
    splitting_a_station,
    flow_balance,
)


def findings(seed: int, checks: Sequence[Check] = CHECKS) -> list[str]:
    """Every property that a seed's model violates."""
    text, rows = random_model(seed).text, []
    more = (derivatives,) if checks is CHECKS and seed % _SLOPES_EVERY == _SLOPES_AT else ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for check in (*checks, *more):
            try:
                rows += [f"{seed} {check.__name__}: {what}" for what in check(text)]
            except Exception as error:
                rows.append(f"{seed} {check.__name__}: {type(error).__name__}: {str(error)[:150]}")
    return rows


def main() -> None:
    """Print the violations."""
    first, count = map(int, sys.argv[1:3])
    every = (*CHECKS, derivatives, simulated_utilisation)
    named = [c for c in every if c.__name__.startswith(sys.argv[3])] if sys.argv[3:] else CHECKS
    for seed in range(first, first + count):
        for row in findings(seed, named):
            print(row, flush=True)


if __name__ == "__main__":
    main()
