"""Do searches end at the same least cost from anywhere? Every form, every curve, many starts.

python -m tests.campaigns.search_ends           all 24 curves, 20 starts each (some minutes)
python -m tests.campaigns.search_ends 3 100     every third curve, 100 starts
python -m tests.campaigns.search_ends 1 20 closed     tests of nginx, redis, wrk and fio by clients
python -m tests.campaigns.search_ends 1 20 offered    tests of inference servers by offered rates
python -m tests.campaigns.search_ends 1 20 simulated  curves that each form of a population made

Starts are up to two decades on each side of where a form begins; for counts, up to one decade.

No constant or label names it; docs/explanation/fitting.md has its figures.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from headway.errors import Saturated
from headway.models import Measurements, data_path
from headway.models.inference.fitting import fit_model
from headway.models.inference.form_curve import curve_for_forms
from headway.models.inference.forms import forms_for, listed_forms, started
from headway.models.reading.loadtest import read_load_test
from tests import campaigns
from tests.campaigns.form_confusion import CASES, POPULATION, curve

CURVES = sorted(data_path("sfs_results").glob("curves/*.csv"))
CLOSED = ("nginx/base.txt", "nginx/busy.txt", "nginx/think-2ms.txt", "redis/base.txt", "wrk", "fio")
OFFERED = ("vllm", "vllm_eagle", "vllm_quantization")
SEEDS = 3
ALIKE = 1.01
"""Ratio to the least cost up to which it counts as reached."""

Read = Callable[[], Measurements]


def _run(place: str) -> Measurements:
    return read_load_test([f"load_tests/{place}"]).measurements


SOURCES: dict[str, Sequence[Read]] = {
    "open": [lambda path=path: Measurements.read(path) for path in CURVES],
    "closed": [lambda place=place: _run(place) for place in CLOSED],
    "offered": [lambda name=name: _run(f"inference/{name}") for name in OFFERED],
    "simulated": [
        lambda case=case, seed=seed: curve(case, seed)
        for case in CASES
        if case.load == POPULATION
        for seed in range(SEEDS)
    ],
}


def least_costs(
    measurements: Measurements, starts: int, names=None
) -> Iterator[tuple[str, list[float]]]:
    """Each form's name, and the costs at which searches from many starts end."""
    result = curve_for_forms(measurements, None, None, listed_forms())
    for form in forms_for(len(result.load), result.forms):
        if names is None or form.name in names:
            model = started(form, result.rate, result.time)
            if result.think_time is not None:
                model = model.closed(1, result.think_time)
            random = np.random.default_rng(5)
            models = [model, *(_elsewhere(model, form.free, random) for _ in range(starts - 1))]
            limits = result.limits(form)
            yield (
                form.name,
                [_cost(each, measurements, form.free, result.columns, limits) for each in models],
            )


def _cost(model, measurements, free, columns, limits) -> float:
    try:
        return fit_model(model, measurements, free, *columns, bounds=limits).optimum.cost
    except Saturated:
        return float("inf")


def _elsewhere(model, free, random):
    values = {}
    for name in free:
        parameter, now = model.parameters[name], float(model.inputs[name])
        counted = parameter.minimum == 1
        value = now * 10 ** random.uniform(-1, 1) if counted else now * 10 ** random.uniform(-2, 2)
        value = float(
            np.clip(
                value,
                max(parameter.minimum, 1e-12),
                min(parameter.maximum, 4000 if counted else 1e6),
            )
        )
        values[name] = float(round(value)) if counted else value
    return model.at(values)


def missed(costs: list[float]) -> int:
    """How many searches end above the least cost of all."""
    return sum(cost > ALIKE * min(costs) + 1e-12 for cost in costs)


def searched(number: int, kind: str, starts: int) -> tuple[str, list[tuple[str, list[float]]]]:
    """A curve's source, and the costs of each form."""
    measurements = SOURCES[kind][number]()
    return measurements.source, list(least_costs(measurements, starts))


def main() -> None:
    """Print how many searches of each form end above the least cost, and for which curves."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("every", nargs="?", type=int, default=1, help="so many curves one is taken")
    parser.add_argument("starts", nargs="?", type=int, default=20)
    parser.add_argument("kind", nargs="?", choices=SOURCES, default="open")
    options = parser.parse_args()
    search = partial(searched, kind=options.kind, starts=options.starts)
    numbers = range(0, len(SOURCES[options.kind]), options.every)
    with campaigns.shared(options) as done:
        _print(done(search, numbers))


def _print(curves) -> None:
    tried: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for source, forms in curves:
        for name, costs in forms:
            tried[name] += len(costs)
            if count := missed(costs):
                lost[name] += count
                worst = max(costs) / min(costs)
                print(f"{source}: {name} {count} missed, at most {worst:.4g} times")
    for name, count in tried.items():
        print(f"{name:28} {count - lost[name]} of {count}")
    print(f"{'all':28} {tried.total() - lost.total()} of {tried.total()}")


if __name__ == "__main__":
    campaigns.run(__spec__)
