"""Holds every method to the networks that its row of the table of methods declares.

Run with ``python -m tests.brute.rows --count 2000 --seed 0``. A method that applies to a random
small network of `tests.brute.kinds` must answer it, and may be as far from its whole Markov chain,
or a simulation where that is too large, as its row says. Where it does not hold, the row is wrong.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from headway.errors import HeadwayError, ModelFileError, Saturated
from headway.models import Model, parse_model
from headway.models.solving.applicable import Applicable, methods_of
from headway.models.solving.lowering import lower
from headway.models.solving.symbolic import model_form
from headway.queueing.chains.measured import BEGUN_NOTE
from headway.queueing.classes.fcfs import apart
from headway.queueing.closed.measured import Apart
from headway.queueing.methods.method import Answers, Error, Subject
from headway.queueing.methods.registry import methods
from tests import campaigns
from tests.brute.campaign import HEAVY, TINY
from tests.brute.chain import TooLarge
from tests.brute.drawing import Drawn
from tests.brute.kinds import drawn

Found: TypeAlias = tuple[Mapping[str, Any], str]
"""What a method finds by the names of a truth, and what is wrong with it of itself."""

EXACT = 1e-8
"""Largest relative error of an exact method; an iterated chain has so many digits."""

LAW = 1e-5
"""The same of the mean of a law of times: chains of steps leave out 1e-6 of the tail
(`headway.queueing.times.uniformisation`), which is some means away."""

CUT = 300
"""How much of a mean a share of arrivals that a chain leaves out may be, over that share."""

ROUNDING = 0.05
"""Per cent by which an error may be above what is stated, which is rounded to a tenth."""

SIMULATED = 40
"""One network in so many is simulated too."""

LARGER, NO_MORE = 7, 1e8
"""One of so many networks without a small chain is held to a simulation of so many events."""

HALF_WIDTH, CONFIDENCE = 0.05, 0.99999
"""Half width that a simulation is asked for, and confidence of the intervals it is held to."""


@dataclass(frozen=True)
class Held:
    """A method and a network: how far off it is [%], how far it may be, and what went wrong."""

    seed: int
    kind: str
    method: str
    exact: bool
    missed: Mapping[str, float]
    allowed: Mapping[str, float]
    fault: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the row of the method does not hold."""
        return bool(self.fault) or any(self.missed[k] > self.allowed[k] for k in self.missed)

    def __str__(self) -> str:
        far = (
            f"{k} {self.missed[k]:.3g}% off, {self.allowed[k]:.3g}% allowed" for k in self.missed
        )
        return f"seed {self.seed} ({self.kind}), {self.method}: {self.fault or ', '.join(far)}"


@dataclass(frozen=True)
class Known:
    """What is known of a network: numbers by name, and how far each may be off, over it."""

    numbers: Mapping[str, float]
    slack: Mapping[str, float]
    simulated: bool = False


def hold(seed: int) -> list[Held]:
    """Hold each method that applies to the network of a seed to what is known of it."""
    case = drawn(seed)
    try:
        model = parse_model(case.text)
    except ModelFileError:  # no job comes to one of its stations
        return []
    truth = _by_chain(case)
    if truth is None and seed % LARGER == 0:
        truth = _by_simulation(model, seed)
    if truth is None:
        return []
    applying = (one for one in methods_of(model).methods if one.applies)
    if truth.simulated or seed % SIMULATED:
        applying = (one for one in applying if one.name != "simulation")
    return [_held(seed, case, truth, model, one) for one in applying]


def _by_chain(case: Drawn) -> Known | None:
    """What the whole chain says; None if it is too large, has several ends, or no digits."""
    try:
        truth = case.solve()
    except (TooLarge, ValueError, RuntimeError):
        return None
    if truth.cut > HEAVY:
        return None
    return Known(truth.numbers, dict.fromkeys(truth.numbers, CUT * truth.cut))


def _by_simulation(model: Model, seed: int) -> Known | None:
    """What a simulation says, to its intervals; None if that takes too long."""
    try:
        found = model.simulate(HALF_WIDTH, seed=seed, at_most=NO_MORE)
    except HeadwayError:
        return None
    numbers, slack = {}, {}
    for name, one in found.estimates.items():
        low, high = one.interval(CONFIDENCE)
        if _part(name) in PARTS and one.mean > 0:
            numbers[name], slack[name] = one.mean, (high - low) / 2 / one.mean
    return Known(numbers, slack, simulated=True)


