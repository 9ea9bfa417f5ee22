"""`headway signature loggp`: files in, lines, breaks, machines and refusals out."""

import json

import numpy as np
import pytest

from tests.support.command import headway, refusal


def series_text(noise=0.0, repeats=1, seed=0, unit="us"):
    random = np.random.default_rng(seed)
    sizes = np.unique((2 ** np.arange(0, 22, 0.5)).round())
    truth = np.where(sizes <= 16384, 10 + sizes / 1000, 60 + sizes / 1500)
    lines = [
        f"{int(size)},{time * (1 + noise * random.standard_normal()):.9g}"
        for _ in range(repeats)
        for size, time in zip(sizes, truth, strict=True)
    ]
    return "\n".join([f"size_bytes,time_{unit}", *lines]) + "\n"


def netgauge_text(send=3.0, receive=2.0, latency=10.0):
    head = "# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)"
    rows = []
    for size in (1 + 1024 * np.arange(32)).tolist():
        one = 2 * (send + latency + receive + 0.001 * (size - 1))
        gap = 5 + 0.001 * (size - 1)
        spaced = one + 9 * (one + send)
        numbers = (size, 10, one, one + 9 * gap, spaced, one / 2, send, receive, 5, 0.001, 0.1)
        rows.append(" ".join(f"{number:.12g}" for number in numbers))
    return "\n".join([head, *rows]) + "\n"


def test_breaks_and_lines_of_a_series(write):
    path = write(series_text(0.03, 5))

    document = json.loads(headway("signature", "loggp", path, "--json").out)

    (brink,) = document["breaks"]
    assert brink["below"] == 16384
    assert brink["interval"][0] <= 16384 <= brink["interval"][1]
    first, second = document["series"]["time"]["lines"]
    # truths: 10 us and 1 ns/B, then 60 us and 2/3 ns/B; 3% noise over twenty sizes
    assert first["intercept"]["value"] == pytest.approx(10e-6, rel=0.03)
    assert second["slope"]["value"] == pytest.approx(1e-9 / 1.5, rel=0.05)
    assert second["intercept"]["ci95"][0] < 60e-6 < second["intercept"]["ci95"][1]


def test_pinned_break_and_csv(write):
    path = write(series_text(0.01, 3))

    result = headway("signature", "loggp", path, "--pin", "64KiB")
    rows = headway("signature", "loggp", path, "--pin", "64KiB", "--csv").out.splitlines()

    assert "pinned" in result.out
    assert len(rows) == 1 + 3
    assert rows[0].startswith("series,first_size_bytes,last_size_bytes,intercept_s")
    assert "pinned breaks 1 B leave only 1 size on one line" in refusal(
        "signature", "loggp", path, "--pin", "1B"
    )
    assert "needs data" in refusal("signature", "loggp", path, "--pin", "3us")


def test_netgauge_gives_a_machine_in_the_papers_convention(write):
    path = write(netgauge_text(), "netgauge.out")

    document = json.loads(headway("signature", "loggp", path, "--json").out)
    table = headway("signature", "loggp", path).out

    (regime,) = document["regimes"]
    # twelve digits in the file, and differences of numbers ten times as large
    assert regime["latency"] == pytest.approx(10e-6, rel=1e-8)
    assert regime["send_overhead"] == pytest.approx(3e-6, rel=1e-8)
    assert regime["receive_overhead"] == pytest.approx(2e-6, rel=1e-8)
    assert regime["gap"] == pytest.approx(5e-6, rel=1e-8)
    assert regime["gap_per_byte"] == pytest.approx(1e-9, rel=1e-8)
    assert "papers' convention" in table


def test_what_is_not_determined_is_said_and_never_negative(write):
    flat = netgauge_text(latency=-4.0)  # half the round trip is less than the overheads
    path = write(flat, "netgauge.out")

    document = json.loads(headway("signature", "loggp", path, "--json").out)
    table = headway("signature", "loggp", path).out

    assert document["regimes"][0]["latency"] is None
    assert "these data do not determine the latency at 1 B" in " ".join(table.split())
    lines = document["series"]["send_overhead"]["lines"]
    assert lines[0]["slope"]["value"] is None
    assert "not determined by this" in table
    assert "-" not in json.dumps(document["series"]).replace("e-", "e")


@pytest.mark.parametrize("repeats", [1, 4])
def test_series_that_no_line_follows_are_told(repeats, write):
    """One size takes five times what its neighbours do in every run: no line of three holds."""
    random = np.random.default_rng(2)
    lines = [
        f"{size},{(5 + size / 100) * (5 if size == 512 else 1) * random.normal(1, 0.01):.9g}"
        for _ in range(repeats)
        for size in 2 ** np.arange(4, 16)
    ]
    path = write("size_bytes,time_us\n" + "\n".join(lines) + "\n")
    arguments = ("signature", "loggp", path)

    document = json.loads(headway(*arguments, "--json").out)
    rows = headway(*arguments, "--csv").out.splitlines()

    (warning,) = document["warnings"]
    assert warning.startswith("lack of fit: the lines miss time at ")
    assert document["series"]["time"]["lack_of_fit"]["detected"] is True
    assert rows[0].endswith(",lack_of_fit")
    assert {row.rsplit(",", 1)[-1] for row in rows[1:]} == {"yes"}
    assert "lack of fit" in headway(*arguments).out


@pytest.mark.parametrize(("noise", "repeats"), [(0.03, 5), (0.1, 2), (0.03, 1)])
def test_series_on_lines_are_not_told_of(noise, repeats, write):
    for seed in range(5):
        path = write(series_text(noise, repeats, seed))

        document = json.loads(headway("signature", "loggp", path, "--json").out)

        assert document["warnings"] == []


BAD_SERIES = [
    ("size_bytes,time\n1,5\n2,6\n4,7\n", "it must be size_bytes and one of time_s"),
    ("size_bytes,time_us\n0,5\n1,6\n2,7\n", "data.csv:2: size is 0"),
    ("size_bytes,time_us\n1,-5\n1,6\n2,7\n", "data.csv:2: time is -5"),
    ("size_bytes,time_us\n1,5\n2,6\n", "needs at least 3"),
    ("size_bytes,time_us\n1,x\n", "data.csv:2: 'x' is not a number"),
    ("", "data.csv: is empty"),
    ("# size n PRTT(1,0,s)\n# nothing else\n", "contains no measurements"),
    ("# nothing\n# at all\n", "data.csv: contains only comments; give Netgauge's output or"),
    (
        "size_bytes,time_us\n" + "".join(f"{2**k},{100 - 6 * k}\n" for k in range(12)),
        "a longer message cannot take less time",
    ),
]


@pytest.mark.parametrize(("text", "words"), BAD_SERIES)
def test_bad_series(text, words, write):
    message = refusal("signature", "loggp", write(text))

    assert words in message
    assert "data.csv" in message


def test_pictures_are_written(write, tmp_path):
    series = write(series_text(0.02, 3))

    result = headway("signature", "loggp", series, "--plot", tmp_path / "sizes.svg")

    text = (tmp_path / "sizes.svg").read_text()
    assert result.code == 0
    assert "message size [B]" in text
    assert "pictures end in" in refusal("signature", "loggp", series, "--plot", "sizes.bmp")
