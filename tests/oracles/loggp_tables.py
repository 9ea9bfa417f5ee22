"""The published tables of programs, errata put right in one place and nowhere else."""

import csv

from tests.support.places import ROOT

DATA = ROOT / "models/data/network_sensitivity"

OVERHEADS = (2.9, 3.9, 4.9, 6.9, 7.9, 12.9, 22.9, 52.9, 102.9)  # Table B.2; 3.3 rounds them
GAPS = (5.8, 8.3, 10.8, 15.8, 30.8, 55.8, 80.8, 105.8)  # Table B.3; 3.4 rounds them
EXCHANGED = "Connect"  # measured and predicted columns of Tables 3.3 and 3.4


def rows(name):
    with (DATA / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def value(text):
    return float(text) if text else None


def half_unit(text):
    """Half a unit of a printed number's last digit."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


PROGRAMS = {row["program"]: row for row in rows("table_3_2_split_c_communication")}
PRINTED_BASES = {
    row["program"]: row["run_time_s"]
    for row in rows("table_3_1_split_c_applications")
    if row["nodes"] == "32"
}
BASES = {program: float(text) for program, text in PRINTED_BASES.items()}


def busiest(program):
    return float(PROGRAMS[program]["max_messages_per_processor"])


def interval(program):
    return float(PROGRAMS[program]["message_interval_us"]) * 1e-6


def cells(table, program, levels):
    """(level [us], measured text, predicted text), Connect's columns put right."""
    chosen = [row for row in rows(table) if row["program"] == program]
    keys = ["measured_run_time_s", "published_prediction_s"]
    if program == EXCHANGED:
        keys.reverse()
    return [(level, row[keys[0]], row[keys[1]]) for level, row in zip(levels, chosen, strict=True)]


def overhead_cells(program):
    return cells("table_3_3_overhead_predictions", program, OVERHEADS)


def gap_cells(program):
    return cells("table_3_4_gap_predictions", program, GAPS)
