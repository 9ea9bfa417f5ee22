"""Sizes compared with brute force: random networks, choices, costs and targets.

``python -m tests.campaigns.sizes --cases 200`` counts the answers that agree with brute force.

No constant or label names it.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from headway.errors import InvalidParameter
from headway.models import Model, ModelGraph, size_model
from headway.models.sizing.sizing import USUAL, Extent
from headway.queueing import MM1, MMm, MMmK, Parallel
from tests import campaigns

FEW = Extent(judged=300, priced=1_000_000)
"""So few are judged that bounds must exclude most configurations, or some evolve."""


@dataclass(frozen=True)
class Case:
    """A question, and its answer by brute force."""

    model: Model
    goals: tuple[str, ...]
    choose: dict[str, tuple[float, ...]]
    cost: str


def random_case(seed, most=100_000):
    """A network of one to four stations, some of whose numbers can be chosen."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 5))
    graph, values, choose, parts = ModelGraph(f"case{seed}"), {}, {}, []
    room = int(most ** (1 / count))
    kinds = ("pool", "pool", "lanes", "speed", "room")
    for k in range(count):
        # only the first station may have limited room
        kind = kinds[int(rng.integers(len(kinds) - (k > 0)))]
        graph, result = _station(graph, kind, k, rng, max(2, min(room, int(rng.integers(2, 60)))))
        choose |= result
        values[f"s{k}"] = float(rng.uniform(0.002, 0.03))
        parts.append(_price(kind, k, rng))
        if k:
            graph = graph.route(f"n{k - 1}", f"n{k}")
    rate = float(rng.uniform(30, 500))
    model = graph.at({**values, **{n: v[-1] for n, v in choose.items()}, "arrival_rate": rate})
    if most <= 2000 and rng.random() < 0.3 and not any(n.startswith("q") for n in choose):
        model = model.closed(int(rng.integers(2, 40)), 0.1)
    case = Case(model, (), choose, " + ".join(parts))
    return Case(model, _goals(case, rng), choose, case.cost)


def _station(graph, kind, k, rng, count):
    """One more station, and what can be chosen at it."""
    time, name = f"s{k}", f"n{k}"
    first = int(rng.integers(1, 6))
    whole = tuple(float(x) for x in range(first, first + count))
    if kind == "pool":
        return graph.declare(time, f"m{k}").station(name, MMm(time, f"m{k}")), {f"m{k}": whole}
    if kind == "lanes":
        return graph.declare(time, f"l{k}").station(name, Parallel(time, f"l{k}")), {f"l{k}": whole}
    if kind == "room":
        graph = graph.declare(time, f"q{k}").station(name, MMmK(time, 2, f"q{k}"))
        return graph, {f"q{k}": tuple(x + 1 for x in whole)}
    speeds = tuple(np.unique(rng.uniform(1, 20, min(count, 12)).round(2)).tolist())
    return graph.declare(time, f"v{k}").station(name, MM1(f"{time} / v{k}")), {f"v{k}": speeds}


def _price(kind, k, rng):
    """The cost of one station: in whole numbers, so that there are ties; or dearer with size."""
    each = int(rng.integers(1, 10)) * 50
    name = {"pool": "m", "lanes": "l", "room": "q", "speed": "v"}[kind] + str(k)
    forms = (f"{each}*{name}", f"{each}*{name}", f"{each}*{name}**1.5", f"{each}*(1 + {name})/2")
    return forms[int(rng.integers(len(forms)))]


def _goals(case, rng):
    """Limits that some of the configurations keep."""
    columns, solution = all_solved(case)
    kept = np.isfinite(_answers(solution, "response_time"))
    goals = []
    for output in ("response_time", "utilisation", "loss_probability", "throughput"):
        if output == "loss_probability" and output not in solution.outputs:
            continue
        if output == "throughput" and not solution.model.is_closed:
            continue
        values = _answers(solution, output)[kept]
        if values.size and (output == "response_time" or rng.random() < 0.5):
            limit = float(np.quantile(values, rng.uniform(0.02, 0.9)))
            goals.append(f"{output}{'>=' if output == 'throughput' else '<='}{limit!r}")
    del columns
    return tuple(goals) or ("utilisation<=0.9",)


