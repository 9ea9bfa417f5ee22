"""Do searches end at the same least cost from anywhere? Every form, every curve, many starts.

    python -m tests.search_ends            all 24 curves, 20 starts each (some minutes)
    python -m tests.search_ends 3 100      every third curve, 100 starts

Starts lie up to two decades to each side of where a form begins, counts up to one decade.
"""

import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np

from headway.errors import Saturated
from headway.models import Measurements, data_path
from headway.models.inference.forms import catalogue_forms, forms_for, started
from headway.models.inference.searching.posing import problem
from headway.models.inference.searching.search import search
from headway.models.measured.matching import match
from headway.models.signatures.sfs import curve
from headway.models.structure.forms import Load

CURVES = sorted(data_path("sfs_results").glob("curves/*.csv"))
ALIKE = 1.01
"""Times the least cost: what counts as reached."""


def least_costs(path, starts: int, names=None) -> Iterator[tuple[str, list[float]]]:
    """Each form's name, and the costs at which searches from so many starts end."""
    measurements = Measurements.read(path)
    seen = curve(measurements)
    load, time = seen.load.values, seen.response_time.values
    for form in forms_for(len(load), catalogue_forms(Load.OPEN)):
        if names is None or form.name in names:
            model, random = started(form, load, time), np.random.default_rng(5)
            models = [model, *(_elsewhere(model, form.free, random) for _ in range(starts - 1))]
            yield form.name, [_cost(each, measurements, form.free) for each in models]


def _cost(model, measurements, free) -> float:
    found = match(model, measurements)
    try:
        return search(problem(found.model, found, free, measurements.source)).cost
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


def main(every: int = 1, starts: int = 20) -> None:
    """Print how many searches of each form end above the least cost."""
    tried: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for path in CURVES[::every]:
        for name, costs in least_costs(path, starts):
            tried[name] += len(costs)
            lost[name] += missed(costs)
    for name, count in tried.items():
        print(f"{name:28} {count - lost[name]} of {count}")
    print(f"{'all':28} {tried.total() - lost.total()} of {tried.total()}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
