"""How often bands at 90% of saturation contain the truth, by law of arrivals and number of servers.

``python -m tests.campaigns.arrival_bands [CURVES]`` makes curves of GI/M/c at 10% to 70% of
saturation, with errors of 2%, and fits them with what is known about their arrivals.
"""

import sys

import numpy as np

from headway.models import Measurements
from headway.models.inference.server import choose_form
from headway.models.reading.hints import Hints
from headway.queueing.renewals.waits import renewal_wait

SCVS = (0.0, 0.5, 1.0)
SERVERS = (1, 2, 4, 16)
LOADS = np.arange(0.1, 0.75, 0.1)
ASKED = 0.9
NOISE = 0.02
SERVICE, DELAY = 10e-3, 2e-3


def response_time(load: float, servers: int, scv: float) -> float:
    """Mean response time of GI/M/c at a utilisation [s]."""
    wait = renewal_wait(load * servers / SERVICE, SERVICE, servers, scv).mean
    return DELAY + SERVICE + float(wait)


def holds(servers: int, scv: float, seed: int) -> bool:
    """Whether the band of one curve contains the true response time."""
    random = np.random.default_rng([seed, servers, int(10 * scv)])
    times = [response_time(load, servers, scv) * random.lognormal(0, NOISE) for load in LOADS]
    rates = LOADS * servers / SERVICE
    table = Measurements.from_columns(rates.tolist(), times, source="curve")
    fit = choose_form(Hints(arrivals=str(scv)).of(table))
    low, _, high = fit.predict([ASKED * servers / SERVICE]).response_time[:, 0]
    return bool(low <= response_time(ASKED, servers, scv) <= high)


def main(curves: int) -> None:
    """Print the share of bands that do, by scv and servers."""
    for scv in SCVS:
        for servers in SERVERS:
            held = sum(holds(servers, scv, seed) for seed in range(curves))
            print(f"scv {scv:g}, {servers} servers: {held} of {curves} hold", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