def _held(seed: int, case: Drawn, truth: Known, model: Model, one: Applicable) -> Held:
    error = one.error or Error()
    allowed = _allowed(error, LAW if Answers.TIMES in one.answers else EXACT)
    try:
        found, fault = _answer(model, one, seed, truth)
    except Saturated:
        return Held(seed, case.kind, one.name, error.exact, {}, {})
    except HeadwayError as refusal:
        return Held(seed, case.kind, one.name, error.exact, {}, {}, f"refused: {refusal}")
    missed: dict[str, float] = defaultdict(float)
    for name, true in truth.numbers.items():
        part = _part(name)
        if name in found and (error.exact or part in allowed):
            beyond = _missed(found[name], true) - 100 * truth.slack[name]
            missed[part] = max(missed[part], beyond)
    return Held(seed, case.kind, one.name, error.exact, dict(missed), allowed, fault)


def _part(name: str) -> str:
    """What a row states the error of: throughputs, or response times; none of numbers of jobs."""
    return name.rpartition(".")[2]


PARTS = "throughput", "response_time", "queue_length"


def _allowed(error: Error, digits: float) -> dict[str, float]:
    if error.exact:
        return dict.fromkeys(PARTS, 100 * digits)
    stated = {"throughput": error.throughput, "response_time": error.response_time}
    # Of open classes no error of throughputs is stated: they are given.
    return {k: v + ROUNDING for k, v in stated.items() if v}


def _missed(answer: Any, true: float) -> float:
    return 100 * abs(float(np.asarray(answer)) - true) / max(abs(true), TINY)


def _answer(model: Model, one: Applicable, seed: int, truth: Known) -> Found:
    """Ask a method, or what asks for its kind of answer."""
    row = methods()[one.name]
    if Subject.MODEL in row.subjects and one.name in MODELS:
        return MODELS[one.name](model, seed, truth)
    solution = model.solve(method=one.name)
    exact = one.error is not None and one.error.exact
    fault = ""
    used = {solution.method, solution.marks.again}
    if one.name not in used:
        instead = used & {*row.otherwise} and solution.approximation in ("", BEGUN_NOTE)
        fault = "" if instead else f"answered by {solution.method}"
    elif exact is bool(solution.approximation):
        fault = f"its row says {one.error}, its answer {solution.approximation or 'exact'!r}"
    return {name: solution[name] for name in truth.numbers}, fault


def _simulated(model: Model, seed: int, truth: Known) -> Found:
    """Intervals that hold the truth; nothing else is compared."""
    found = model.simulate(HALF_WIDTH, seed=seed, at_most=NO_MORE)
    outside = [
        name
        for name, true in truth.numbers.items()
        if name in found.estimates and not found[name].holds(true, CONFIDENCE)
    ]
    return {}, f"intervals do not hold {', '.join(outside)}" if outside else ""


def _numbers(model: Model, seed: int, truth: Known) -> Found:
    """Mean numbers of jobs, from their distributions."""
    laws = model.solve().queue_lengths().laws.items()
    return {f"{name}.queue_length": law.mean for name, (law,) in laws if law is not None}, ""


def _times(model: Model, seed: int, truth: Known) -> Found:
    """Mean response times, from their laws, where these are exact."""
    solution = model.solve()
    if solution.with_percentile(50.0).approximation:
        return {}, ""
    (laws,) = solution.time_laws()
    means = {f"class {name}.response_time" if name else "response_time": law.mean
             for name, law in laws.items() if law is not None}  # fmt: skip
    return means, ""


def _bounds(model: Model, seed: int, truth: Known) -> Found:
    """Bounds hold the truth on both sides."""
    for name, limits in model.solve().bounds().items():
        for part in ("throughput", "response_time"):
            if part not in truth.numbers:
                continue
            low, high = (float(np.asarray(getattr(limits, f"{part}_{end}"))) for end in ENDS)
            true, slack = truth.numbers[part], EXACT + truth.slack[part]
            if not low * (1 - slack) <= true <= high * (1 + slack):
                return {}, f"{name} bounds of the {part} do not hold {true}: {low} to {high}"
    return {}, ""


