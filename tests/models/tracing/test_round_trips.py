"""What the page on models of traces says of the campaign's stored rows."""

from pathlib import Path

from tests.campaigns.trace_round_trips import PAGE, documented


def test_the_pages_tables_are_of_the_stored_rows() -> None:
    text = (Path(__file__).parents[3] / PAGE).read_text()
    assert text.count("--stored`") >= 3
    assert documented(text) == text
