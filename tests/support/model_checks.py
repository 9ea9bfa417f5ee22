"""What must hold of every model, whatever it is made of; each check says what does not.

A refusal in one line is an answer; any other exception, a derivative that differs from the
differences of the solver, a closed form that differs from its numbers, or a table that differs
from the JSON is a finding.
"""

import csv
import io
import json
import math
import traceback
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from headway.errors import HeadwayError
from headway.models import parse_model
from headway.models.analysis.sensitivity import sensitivity
from headway.models.analysis.target import what_it_takes
from headway.models.language.units import quantity
from headway.models.solving.solutions.solution import Solution
from headway.models.solving.symbolic import bounded_symbols, numeric
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from tests.support.limits import limited_time
from tests.support.random_models import RandomModel, random_model

AGREE = 1e-7
"""How well two ways to the same number have to agree, relative."""
SLOPES_AGREE = 2e-4
"""The same for derivatives, against central differences of 1e-5."""
NOISE = 1e-8
"""Outputs below it, such as shares of jobs lost, may have no derivative: rounding decides."""
ROUNDED = 6e-3
"""What a printed cell of three or four digits may miss."""

_GROUPS = (
    *("inputs", "outputs", "classes", "components", "regions"),
    *("bounds", "class_bounds"),
)
"""Where a point's numbers stand in JSON, in the order of the CSV's columns."""
WORDS = ("bottleneck", "saturated", "method", "approximation")
"""Columns of a CSV that hold no numbers."""
LONGEST = 30
"""Seconds of processor time that a check may take; a hang is a finding."""

_STEP = 1e-5
_PLOT_EVERY = 40
_FORMULA_EVERY = 4


def findings(seed: int) -> list[str]:
    """Every check of a seed's model that does not hold."""
    drawn = random_model(seed)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for check in CHECKS:
            if seed % PERIODS.get(check, 1) == 0:
                rows += [f"{seed} {check.__name__}: {what}" for what in _run(check, drawn)]
    return rows


def _run(check: Callable[[Model, str], Iterator[str]], drawn: RandomModel) -> list[str]:
    try:
        with limited_time(LONGEST, TimeoutError):
            return list(check(parse_model(drawn.text), drawn.load))
    except HeadwayError as error:
        return [f"refused in several lines: {error}"] if "\n" in str(error) else []
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return [f"{type(error).__name__} in {last.name}: {str(error)[:120]}"]


def answers_agree(model: Model, load: str) -> Iterator[str]:
    """JSON, CSV and the printed table say the same."""
    solution = model.solve()
    repr(solution)
    point = json.loads(solution.to_json())["points"][0]
    read = next(csv.DictReader(io.StringIO(solution.to_csv())))
    cells = [_number(cell) for name, cell in read.items() if name not in WORDS]
    if not _same(_numbers(point), cells, 0.0):
        yield f"JSON {_numbers(point)} differs from CSV {cells}"
    if "bottleneck" in point and point["bottleneck"] != read["bottleneck"]:
        yield f"bottleneck {point['bottleneck']} in JSON, {read['bottleneck']} in CSV"
    text = str(solution)
    table = solution.tables()[0]
    for name, cell in zip(*(column.texts for column in table.columns), strict=True):
        shown = math.inf if "∞" in cell else quantity(cell)
        value = point["outputs"][name]
        if not _same([shown], [math.inf if value is None else value], ROUNDED):
            yield f"{name} is {value} in JSON and {cell} in the table"
        if name not in text:
            yield f"{name} is not printed"
    if solution.approximation and "approximate" not in text:
        yield "an approximation is not said"


def sweeps_agree(model: Model, load: str) -> Iterator[str]:
    """A point of a sweep is what solving that point alone gives."""
    here = float(model.inputs[load])
    whole = load in counts(model.graph) or float(here).is_integer()
    factors = np.array([0.5, 1.0, 4.0])
    values = np.unique(np.floor(here * factors)) if whole else here * factors
    solution = model.at({load: values}).solve()
    str(solution)
    points = json.loads(solution.to_json())["points"]
    solution.to_csv()
    for k, value in enumerate(values.tolist()):
        alone = _same_outputs(
            json.loads(model.at({load: value}).solve().to_json())["points"][0], points[k]
        )
        if not _same(_numbers(points[k]), _numbers(alone), AGREE):
            yield f"at {load} = {value} the sweep has {points[k]}, the point {alone}"


def _same_outputs(point: dict, swept: dict) -> dict:
    """A point with those bounds that its sweep has too: a sweep's hold at all its points."""
    kept = {k: v for k, v in point.items() if k in swept or "bounds" not in k}
    for key in kept.keys() & {"bounds", "class_bounds"}:
        kept[key] = _shared(kept[key], swept[key])
    return kept


def _shared(one: object, other: object) -> object:
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _shared(one[key], other[key]) for key in one if key in other}
    return one


def files_agree(model: Model, load: str) -> Iterator[str]:
    """A model written out and read again gives the same numbers."""
    str(model)
    again = parse_model(model.to_toml())
    one, other = (json.loads(m.solve().to_json())["points"][0] for m in (model, again))
    if not _same(_numbers(one), _numbers(other), 1e-12):
        yield f"written out and read again: {other} instead of {one}"


