"""Figures printed in textbooks and reports; each row of the CSV names its source."""

import csv
import json
import re

import numpy as np
import pytest

from headway import queueing
from headway.queueing import (
    MM1,
    Delay,
    JobClass,
    MMm,
    ServiceKind,
    SharedStation,
    geometric_bounds,
    solve_closed,
    solve_multiclass,
)
from tests.support.places import DATA

TABLE = DATA / "queueing_oracles.csv"
ROWS = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))


def station(service_time, servers):
    if servers == 0:
        return Delay(service_time)
    return MM1(service_time) if servers == 1 else MMm(service_time, servers)


def solved_closed(model):
    stations = [
        station(*pair) for pair in zip(model["service_times"], model["servers"], strict=True)
    ]
    think_time = model.get("think_time", 0.0)
    return solve_closed(stations, model["visits"], model["population"], think_time)


def solved_multiclass(model):
    stations = [
        SharedStation(
            f"s{k}",
            model["service_times"][k],
            model["visits"][k],
            ServiceKind.QUEUE if servers else ServiceKind.DELAY,
            servers or 1,
        )
        for k, servers in enumerate(model["servers"])
    ]
    classes = [JobClass(str(c), **row) for c, row in enumerate(model["classes"])]
    return solve_multiclass(stations, classes)


def solved_geometric(model):
    return geometric_bounds(model["demands"], model["population"], model["think_time"])


class SolvedStation:
    def __init__(self, model):
        self._station = getattr(queueing, model["kind"])(**model["parameters"])
        self._rate = model["arrival_rate"]

    def __getattr__(self, name):
        if name == "waiting_number":
            return self._rate * self._station.waiting_time(self._rate)
        return getattr(self._station, name)(self._rate)


SOLVERS = {
    "closed": solved_closed,
    "multiclass": solved_multiclass,
    "geometric": solved_geometric,
    "station": SolvedStation,
}


@pytest.mark.parametrize("row", ROWS, ids=[f"{r['case']} {r['quantity']}" for r in ROWS])
def test_printed_figure(row):
    solution = SOLVERS[row["kind"]](json.loads(row["model"]))
    name, position = re.fullmatch(r"(\w+)(?:\[([\d,]+)\])?", row["quantity"]).groups()

    values = np.asarray(getattr(solution, name))
    values = values[tuple(int(i) for i in position.split(","))] if position else values

    # The tolerance is about one unit of the last printed digit.
    assert values == pytest.approx(float(row["value"]), abs=float(row["tolerance"]))


def test_every_row_names_its_source():
    assert len({row["case"] for row in ROWS}) >= 20
    assert len(ROWS) >= 60
    assert all(row["source"] for row in ROWS)
