"""A model from traces described: entries, threads, loads and findings."""

from collections.abc import Iterator, Sequence
from math import inf, isinf
from typing import Any

from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.showing.audits import finding_records
from headway.models.tables.description import Description, Records, field, interval
from headway.models.tables.table import Column, Table
from headway.models.tracing.flows import Always, Block, Times
from headway.models.tracing.measured import Measured
from headway.models.tracing.pools import Pool
from headway.models.tracing.processors import ProcessorTime
from headway.models.tracing.services import Services
from headway.models.tracing.traced import Compared, TracedModel
from headway.numerals import four_digits

_TIME, _RATE = unit("s"), unit("/s")
_SURE = 1.96  # standard errors of a 95% interval


def describe(traced: TracedModel) -> Description:
    """One row per entry, in SI; people read tables of entries, services, loads and findings."""
    entries = traced.services.entries
    records = Records(
        (
            field("entry", (traced.names[key] for key in entries)),
            field("service", (each.service for each in entries.values())),
            field("operation", (each.operation for each in entries.values())),
            field("root", (each.root or None for each in entries.values())),
            field("requests", (each.requests for each in entries.values())),
            field("work", (each.work for each in entries.values()), _TIME),
            interval(
                "work_ci95", map(_work_ends, entries.values()), ("work_low", "work_high"), _TIME
            ),
            field("network_time", (each.network for each in entries.values()), _TIME),
            field(
                "threads",
                (_threads(traced.services.pools.get(each.service)) for each in entries.values()),
            ),
            field("calls", (_calls(traced, each) for each in entries.values())),
        )
    )
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of([([each.work for each in entries.values()], _TIME)]),
        tables=lambda scale: list(_tables(traced, scale)),
        document=lambda rows: _document(traced, rows),
    )


def _work_ends(entry: Measured) -> tuple[float, float]:
    return max(entry.work - _SURE * entry.error, 0.0), entry.work + _SURE * entry.error


def _threads(pool: Pool | None) -> int | None:
    return int(pool.threads) if pool is not None and pool.seen else None


def _calls(traced: TracedModel, entry: Measured) -> str:
    """What an entry calls, in words: ``auth, then price and catalog at once``."""
    parts = [_block(traced, block) for block in entry.doing.blocks]
    sent = [
        f"{traced.names[key]} ({four_digits(_mean(laws))}, sent)"
        for key, laws in entry.messages.items()
    ]
    return ", then ".join([*parts, *sent])


def _block(traced: TracedModel, block: Block) -> str:
    words = []
    for stage, laws in zip(block.stages, block.times, strict=True):
        names = [traced.names[traced.services.numbered[number]] for number in stage.callees]
        mean = _mean(laws)
        whole = all(isinstance(law, Always) for law in laws)
        often = "" if whole and mean == 1 else f" {four_digits(mean)} times"
        at_once = f" at once{'' if stage.needed == len(names) else f' ({stage.needed} needed)'}"
        words.append(" and ".join(names) + (at_once if len(names) > 1 else "") + often)
    return " or ".join(words) + (" in any order" if len(words) > 1 else "")


def _mean(laws: Sequence[Times]) -> float:
    return sum(law.mean for law in laws)


def _tables(traced: TracedModel, scale: Scale) -> Iterator[Table]:
    entries = traced.services.entries
    times = [scale.with_error(each.work, _SURE * each.error, _TIME) for each in entries.values()]
    yield Table(
        traced.model.name,
        (
            Column("entry", tuple(traced.names[key] for key in entries)),
            Column("requests", tuple(each.requests for each in entries.values())),
            Column("own work", tuple(times)),
            Column("calls", tuple(_calls(traced, each) or "-" for each in entries.values())),
        ),
        ("± is half of a 95% interval",),
    )
    yield _services(traced, scale)
    yield _loads(traced.compared, scale)
    if traced.findings:
        yield finding_records(traced.findings).table("findings", scale, ())


