"""Published numbers, one CSV with the source of each."""

import csv

from tests.support.places import DATA


def oracles(name):
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
