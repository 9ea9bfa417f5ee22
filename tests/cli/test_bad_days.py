"""Days, retries and autoscalers that are refused by the command: one line, what and how to mend."""

import pytest

from tests.support.command import refusal

POOL = """name = "pool"
[parameters]
n = 2
[stations.cpu]
kind = "MMm"
service_time = "10 ms"
servers = "n"
"""
TWO = (
    POOL
    + """[stations.db]
kind = "MM1"
service_time = "2 ms"
[[routes]]
from = "cpu"
to = "db"
"""
)
LIMITED = TWO.replace('"MM1"', '"MM1K"\ncapacity = 4')
SCALED = POOL + '[autoscaler]\nscales = "n"\ntarget = "60%"\nmaximum = 4\n'
DAY = "time,rate\n0,50\n60,90\n"


def clients(text, model=POOL):
    """A model whose clients give up."""
    return f"{model}[arrivals]\ncpu = {{ {text} }}\n"


@pytest.mark.parametrize(
    ("model", "day", "options", "words"),
    [
        (POOL, "time,rate\n0,5\n60,6\n30,7\n", (), "d.csv:4: the time goes backwards"),
        (POOL, "time,rate\n0,5\n60,6\n120,5\n180,5\n360,7\n420,8\n", (), "d.csv:6: "),
        (POOL, "time,rate\n0,5\n60,-6\n", (), "the rate is '-6'; it must be a number, 0 or more"),
        (POOL, "time,rate\n0,5\n60,nan\n", (), "the rate is 'nan'"),
        (POOL, "time,rate\n0,5\n", (), "has one row; a rate that changes needs two or more"),
        (POOL, "time,rate\n", (), "has a header but no rows"),
        (
            POOL,
            "start,end,rate\n0,60,5\n90,120,6\n",
            (),
            "d.csv:3: a gap: starts 30 s after the row before ends; let each period end where the "
            "next one starts",
        ),
        (
            POOL,
            "from,to,rate\n0,60,5\n50,120,6\n",
            (),
            "d.csv:3: an overlap: starts 10 s before the row before ends",
        ),
        (
            POOL,
            "start_min,end_min,rate\n0,1,5\n1,1,6\n",
            (),
            "d.csv:3: the period ends no later than it starts",
        ),
        (
            POOL,
            "time,rate\n2026-10-25 01:00,5\n2026-10-25 02:00,6\n2026-10-25 02:00,7\n",
            (),
            "d.csv:4: the time is the same as in the row before; sort the rows, and give each time "
            "once; where clocks change, give each time its zone, as in 2026-10-25T02:00:00+01:00",
        ),
        (
            POOL,
            "time,rate\n" + "".join(f"2026-03-29 {hour:02d}:00,5\n" for hour in (0, 1, 3, 4, 5, 6)),
            (),
            "fill it in; where clocks change, give each time its zone",
        ),
        (POOL, "time,rate_per_day\n0,5\n60,6\n", (), "has a unit that headway does not know"),
        (POOL, "", (), "it needs a header such as time_s,rate_per_s"),
        (POOL, DAY, ("--every", "9h"), "no longer than the day"),
        (POOL, DAY, ("--start", "full"), "steady, empty, or backlog=N"),
        (POOL.replace("n = 2", "n = 2\npopulation = 5"), DAY, (), "solve it at its highest load"),
        (TWO, DAY, ("--method", "forward"), "use method fluid or simulation"),
        (
            clients('timeout = "1 s", retries = 2', TWO),
            DAY,
            ("--method", "fluid"),
            "use method simulation",
        ),
        (
            LIMITED,
            "time,rate\n0,50\n36000,90\n72000,400\n",
            (),
            "no formula over time covers 2 queues (cpu, db) with places at db and a load above a "
            "capacity; use method simulation",
        ),
        (LIMITED, DAY, ("--method", "fluid"), "queues without a limit; use method simulation"),
        (clients("retries = 3"), DAY, (), "m.toml:9 [arrivals.cpu]: retries need a timeout"),
        (clients('retries = "n"'), DAY, (), "m.toml:9 [arrivals.cpu]: retries need a timeout"),
        (
            SCALED + 'interval = "1 h"\n',
            DAY,
            (),
            "autoscaler: its interval of 3600 s is not shorter than the day of 120 s, so it "
            "never looks; give a shorter interval or a longer day",
        ),
        (SCALED + 'interval = "2 min"\n', DAY, ("--method", "simulation"), "it never looks"),
        (clients('timeout = "1 s", retries = -1'), DAY, (), "m.toml:9 [arrivals.cpu]: retries is"),
        (
            clients('timeout = "1 s", retries = "n"'),
            DAY,
            ("--set", "n=-2"),
            "clients of the arrivals: retries is -2; it must be a whole number of 0 or more (n = "
            "-2)",
        ),
        (
            SCALED + 'minimum = "n"\n',
            DAY,
            ("--set", "n=7"),
            "autoscaler: minimum is 7, above the maximum of 4; swap them (n = 7)",
        ),
        (
            SCALED.replace('servers = "n"', "servers = 3"),
            DAY,
            (),
            "autoscaler: it scales n, and cpu serves the same with 1 and with 4 of them; write "
            'servers = "n" there',
        ),
        (clients('timeout = "1 s", retries = 3, retry_budget = "150%"'), DAY, (), "0 to 100%"),
        (
            POOL + '[arrivals.cpu]\nrates = { "0 s" = 5, "1 min" = 9 }\nperiod = "30 s"\n',
            DAY,
            (),
            "the period of rates must be finite, and longer than the last of their times",
        ),
        (
            POOL.replace("n = 2", 't = "0 s"').replace('"n"', '"where(t < 60, 3, 0)"'),
            DAY,
            (),
            "from t = 60 s on cpu: servers is 0; it must be a whole number of 1 or more; let its "
            "formula of t last as long as the load, to 120 s",
        ),
        (SCALED + "minimum = 9\n", DAY, (), "minimum is 9, above the maximum of 4; swap them"),
        (SCALED + 'asks_for = "seen * pods"\n', DAY, (), "'pods' is not a parameter; there are"),
        (SCALED + 'asks_for = "0 / 0 * seen"\n', DAY, (), "asks_for is not a number where"),
        (SCALED + "start_delay = { scv = 1 }\n", DAY, (), "{ mean = time, scv = number }"),
        (
            TWO + SCALED[len(POOL) :],
            DAY,
            ("--method", "forward"),
            "method forward follows one queue, and there are 2 (cpu, db), also under an "
            "autoscaler; use method simulation",
        ),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(model, day, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_text(model, encoding="utf-8")
    (tmp_path / "d.csv").write_text(day, encoding="utf-8")
    assert words in refusal("solve", "m.toml", "--over", "d.csv", *options)


def test_a_network_whose_clients_give_up_is_left_to_a_simulation(tmp_path):
    path = tmp_path / "m.toml"
    two = TWO.replace("n = 2", 'n = 2\narrival_rate = "50/s"')
    path.write_text(clients('timeout = "100 ms", retries = 2', two), encoding="utf-8")
    assert "simulate" in refusal("retries", str(path))
