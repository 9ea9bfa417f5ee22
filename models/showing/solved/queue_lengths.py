"""Queue lengths as tables, rows, CSV and JSON."""

from itertools import chain
from typing import Any

import numpy as np

from headway.models.language.scales import Scale
from headway.models.showing.solutions import input_columns, notes_of, solution_scale
from headway.models.solving.solutions.queue_lengths import QueueLengths, covered, listed
from headway.models.solving.solutions.solution import Solution
from headway.models.tables.table import Column, Table
from headway.numerals import digits
from headway.queueing.numbers.laws import NumberLaw
from headway.queueing.times.laws import merged

_SHOWN = 0.999  # share of the time that a printed table covers
_MOST_ROWS = 30  # rows of a printed table; of more numbers several share a row
_SHARES = (0.5, 0.95, 0.99)
_HEADS = ("mean", "variance", "P(0)", "waits", *(f"{digits(100 * s)}%" for s in _SHARES))


def length_scale(lengths: QueueLengths[Solution]) -> Scale:
    """The units of the solution that the numbers are of."""
    return solution_scale(lengths.solution)


def length_tables(lengths: QueueLengths[Solution]) -> list[Table]:
    """What laws sum up to by station and point; of a single point, the chances too."""
    summary = _summary_table(lengths)
    return [summary] if _points(lengths) > 1 else [summary, _chances_table(lengths)]


def _points(lengths: QueueLengths[Solution]) -> int:
    return int(np.prod(lengths.solution.shape))


def _summary_table(lengths: QueueLengths[Solution]) -> Table:
    solution, count = lengths.solution, _points(lengths)
    each, scale = len(lengths.stations), length_scale(lengths)
    keys = input_columns(solution, scale, each)
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
    """What laws take for granted, if anything."""
    laws = chain.from_iterable(lengths.laws.values())
    notes = merged(*(law.notes for law in laws if law is not None))
    return [f"approximate: {'; '.join(notes)}"] if notes else []


def _chances_table(lengths: QueueLengths[Solution]) -> Table:
    """Chances of 0, 1, 2... jobs as far as they matter; of many, several numbers a row."""
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


def length_rows(lengths: QueueLengths[Solution]) -> list[dict[str, Any]]:
    """One dict an operating point: its inputs, and by station what its law says."""
    solution = lengths.solution
    inputs = {
        name: np.broadcast_to(np.asarray(value, float), solution.shape).ravel().tolist()
        for name, value in solution.model.inputs.items()
    }
    most = {name: listed(laws) for name, laws in lengths.laws.items()}
    return [
        {
            "inputs": {name: values[k] for name, values in inputs.items()},
            "stations": {name: _law(laws[k], most[name]) for name, laws in lengths.laws.items()},
        }
        for k in range(_points(lengths))
    ]


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


def length_document(lengths: QueueLengths[Solution]) -> dict[str, Any]:
    """The JSON contract's document for queue lengths."""
    solution = lengths.solution
    doubts = [solution.approximation] if solution.approximation else []
    doubts += [note.removeprefix("approximate: ") for note in _assumed(lengths)]
    return {
        "model": solution.model.name,
        "preset": solution.model.preset,
        "method": solution.method,
        "approximation": "; ".join(doubts) or None,
        "points": length_rows(lengths),
    }


def length_csv(lengths: QueueLengths[Solution]) -> str:
    """A CSV row a number of jobs, station and operating point."""
    solution = lengths.solution
    document = length_document(lengths)
    cells = [
        (row["inputs"], name, law, number)
        for row in document["points"]
        for name, law in row["stations"].items()
        if law is not None
        for number in range(len(law["probabilities"]))
    ]
    columns = [
        Column(name, tuple(inputs[name] for inputs, *_ in cells), parameter.unit)
        for name, parameter in solution.model.parameters.items()
        if name in solution.model.inputs
    ]
    columns.append(Column("station", tuple(name for _, name, *_ in cells)))
    columns.append(Column("jobs", tuple(float(number) for *_, number in cells)))
    chances = tuple(law["probabilities"][number] for _, _, law, number in cells)
    columns.append(Column("probability", chances))
    shared = ("method", "approximation")
    columns += [Column(title, (document[title] or "",) * len(cells)) for title in shared]
    return Table(solution.model.name, tuple(columns)).to_csv()
