"""A model whose good state does not last is refused with what happens, by every verb alike."""

import re

import pytest

from headway.errors import InvalidParameter, Saturated
from headway.models import ModelGraph
from headway.models.analysis.retries import retries
from headway.models.analysis.sensitivity import sensitivity
from headway.models.reports.alone import report_model
from headway.models.sizing.sizing import size_model
from headway.queueing import MMm


def server(load, **more):
    """Two servers of 10 ms; clients wait for 12 ms and ask three times again."""
    graph = ModelGraph("server").declare("servers").station("cpu", MMm(0.01, "servers"))
    graph = graph.impatient({"timeout": 0.012, "retries": 3, **more})
    return graph.at(arrival_rate=load, servers=2)


def test_each_verb_gives_the_same_reason():
    model = server(60.0)
    why = model.solve().saturation_message
    assert re.match(r"cpu: at 60 /s a good state lasts .* s, \d+ requests on average", why)
    assert why.endswith("they cannot below 50 /s, or with a retry_budget")
    for verb in (sensitivity, report_model):
        with pytest.raises(Saturated, match=re.escape(why)):
            verb(model)
    with pytest.raises(InvalidParameter, match="they cannot below 50 /s"):
        size_model(model, ["response_time<=1ms"], {"servers": [2.0]}, "servers")


@pytest.mark.parametrize(
    ("load", "why"),
    [
        (90.0, "there is no good state above 67.44 /s"),
        (250.0, "utilisation 1.25 at 250 /s; it saturates at 200 /s"),
    ],
)
def test_what_is_wrong_at_higher_loads(load, why):
    solution = server([20.0, load]).solve()
    assert solution.saturated.tolist() == [False, True]
    assert why in solution.saturation_message


@pytest.mark.parametrize(("share", "grows"), [(0.99, False), (1.02, True)])
def test_what_is_said_to_help_does(share, grows):
    """Just below the budget named no state grows; just above it one does."""
    graph = ModelGraph("server").station("cpu", MMm(0.0081, 4))
    asks = {"timeout": 0.1, "retries": 3}
    why = graph.impatient(asks).at(arrival_rate=450.0).solve().saturation_message
    limit = float(re.search(r"retry_budget below ([\d.]+)%", why)[1])
    helped = graph.impatient({**asks, "retry_budget": 1e-2 * share * limit})
    assert retries(helped.at(arrival_rate=450.0)).tipping.states[-1].grows == grows


def test_what_is_not_solved_is_not_called_saturated():
    """At 130/s attempts meet more jobs than can be followed at 4 servers of 8.1 ms, not at 6."""
    graph = ModelGraph("server").declare("servers").station("cpu", MMm(0.0081, "servers"))
    model = graph.impatient({"timeout": 0.005, "retries": 2}).at(arrival_rate=130.0, servers=6)
    found = size_model(model, ["response_time<=1s"], {"servers": [4.0, 6.0]}, "servers")
    assert found.best.values["servers"] == 6
    shown = str(found)
    assert "servers = 4: headway does not solve it; simulate" in shown
    assert "saturat" not in shown
