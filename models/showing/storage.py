"""Storage that feeds accelerators, described: stalls, bandwidth, and how many it can feed."""

from collections.abc import Iterator
from math import inf
from typing import Any

from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.signatures.storage import FedSystem, MeasuredStorage
from headway.models.tables.description import Description, Records, Row, field, interval
from headway.models.tables.table import Column, Table
from headway.numerals import digits, four_digits

_TIME, _RATE = unit("ms"), unit("GB/s")
_SYSTEM = ("name", "compute_time", "feeds_at_least", "feeds_at_most", "rises")
"""Fields of a system; the others are those of its loads."""


def describe(storage: MeasuredStorage) -> Description:
    """One row per number of accelerators, in SI; cells that nothing determines are empty."""
    each = [(system, load) for system in storage.systems for load in system.loads]
    records = Records(
        (
            field("name", (system.name for system, _ in each)),
            field("accelerators", (load.accelerators for _, load in each), bare=True),
            field("runs", (load.runs for _, load in each), bare=True),
            field("utilisation", (load.utilisation for _, load in each)),
            field("stall", (load.stall for _, load in each), unit("s")),
            interval(
                "stalls", (load.stalls for _, load in each), ("stall_low", "stall_high"), unit("s")
            ),
            field("throughput", (load.throughput for _, load in each), unit("/s")),
            field("read_rate", (load.bandwidth for _, load in each), unit("B/s")),
            field("compute_time", (system.compute for system, _ in each), unit("s")),
            field("feeds_at_least", (system.least for system, _ in each), bare=True),
            field("feeds_at_most", (_finite(system.most) for system, _ in each), bare=True),
            field("rises", (system.rises for system, _ in each)),
        )
    )
    return Description(
        records=lambda: records,
        scale=lambda: Scale(),
        tables=lambda _: list(_tables(storage)),
        document=lambda rows: _document(storage, rows),
    )


def _finite(most: float) -> int | None:
    return None if most == inf else int(most)


def _document(storage: MeasuredStorage, rows: list[Row]) -> dict[str, Any]:
    systems: dict[str, Row] = {}
    for row in rows:
        system = systems.setdefault(row["name"], {key: row[key] for key in _SYSTEM} | {"loads": []})
        system["loads"].append({key: row[key] for key in row if key not in _SYSTEM})
    return {
        "source": storage.source,
        "utilisation_asked": storage.asked,
        "systems": list(systems.values()),
    }


def _tables(storage: MeasuredStorage) -> Iterator[Table]:
    """One table per workload; notes on all of them are below the last."""
    works = sorted({system.work for system in storage.systems})
    for work in works:
        systems = [system for system in storage.systems if system.work == work]
        tops = [system.loads[-1] for system in systems]
        yield Table(
            f"{storage.source}: {work}" if work == works[0] else work,
            (
                Column("system", tuple(_words(system) for system in systems)),
                Column("N", tuple(_numbers(system) for system in systems)),
                Column("AU [%]", tuple(f"{100 * top.utilisation:.1f}" for top in tops)),
                Column("stall", tuple(top.stall for top in tops), _TIME),
                Column("read", tuple(top.bandwidth for top in tops), _RATE),
                Column("feeds", tuple(_feeds(system) for system in systems)),
            ),
            tuple(_notes(storage)) if work == works[-1] else (),
        )


def _words(system: FedSystem) -> str:
    hosts = system.name.rpartition(", ")[2]
    return f"{system.system}, {hosts}" if system.system else hosts


def _numbers(system: FedSystem) -> str:
    return " ".join(digits(load.accelerators) for load in system.loads)


def _feeds(system: FedSystem) -> str:
    """The fewest and the most accelerators that it can feed, with a mark if these contradict."""
    mark = "*" if system.rises else ""
    if system.most == inf:
        return f"{system.least} or more{mark}"
    return f"{system.least} to {int(system.most)}{mark}"


def _notes(storage: MeasuredStorage) -> Iterator[str]:
    share = f"{four_digits(100 * storage.asked)}%"
    yield (
        f"feeds: accelerators that stay busy for {share}, at least and at most, whatever stations "
        "storage has (throughput never falls with N, and grows by less and less)"
    )
    yield "AU, stall of a batch and what is read are those of the highest N"
    if any(system.rises for system in storage.systems):
        yield "*: AU rises with N, which no closed network shows: runs differ in more than N"
