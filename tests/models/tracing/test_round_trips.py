"""What the page on models of traces says of the campaign's stored rows."""

import re
from pathlib import Path

from tests.campaigns.trace_round_trips import seeds_of, stored, table

PAGE = Path(__file__).parents[3] / "docs/accuracy/traces.md"


def test_the_pages_tables_are_of_the_stored_rows() -> None:
    text = PAGE.read_text()
    shown = re.findall(
        r"--count ([\d ]+) --first ([\d ]+)[^`]*--stored`.*?```text\n(.*?)\n```", text, re.DOTALL
    )
    assert shown
    rows = stored()
    for counts, firsts, lines in shown:
        seeds = seeds_of(*([int(each) for each in many.split()] for many in (counts, firsts)))
        assert {seed for seed, _ in rows} >= {*seeds}
        assert table([each for seed, each in rows if seed in seeds]) == lines.split("\n")