ENDS = "lower", "upper"


def _formula(model: Model, seed: int, truth: Known) -> Found:
    """The closed form of the response time, with the model's numbers."""
    form = model_form(model, "response_time")
    numbers = {one: model.inputs[str(one)] for one in form.free_symbols}
    return {"response_time": form.subs(numbers)}, ""


MODELS: dict[str, Callable[[Model, int, Known], Found]] = {
    "simulation": _simulated,
    "marginals": _numbers,
    "sojourn": _times,
    "bounds": _bounds,
    "formula": _formula,
}
"""Answers that are no means of a solution, and how each is held to a truth."""


PAGE = Path(__file__).parent.parent / "data" / "method_errors.csv"
"""Approximate answers that are off by more than half of what their rows stated."""

TITLES = "seed", "method", "throughput", "response_time"


@dataclass(frozen=True)
class Miss:
    """An approximate answer that is far off: by how much [%]."""

    seed: int
    method: str
    throughput: float
    response_time: float

    @property
    def is_within(self) -> bool:
        """Whether the row of its method, as it is now, states as much; no chain is solved."""
        error = lower(parse_model(drawn(self.seed).text)).error_of(methods()[self.method])
        return all(getattr(self, part) <= getattr(error, part) + ROUNDING for part in TITLES[2:])

    @property
    def apart(self) -> Apart | None:
        """How far times are apart where classes wait in order, by which errors are stated."""
        return apart(lower(parse_model(drawn(self.seed).text)).network)


def stored() -> list[Miss]:
    """What the file has."""
    rows = campaigns.stored_rows(PAGE)
    return [Miss(int(r["seed"]), r["method"], *(float(r[n]) for n in TITLES[2:])) for r in rows]


def store(rows: Sequence[Held], seeds: range) -> None:
    """Store what misses by more than half of what is stated, beside that of other seeds."""
    kept = {one for one in stored() if one.seed not in seeds} if PAGE.exists() else set()
    for row in rows:
        if not row.exact and any(2 * row.missed[p] > row.allowed[p] for p in row.missed):
            errors = (float(f"{row.missed.get(name, 0.0):.4g}") for name in TITLES[2:])
            kept.add(Miss(row.seed, row.method, *errors))
    by_seed = sorted(kept, key=lambda one: (one.seed, one.method))
    campaigns.store(PAGE, TITLES, [[getattr(one, name) for name in TITLES] for one in by_seed])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how many networks each method was held to; code 1 if a row does not hold."""
    options = campaigns.parser(__doc__)
    options.add_argument("--count", type=int, default=2000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--store", action="store_true", help=f"write {PAGE.name} anew")
    chosen = options.parse_args(arguments)
    seeds = range(chosen.seed, chosen.seed + chosen.count)
    with campaigns.shared(chosen) as done:
        networks = list(done(hold, seeds))
    rows = [row for each in networks for row in each]
    if chosen.store:
        store(rows, seeds)
    held = sum(map(bool, networks))
    print(f"{held} networks held to their chains or simulations, {len(rows)} answers")
    for line in summary(rows):
        print(line)
    wrong = [row for row in rows if row.is_wrong]
    for row in wrong:
        print(row)
    return 1 if wrong else 0


def summary(rows: Sequence[Held]) -> Iterator[str]:
    """A line for each method: networks, and the largest errors [%] of exact and other answers."""
    by_method: dict[str, list[Held]] = defaultdict(list)
    for row in rows:
        by_method[row.method].append(row)
    yield f"{'method':18} {'exact':>7} {'worst':>9} {'stated':>7} {'worst':>9} {'wrong':>7}"
    for name, several in by_method.items():
        worst = [
            max(
                [m for one in several if one.exact is exact for m in one.missed.values()],
                default=0.0,
            )
            for exact in (True, False)
        ]
        exact = sum(one.exact for one in several)
        wrong = sum(one.is_wrong for one in several)
        yield (
            f"{name:18} {exact:7} {worst[0]:9.1e} {len(several) - exact:7} "
            f"{worst[1]:9.1f} {wrong:7}"
        )


if __name__ == "__main__":
    campaigns.run(__spec__)