def slopes_agree(model: Model, load: str) -> Iterator[str]:
    """Every derivative is the central difference of the solver where that has one."""
    derivatives = sensitivity(model)
    str(derivatives), derivatives.to_json(), derivatives.to_csv()
    whole = counts(model.graph)
    names = {name for effects in derivatives.effects.values() for name in effects} - whole
    for name in sorted(names):
        near = _beside(model, name)
        for output, effects in derivatives.effects.items():
            wanted = _difference(near, name, output) if near else None
            if name not in effects or wanted is None:
                continue
            value, size = effects[name].derivative, _size(near[1], name, output)
            if math.isnan(value) and abs(float(near[1][output])) < NOISE:
                continue
            if not math.isclose(value, wanted, rel_tol=SLOPES_AGREE, abs_tol=size):
                yield f"d {output} / d {name} is {value:.6g}; differences say {wanted:.6g}"


def _beside(model: Model, name: str) -> list[Solution]:
    """Solutions a small step below, at and above a parameter's value; none at an edge."""
    here = float(model.inputs[name])
    values = (here * (1 + k * _STEP) for k in (-1, 0, 1))
    try:
        near = [model.at({name: value}).solve() for value in values] if here else []
    except HeadwayError:
        return []
    return [] if any(solution.saturated.any() for solution in near) else near


def _size(solution: Solution, name: str, output: str) -> float:
    """Derivative below which nothing happens: an elasticity of 1e-5, or a difference's noise."""
    return 1e-5 * abs(float(solution[output]) / float(solution.model.inputs[name]))


def _difference(near: list[Solution], name: str, output: str) -> float | None:
    """Central difference; None beside a bend, or where something is infinite."""
    low, middle, high = (float(solution[output]) for solution in near)
    if not np.isfinite([low, middle, high]).all():
        return None
    step = _STEP * abs(float(near[1].model.inputs[name]))
    left, right = (middle - low) / step, (high - middle) / step
    noise = 1e-9 * abs(middle) / step
    inside = abs(left - right) > 1e-2 * max(abs(left), abs(right)) + noise
    return None if inside else (high - low) / (2 * step)


def targets_are_met(model: Model, load: str) -> Iterator[str]:
    """What a target takes gives the target when it is solved."""
    solution = model.solve()
    names = [name for name, value in model.inputs.items() if float(value) > 0]
    now = float(solution["response_time"])
    if not math.isfinite(now):
        return
    name = names[int(1e6 * now) % len(names)]
    wanted = (0.8 if len(names) % 2 else 1.3) * now
    target = what_it_takes(model, "response_time", wanted, name)
    str(target), target.to_json(), target.to_csv()
    reached = float(model.at({name: target.value}).solve()["response_time"])
    missed = reached - wanted
    whole = name in counts(model.graph)
    if (missed > 1e-9 * now) if whole else abs(missed) > 1e-6 * now:
        yield f"{name} = {target.value} gives {reached}, wanted {wanted}"


def formulas_agree(model: Model, load: str) -> Iterator[str]:
    """A closed form evaluated at the parameters is what the solver says."""
    solution = model.solve()
    symbols = bounded_symbols(model)
    outputs = [n for n in solution.outputs if n not in ("saturation_throughput", "throughput")]
    for output in outputs:
        form = model.closed_form(output)
        if solution.saturated.any():
            continue
        used = sorted(form.free_symbols, key=str)
        unknown = [str(s) for s in used if str(s) not in symbols]
        if unknown:
            yield f"the closed form of {output} has {unknown}, which are no parameters"
            continue
        values = (np.asarray(model.inputs[str(s)], float) for s in used)
        with np.errstate(all="ignore"):
            value = float(numeric(form, used)(*values))
        if not _same([value], [float(solution[output])], AGREE):
            yield f"closed form of {output}: {value}, solver: {float(solution[output])}"


def percentiles_are_times(model: Model, load: str) -> Iterator[str]:
    """Percentiles grow with the share, and are times."""
    solution = model.solve().with_percentile(50).with_percentile(99)
    str(solution), solution.to_json(), solution.to_csv()
    names = [name for name in solution.values if name.endswith("response_time_p50")]
    for name in names:
        half = np.asarray(solution.values[name], float)
        most = np.asarray(solution.values[name.replace("_p50", "_p99")], float)
        if not (np.all(half >= 0) and np.all(half <= most)):
            yield f"{name} is {half}, p99 {most}"


def plots_are_drawn(model: Model, load: str) -> Iterator[str]:
    """Figures of the model, of a sweep and of sensitivities can be drawn."""
    import matplotlib.pyplot as plt

    here = float(model.inputs[load])
    swept = model.at({load: np.arange(1.0, 4.0) if here.is_integer() else here * np.arange(1, 4)})
    for answer in (model, swept.solve(), sensitivity(model)):
        figure = answer.plot()
        figure.canvas.draw()
        plt.close(figure)
    yield from ()


CHECKS = (
    answers_agree,
    sweeps_agree,
    files_agree,
    slopes_agree,
    targets_are_met,
    formulas_agree,
    percentiles_are_times,
    plots_are_drawn,
)
PERIODS = {
    plots_are_drawn: _PLOT_EVERY,
    formulas_agree: _FORMULA_EVERY,
    slopes_agree: 2,
    targets_are_met: 5,
}


def _number(cell: str) -> float:
    return float(cell) if cell else math.inf


def _numbers(entry: object) -> list[float]:
    """The numbers of a JSON document in order; null is an infinite time."""
    if isinstance(entry, dict):
        groups = [entry[k] for k in _GROUPS if k in entry]
        parts = groups or list(entry.values())
        return [number for part in parts for number in _numbers(part)]
    if isinstance(entry, list):
        return [number for part in entry for number in _numbers(part)]
    return [math.inf if entry is None else float(entry)]  # type: ignore[arg-type]


def _same(one: list[float], other: list[float], tolerance: float) -> bool:
    return len(one) == len(other) and all(
        a == b or math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-12)
        for a, b in zip(one, other, strict=True)
    )