def _services(traced: TracedModel, scale: Scale) -> Table:
    pools, measured = traced.services.pools, traced.services.processor_times
    columns = [
        Column("service", tuple(pools)),
        Column("threads", tuple(_pool_words(pool) for pool in pools.values())),
        Column("processors", tuple(_servers(traced.services, name) for name in pools)),
    ]
    if measured:
        each = [measured.get(name) for name in pools]
        columns += [
            Column("at processors", tuple(_processor_time(one, scale) for one in each)),
            Column(
                "of own time [%]",
                tuple(None if one is None else 100 * one.share[0] for one in each),
            ),
        ]
    return Table("threads and processors", tuple(columns))


def _processor_time(measured: ProcessorTime | None, scale: Scale) -> str | None:
    """Processor time of a request, with the ends of its interval."""
    if measured is None:
        return None
    low, high = (scale.bare(end, _TIME) for end in (measured.low, measured.high))
    return f"{scale.text(measured.demand, _TIME)} ({low} to {high})"


def _pool_words(pool: Pool) -> str:
    if not pool.seen:
        return f"at least {pool.low}"
    return four_digits(pool.threads) + _range(pool)


def _range(pool: Pool) -> str:
    return f" ({pool.low} to {pool.high:.0f})" if pool.low < pool.high else ""


def _servers(services: Services, name: str) -> str:
    found, measured = services.processors.get(name), services.processor_times.get(name)
    if measured is not None and measured.processors is not None:
        return str(measured.processors)
    return "not seen" if found is None else four_digits(found.threads) + _range(found)


_ALL_STORED = "rates assume that every trace was stored; if not, give the share with --sampled"


def _loads(compared: tuple[Compared, ...], scale: Scale) -> Table:
    notes = list(dict.fromkeys(each.note for each in compared if each.note))
    notes += [f"{each.load.name}: {each.clients}" for each in compared if each.clients]
    if all(each.load.sampled == 1 for each in compared):
        notes.append(_ALL_STORED)
    return Table(
        "loads",
        (
            Column("load", tuple(each.load.name for each in compared)),
            Column("traces", tuple(each.load.traces for each in compared)),
            Column("rate [1/s]", tuple(each.load.rate for each in compared)),
            Column(
                "traced",
                tuple(
                    scale.with_error(each.load.response_time, _SURE * each.load.error, _TIME)
                    for each in compared
                ),
            ),
            Column(
                "model",
                tuple(
                    None
                    if each.response_time is None or isinf(each.response_time)
                    else scale.text(each.response_time, _TIME)
                    for each in compared
                ),
            ),
            Column(
                "difference [%]",
                tuple(
                    None if each.difference is None else 100 * each.difference for each in compared
                ),
            ),
        ),
        tuple(notes),
    )


def _processors(services: Services, name: str) -> int | None:
    measured = services.processor_times.get(name)
    if measured is not None and measured.processors is not None:
        return measured.processors
    return _threads(services.processors.get(name))


def _times(measured: ProcessorTime | None) -> dict[str, Any] | None:
    if measured is None:
        return None
    return {
        "mean": measured.demand,
        "ci95": [measured.low, measured.high],
        "share_of_own_time": measured.share[0],
        "busy_without_requests": measured.base,
        "loads": measured.loads,
    }


def _document(traced: TracedModel, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "model": traced.model.name,
        "entries": rows,
        "services": {
            name: {
                "threads": _threads(pool),
                "at_least": pool.low,
                "at_most": None if pool.high == inf else pool.high,
                "processors": _processors(traced.services, name),
                "processor_time": _times(traced.services.processor_times.get(name)),
            }
            for name, pool in traced.services.pools.items()
        },
        "loads": [
            {
                "load": each.load.name,
                "traces": each.load.traces,
                "sampled": each.load.sampled,
                "arrival_rate": each.load.rate,
                "response_time": each.load.response_time,
                "standard_error": each.load.error,
                "population": each.clients.number if each.clients else None,
                "think_time": each.clients.think_time if each.clients else None,
                "model_response_time": each.response_time,
                "note": each.note,
            }
            for each in traced.compared
        ],
        "findings": finding_records(traced.findings).rows(),
    }
