"""Errors of random order at two queues: three closed classes compared with their whole chains.

``python -m tests.campaigns.random_order`` solves again the chains whose answers
`tests/data/random_order.csv` stores: the sixty networks of "random order, 3 classes at two queues"
of `tests.campaigns.order_errors`, drawn from seed 0. The tests solve the networks approximately,
and recompute from that file what docs/accuracy/classes-and-orders.md says about them.

No constant or label names it; docs/accuracy/classes-and-orders.md has its figures.
"""

from pathlib import Path

import numpy as np

from headway.queueing import Method
from tests.campaigns import stored_or_simulated, stored_rows
from tests.campaigns.order_errors import FAMILIES, LEAST, drawn, solved
from tests.oracles.order_chain import solve_orders

NAME = "random order, 3 classes at two queues"
PAGE = Path("tests/data/random_order.csv")
TITLES = ("draw", "class", "throughput", "response_time")
NETWORKS, SEED = 60, 0


def networks(draws):
    """The networks drawn, by the number of the draw."""
    random = np.random.default_rng(SEED)
    for draw in range(draws):
        yield draw, drawn(FAMILIES[NAME], random)


def _rows():
    kept = 0
    for draw, (stations, classes) in networks(10 * NETWORKS):
        through, length = solve_orders(stations, classes)
        if through.min() < LEAST * through.max():
            continue  # the chain lacks the digits for the slowest class
        for c, (rate, jobs) in enumerate(zip(through, length.sum(axis=1), strict=True)):
            yield draw, c, f"{rate:.9g}", f"{jobs / rate:.9g}"
        kept += 1
        if kept == NETWORKS:
            return


def stored():
    """Throughputs and response times by draw, shape (2, classes)."""
    by_name = {}
    for row in stored_rows(PAGE):
        pair = float(row["throughput"]), float(row["response_time"])
        by_name.setdefault(int(row["draw"]), []).append(pair)
    return {draw: np.array(pairs).T for draw, pairs in by_name.items()}


def errors(method=Method.AUTO):
    """Largest errors of throughputs and of response times over the classes [%], by network."""
    exact, rows = stored(), []
    for draw, (stations, classes) in networks(max(exact) + 1):
        if draw in exact:
            near = solved(stations, classes, method)
            both = np.array([near.throughput, near.response_time])
            rows.append(np.abs(both / exact[draw] - 1).max(axis=1))
    return 100 * np.array(rows).T


def line(actual):
    """The row of the page."""
    cells = (f"{v:.1f}%" for each in actual for v in (*np.percentile(each, [50, 95]), each.max()))
    return f"| {NAME} | {' | '.join(cells)} |"


def main():
    """Solve again, or only print what the file contains."""
    stored_or_simulated(__doc__, PAGE, TITLES, _rows)
    print(line(errors()))


if __name__ == "__main__":
    main()
