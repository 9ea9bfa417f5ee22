"""Queue lengths described: the number of jobs at each station, by operating point."""

from itertools import chain
from typing import Any

import numpy as np

from headway.models.language.scales import Scale, units_of
from headway.models.showing.solutions import input_columns, input_fields, notes_of
from headway.models.solving.solutions.queue_lengths import QueueLengths, covered, listed
from headway.models.solving.solutions.solution import Solution
from headway.models.tables.description import Description, Records, field, only_json
from headway.models.tables.table import Column, Table
from headway.numerals import digits
from headway.queueing.numbers.laws import NumberLaw
from headway.queueing.times.laws import merged

_SHOWN = 0.999  # share of the time that a printed table covers
_MOST_ROWS = 30  # rows of a printed table; with more numbers of jobs, several share a row
_SHARES = (0.5, 0.95, 0.99)
_HEADS = ("mean", "variance", "P(0)", "waits", *(f"{digits(100 * s)}%" for s in _SHARES))


def describe(lengths: QueueLengths[Solution]) -> Description:
    """One row per operating point; in CSV, one row per number of jobs; in the solution's units."""
    solution = lengths.solution
    return Description(
        records=lambda: _records(lengths),
        scale=lambda: units_of(solution),
        tables=lambda scale: _tables(lengths, scale),
        document=lambda rows: {
            "model": solution.model.name,
            "preset": solution.model.preset,
            "method": solution.method,
            "approximation": _doubts(lengths) or None,
            "points": rows,
        },
        csv=lambda: _chances(lengths).csv(),
    )


def _records(lengths: QueueLengths[Solution]) -> Records:
    """For each station, the summary of its law at each operating point."""
    documents = [
        {name: _law(laws[k], listed(laws)) for name, laws in lengths.laws.items()}
        for k in range(_points(lengths))
    ]
    fields = (*input_fields(lengths.solution), only_json("stations", documents))
    return Records(fields, sections=("inputs",))


def _chances(lengths: QueueLengths[Solution]) -> Records:
    """One row per number of jobs, station and operating point."""
    rows = [
        (k, name, number, chance)
        for k in range(_points(lengths))
        for name, laws in lengths.laws.items()
        if (law := laws[k]) is not None
        for number, chance in enumerate(law.chances(listed(laws)).tolist())
    ]
    return Records(
        (
            *input_fields(lengths.solution, [k for k, *_ in rows]),
            field("station", (name for _, name, _, _ in rows)),
            field("jobs", (float(number) for _, _, number, _ in rows)),
            field("probability", (chance for *_, chance in rows)),
            field("method", (lengths.solution.method for _ in rows)),
            field("approximation", (_doubts(lengths) for _ in rows)),
        )
    )


def _doubts(lengths: QueueLengths[Solution]) -> str:
    """What is not exact about the solution, and what the laws assume."""
    known = lengths.solution.approximation
    assumed = (note.removeprefix("approximate: ") for note in _assumed(lengths))
    return "; ".join([*([known] if known else []), *assumed])


def _tables(lengths: QueueLengths[Solution], scale: Scale) -> list[Table]:
    """Summaries of the laws by station and point; for a single point, the probabilities too."""
    summary = _summary_table(lengths, scale)
    return [summary] if _points(lengths) > 1 else [summary, _chances_table(lengths)]


def _points(lengths: QueueLengths[Solution]) -> int:
    return int(np.prod(lengths.solution.shape))


def _summary_table(lengths: QueueLengths[Solution], scale: Scale) -> Table:
    solution, count = lengths.solution, _points(lengths)
    keys = input_columns(solution, scale, len(lengths.stations))
    names = Column("station", lengths.stations * count)
    laws = chain.from_iterable(zip(*lengths.laws.values(), strict=True))
    moments = list(zip(*map(_moments, laws), strict=True))
    columns = [Column.of(head, values) for head, values in zip(_HEADS, moments, strict=True)]
    notes = (*notes_of(solution, scale), *_assumed(lengths))
    last = "50%, 95%, 99%: at most this many jobs are present for that share of the time"
    more = ["the chances themselves are in --csv and --json"] if count > 1 else []
    title = f"{solution.model.title}: jobs at stations"
    return Table(title, (*keys, names, *columns), (*notes, last, *more), len(keys) + 1)


def _moments(law: NumberLaw | None) -> tuple[float, ...]:
    if law is None:
        return (np.nan,) * len(_HEADS)
    most = (float(law.covering(share)) for share in _SHARES)
    return (law.mean, law.variance, law.empty, law.waits, *most)


def _assumed(lengths: QueueLengths[Solution]) -> list[str]:
    """The assumptions of the laws, if any."""
    laws = chain.from_iterable(lengths.laws.values())
    notes = merged(*(law.notes for law in laws if law is not None))
    return [f"approximate: {'; '.join(notes)}"] if notes else []


def _chances_table(lengths: QueueLengths[Solution]) -> Table:
    """Probabilities of 0, 1, 2... jobs as far as they matter; many share a row."""
    laws = {name: each[0] for name, each in lengths.laws.items() if each[0] is not None}
    most = max((covered(law, _SHOWN) for law in laws.values()), default=0)
    wide = -(-(most + 1) // _MOST_ROWS)
    starts = range(0, most + 1, wide)
    numbers = [str(n) if wide == 1 else f"{n} to {n + wide - 1}" for n in starts]
    columns = [Column("jobs", (*numbers, f"more than {starts[-1] + wide - 1}"))]
    for name, law in laws.items():
        chances = law.chances(starts[-1] + wide - 1).reshape(-1, wide).sum(axis=1)
        columns.append(Column(name, (*chances.tolist(), law.more_than(starts[-1] + wide - 1))))
    return Table("probability of each number of jobs", tuple(columns))


def _law(law: NumberLaw | None, most: int) -> dict[str, Any] | None:
    if law is None:
        return None
    return {
        "mean": law.mean,
        "variance": law.variance,
        "empty_probability": law.empty,
        "waiting_probability": law.waits,
        "probabilities": law.chances(most).tolist(),
        "more_probability": law.more_than(most),
    }
