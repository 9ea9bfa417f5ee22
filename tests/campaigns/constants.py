"""Effect of the measured constants of approximations: errors with other values of them.

``python -m tests.campaigns.constants`` lists the constants, and ``python -m
tests.campaigns.constants tandems`` prints a table: for each value of a constant, the root mean
square and the largest error [%] over simulations that other campaigns have stored. No value is
fitted here; `tests/queueing/test_constants.py` checks that the one in use is near the best.

Constants or labels of `headway.queueing.forks.fork`, `headway.queueing.forks.sharing`,
`headway.queueing.order_statistics.alike`, `headway.queueing.variability.flows`,
`headway.queueing.variability.returns` and `headway.queueing.variability.tandems` rest on it.
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from unittest.mock import patch

import numpy as np

from headway.queueing.stations import forked
from tests.campaigns import fork_errors, general_networks, unlike_forks


@dataclass(frozen=True)
class Constant:
    """Constants of a module, other values for them, and the errors [%] of what uses them."""

    module: str
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    errors: Callable[[], dict[str, np.ndarray]]

    def used(self):
        """The values in use."""
        module = import_module(self.module)
        return tuple(getattr(module, name) for name in self.names)

    def missed(self, values):
        """Errors with these values, by kind."""
        with ExitStack() as patches:
            for name, value in zip(self.names, values, strict=True):
                patches.enter_context(patch(f"{self.module}.{name}", value))
            return self.errors()

    def rows(self) -> Iterator[str]:
        """The table."""
        yield f"| {' | '.join(self.names)} | of | root mean square | largest |"
        yield "|" + "---|" * (len(self.names) + 3)
        for values in self.values:
            for kind, missed in self.missed(values).items():
                cells = [*(f"{value:g}" for value in values), kind]
                root, most = np.sqrt(np.nanmean(missed**2)), np.nanmax(np.abs(missed))
                yield f"| {' | '.join(cells)} | {root:.2f} | {most:.1f} |"


def _means(*families):
    """Errors of mean response times of open networks by two moments."""
    rows = [row for row in general_networks.stored() if row.family in families]
    return {"mean response times": np.array([row.mean_error() for row in rows])}


def _forks(columns):
    """Errors of forks with unlike branches."""
    missed = 100 * unlike_forks.errors(unlike_forks.stored())
    return {kind: missed[:, column] for kind, column in columns.items()}


def _alike():
    """Errors of forks of like branches by two moments, over all simulated ones."""
    with patch.object(
        forked, "has_mixture", lambda n, scv: np.zeros(np.broadcast(n, scv).shape, bool)
    ):
        missed = 100 * fork_errors.errors(fork_errors.stored())
    return {"median": missed[:, 1], "99th percentile": missed[:, 2]}


def _one(*values):
    return tuple((value,) for value in values)


STEADY = "steady", "steady pools"
FLOWS = "headway.queueing.variability"
CONSTANTS = {
    "tandems": Constant(
        f"{FLOWS}.tandems",
        ("_VARYING",),
        _one(0.05, 0.1, 0.15, 0.19, 0.25, 0.3, 0.4, 1e9),
        lambda: _means(*STEADY),
    ),
    "tandem ends": Constant(
        f"{FLOWS}.tandems", ("_MOST_VARYING",), _one(0, 0.2, 0.4, 0.6, 1), lambda: _means(*STEADY)
    ),
    "flows": Constant(f"{FLOWS}.flows", ("_TIMES",), _one(0, 1, 2, 3), lambda: _means("loops")),
    "returns": Constant(
        f"{FLOWS}.returns", ("_POWER",), _one(0.5, 1, 1.5, 2, 3, 4, 8), lambda: _means("loops")
    ),
    "alike variance": Constant(
        "headway.queueing.order_statistics.alike",
        ("_FACTOR",),
        _one(0.4, 0.5, 0.6, 0.7, 0.8),
        _alike,
    ),
    "alike waits": Constant(
        "headway.queueing.order_statistics.alike", ("_UNLIKE",), _one(0.5, 1, 1.5, 2, 3), _alike
    ),
    "alike share": Constant(
        "headway.queueing.order_statistics.alike", ("_SOME",), _one(0.8, 0.9, 0.95, 0.99), _alike
    ),
    "fork spread": Constant(
        "headway.queueing.forks.fork",
        ("_NEARER", "_FACTOR"),
        (
            *((near, 0.6) for near in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)),
            *((4.0, share) for share in (0.4, 0.5, 0.7, 0.8)),
        ),
        lambda: _forks({"median": 4, "99th percentile": 5}),
    ),
    "fork likeness": Constant(
        "headway.queueing.forks.sharing",
        ("_ALIKE",),
        _one(0.01, 0.03, 0.1, 0.3, 1),
        lambda: _forks({"mean": 3}),
    ),
    "fork correlation": Constant(
        "headway.queueing.forks.sharing",
        ("_MOST_SHARED",),
        _one(0.95, 0.97, 0.985, 0.99),
        lambda: _forks({"mean": 3}),
    ),
}


def main():
    """Print a table, or the names of the constants."""
    options = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    options.add_argument("name", nargs="*", help="of the constants")
    name = " ".join(options.parse_args().name)
    if name:
        print(*CONSTANTS[name].rows(), sep="\n")
        return
    for name, constant in CONSTANTS.items():
        print(f"{name}: {', '.join(constant.names)} of {constant.module}")


if __name__ == "__main__":
    main()