def all_solved(case):
    """Every configuration as columns, and solved."""
    mesh = np.meshgrid(*case.choose.values(), indexing="ij")
    columns = {name: grid.ravel() for name, grid in zip(case.choose, mesh, strict=True)}
    return columns, case.model.at(columns).solve()


def _answers(solution, output):
    """An output by configuration; NaN where the network saturates."""
    if output == "utilisation":
        each = [np.asarray(solution[f"{name}.utilisation"]) for name in solution.stations]
        result = np.max(each, axis=0)
    else:
        result = np.asarray(solution[output], float)
    return np.where(solution.saturated, np.nan, np.broadcast_to(result, solution.shape))


def brute_force(case):
    """The cheapest configuration, its cost, the next lower cost, and costs of the front."""
    columns, solution = all_solved(case)
    costs = eval(case.cost, {}, columns) * np.ones(solution.shape)  # noqa: S307 - our own formula
    met = np.ones(solution.shape, bool)
    for goal in case.goals:
        output, _, limit = goal.replace(">=", "<=").partition("<=")
        values, bound = _answers(solution, output), float(limit)
        slack = 1e-12 * abs(bound)
        with np.errstate(invalid="ignore"):
            met &= values >= bound - slack if ">=" in goal else values <= bound + slack
    if not met.any():
        return None
    times = _answers(solution, "response_time")
    least = costs[met].min()
    tied = np.flatnonzero(met & (np.abs(costs - least) <= 1e-11 * least))
    best = int(tied[np.argmin(times[tied])])
    below = costs[costs < least * (1 - 1e-11)]
    values = {name: float(column[best]) for name, column in columns.items()}
    return values, float(least), float(below.max()) if below.size else None, _front(costs, times)


def _front(costs, times):
    """Costs of the configurations that are each 1% faster than every cheaper one."""
    kept, least = [], np.inf
    for place in np.lexsort((times, costs)):
        if np.isfinite(times[place]) and (not kept or times[place] < 0.99 * least):
            kept.append(float(costs[place]))
            least = float(times[place])
    return kept


def answer(case, extent=USUAL):
    """headway's answer; None if it says that nothing meets the targets."""
    try:
        return size_model(case.model, case.goals, case.choose, case.cost, extent=extent)
    except InvalidParameter as error:
        if "meets" not in str(error):
            raise
        return None


def agrees(case):
    """Whether headway agrees with brute force in everything."""
    solution, known = answer(case), brute_force(case)
    if solution is None or known is None:
        return solution is None and known is None
    values, cost, below, front = known
    cheaper = None if solution.cheaper is None else solution.cheaper.cost
    return (
        dict(solution.best.values) == values
        and np.isclose(solution.best.cost, cost, rtol=1e-11)
        and (cheaper == below or np.isclose(cheaper, below, rtol=1e-11))
        and len(front) == len(solution.front)
        and np.allclose([one.cost for one in solution.front], front, rtol=1e-11)
        and solution.proven
    )


def with_few(case):
    """Whether an answer that judges few is as cheap, and proven; None if it cannot be as cheap."""
    solution, known = answer(case, FEW), brute_force(case)
    if solution is None or known is None:
        return solution is None and known is None, True
    assert not solution.best.missed
    same = bool(np.isclose(solution.best.cost, known[1], rtol=1e-11))
    assert same or solution.best.cost > known[1]
    return same, solution.proven


def both(seed, most):
    """Whether an answer is that of brute force, and the same for one that judges few."""
    case = random_case(seed, most)
    return agrees(case), with_few(case)


def main():
    """Say how many answers are those of brute force."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--most", type=int, default=100_000, help="configurations of a case")
    parser.add_argument("--first", type=int, default=0, help="seed of the first case")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.cases)
    with campaigns.shared(options) as done:
        items = list(done(partial(both, most=options.most), seeds))
    right = sum(agree for agree, _ in items)
    few = [fares for _, fares in items]
    sure = [same for same, proven in few if proven]
    rest = [same for same, proven in few if not proven]
    print(f"{right} of {len(items)} answers are those of brute force")
    print(f"of those with bounds, {sum(sure)} of {len(sure)} are as cheap as brute force's")
    print(f"of those that evolved, not proven, {sum(rest)} of {len(rest)} are as cheap")
    return 0 if right == len(items) and all(sure) else 1


if __name__ == "__main__":
    campaigns.run(__spec__)
