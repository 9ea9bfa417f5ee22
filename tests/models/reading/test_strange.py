"""Files that hold no measurements are refused with what they look like."""

import pytest

from headway.errors import MeasurementError
from headway.models import Measurements
from headway.models.reading.recognise import read_measurements


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x89PNG\r\n\x1a\n\0\xff", "looks like a picture (PNG)"),
        (b"%PDF-1.7\n\xe2\xe3", "looks like a PDF document; save its table as text or CSV"),
        (b"\x7fELF\2\1\xff", "looks like a program"),
        (b"\0\1\2\xff", "looks like binary data"),
        (b"d\xe9bit\n1\n", "looks like text in another encoding; save it as UTF-8"),
        (b"2026-11-29 10:00:00 INFO up\n2026-11-29 10:00:01 WARN slow, again\n",
         "looks like a log, not like a table with a header such as throughput_ops_s,response_ms "
         "(line 2: 2 cells, but the header names 1 column)"),
        (b"127.0.0.1 - - [29/Nov/2026:10:00:00 +0000] GET /\n::1 - - [29/Nov/2026:10:00:01 +0000]"
         b" GET /a,b\n", "looks like a web server's access log"),
        (b"Dear all\nit was slow, slow, slow.\n", "looks like text without columns"),
        (b"name: shop\ntags: a, b\nreplicas: 3\n", "looks like YAML"),
        (b'{"hello": [1, 2]}', "is JSON of a kind that headway does not know"),
        (b'{"level": "info"}\n{"level": "warn"}\n', "is JSON of a kind that headway does not know"),
        (b'{"hello": [1, 2', "looks like JSON, but is invalid or truncated"),
        (b"[tool]\nname = 1, 2\n", "looks like text without columns"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_told_as_what_it_looks_like(content, said, tmp_path):
    path = tmp_path / "given"
    path.write_bytes(content)
    with pytest.raises(MeasurementError) as refused:
        read_measurements(path)
    message = str(refused.value)
    assert said in message
    assert message.endswith("headway kinds --files lists what it reads")
    assert "\n" not in message


def test_a_row_too_short_below_known_titles_is_only_that(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text("throughput_ops_s,response_ms\n100\n")
    with pytest.raises(MeasurementError, match=r"curve.csv:2: 1 cell, but the header names 2 col"):
        Measurements.read(path)
