"""Two-moment propagation of classes with larger scvs and other laws of times: its errors.

``python -m tests.campaigns.qna_laws`` simulates again what `tests/data/qna_laws.csv` contains (some
minutes), by the events of `tests.campaigns.qna_class_errors`: networks drawn as there, but with
scvs of services and of arrivals from 0 to 8, and times that are gamma-distributed, lognormal or
hyperexponential.

Constants or labels of `headway.queueing.chains.two_moments` rest on it.
"""

from functools import partial
from pathlib import Path

import numpy as np

from tests import campaigns
from tests.campaigns.general_networks import LAWS, times_of
from tests.campaigns.qna_class_errors import (
    FAMILIES,
    JOURNEY,
    PARTS,
    SEED,
    events,
    network,
    solved,
)

PAGE = Path("tests/data/qna_laws.csv")
TITLES = ("number", "class", "mean", "half_width")
SCVS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
COUNT, VISITS, BEYOND = 60, 400_000, 1000


def drawn(number):
    """A network, and the law of its times."""
    family = tuple(FAMILIES)[number % 2]
    rates, starts, coming, onward, times, servers, serving = network(family, BEYOND + number)
    random = np.random.default_rng([SEED, 8, number])
    coming = random.choice(SCVS, coming.shape)
    serving = random.choice(SCVS, serving.shape)
    law = LAWS[number % 3]
    return (rates, starts, coming, onward, times, servers, serving), law


def simulate(number):
    """Rows of a network: mean response times of journeys, by class."""
    network, law = drawn(number)
    random = np.random.default_rng([SEED, 9, number])
    journeys = events(network, VISITS, random, partial(_times, law))[1]
    kept, rows = journeys[len(journeys) // 10 :], []
    for c in range(len(network[0])):
        own = kept[(kept[:, 0] == c) & (kept[:, 1] == JOURNEY), 2]
        parts = [part.mean() for part in np.array_split(own, PARTS)]
        half = 2.262 * np.std(parts, ddof=1) / np.sqrt(PARTS)
        rows.append((number, c, f"{own.mean():.6g}", f"{half:.6g}"))
    return rows


def _times(law, random, scv, size):
    return times_of(random, law, scv, size)


def stored():
    """Mean and half width by class, of each network."""
    found = {}
    for row in campaigns.stored_rows(PAGE):
        pair = float(row["mean"]), float(row["half_width"])
        found.setdefault(int(row["number"]), []).append(pair)
    return {number: np.array(rows) for number, rows in found.items()}


def errors(actual):
    """Errors of networks and of classes: largest utilisation, relative error, half width, law."""
    networks, journeys = [], []
    for number, rows in actual.items():
        network, law = drawn(number)
        classes = solved(network).classes
        rates, most = network[0], float(classes.utilisation.sum(axis=1).max())
        true, unsure = rows.T
        total, wide = rates @ true, np.hypot.reduce(rates * unsure)
        networks.append((law, most, rates @ classes.response_time / total - 1, wide / total))
        pairs = zip(classes.response_time / true - 1, unsure / true, strict=True)
        journeys += [(law, most, *pair) for pair in pairs]
    return networks, journeys


def main():
    """Simulate again."""
    with campaigns.shared(campaigns.parser(__doc__).parse_args()) as done:
        rows = [row for rows in done(simulate, range(COUNT)) for row in rows]
    campaigns.store(PAGE, TITLES, rows)


if __name__ == "__main__":
    campaigns.run(__spec__)
