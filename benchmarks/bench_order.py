"""The order of the steps of a large model, headway's own against the standard library's.

Run with ``python -m pytest benchmarks/bench_order.py``. It prints a ratio of processor times within
one run: `headway.models.structure.planning.plan` orders names depth first, which follows few of
them twice, where `graphlib.TopologicalSorter` makes an object for each, with its predecessors.
"""

from graphlib import TopologicalSorter

from timing import least

from headway.models import ModelGraph
from headway.models.structure.planning.plan import in_order
from headway.models.structure.planning.steps import all_steps
from headway.queueing import MM1

STATIONS = 3_500


def test_the_order_of_steps(capsys):
    graph = ModelGraph("row")
    for k in range(STATIONS):
        graph = graph.station(f"s{k}", MM1(1e-4))
    for k in range(1, STATIONS):
        graph = graph.route(f"s{k - 1}", f"s{k}")
    needs = {step.key: step.needs for step in all_steps(graph)}

    ours = least(lambda: in_order(graph.name, needs), rounds=5)
    theirs = least(lambda: [*TopologicalSorter(needs).static_order()], rounds=5)

    with capsys.disabled():
        print(
            f"\n{len(needs):,} names in order: {ours * 1e3:.0f} ms, graphlib: "
            f"{theirs * 1e3:.0f} ms, ratio {theirs / ours:.1f}"
        )
