"""Published tables as rows of text, so that a number keeps the digits it was printed with."""

import csv
from typing import TypeAlias

from headway.models.files.shipped import data_path

Row: TypeAlias = dict[str, str]


def rows(name: str) -> list[Row]:
    """The rows of a table, such as ``io_node_compute/table_3_barriers``.

    Examples
    --------
    >>> rows("io_node_compute/table_4_measured_execution")[0]["run_time_s"]
    '89.2'
    """
    with data_path(f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
