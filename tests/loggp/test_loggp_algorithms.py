"""Laws of collective operations against schedules that are played message by message."""

import numpy as np
import pytest
import sympy

from headway.errors import InvalidParameter
from headway.loggp import (
    ALGORITHMS,
    LogGP,
    bus_factor,
    collective_time,
    two_level_time,
)
from tests.oracles.loggp_player import Net, Receive, Send, play, schedule
from tests.support.cases import mostly_slow

# -- schedules, from their descriptions ------------------------------------------------------------


def shifts(n, size, rounds, *, combine=0, first=0):
    """In each round, everybody sends a block of size / n to the next."""
    block = size // n
    return [[(p, (p + 1) % n, block, first + r < combine) for p in range(n)] for r in range(rounds)]


def doublings(n, sizes, distances, *, combine=False):
    return [
        [(p, p ^ distance, size, combine) for p in range(n)]
        for size, distance in zip(sizes, distances, strict=True)
    ]


def powers(n):
    return [2**k for k in range((n - 1).bit_length())]


def ring_all_reduce(n, size, _):
    return schedule(n, shifts(n, size, 2 * (n - 1), combine=n - 1))


def ring_reduce_scatter(n, size, _):
    return schedule(n, shifts(n, size, n - 1, combine=n))


def ring_all_gather(n, size, _):
    return schedule(n, shifts(n, size, n - 1))


def doubling_all_reduce(n, size, _):
    return schedule(n, doublings(n, [size] * len(powers(n)), powers(n), combine=True))


def halvings(n, size, *, combine):
    distances = powers(n)[::-1]
    return doublings(n, [size * d // n for d in distances], distances, combine=combine)


def gathering(n, size):
    return doublings(n, [size * d // n for d in powers(n)], powers(n))


def halving_doubling(n, size, _):
    return schedule(n, [*halvings(n, size, combine=True), *gathering(n, size)])


def recursive_halving(n, size, _):
    return schedule(n, halvings(n, size, combine=True))


def doubling_all_gather(n, size, _):
    return schedule(n, gathering(n, size))


def pairwise(n, size, _, *, combine=False):
    return schedule(
        n, [[(p, (p + k) % n, size // n, combine) for p in range(n)] for k in range(1, n)]
    )


def pairwise_reduce_scatter(n, size, _):
    return pairwise(n, size, 1, combine=True)


def bruck_all_gather(n, size, _):
    return schedule(
        n,
        [[(p, (p - d) % n, min(d, n - d) * size // n) for p in range(n)] for d in powers(n)],
    )


def bruck_all_to_all(n, size, _):
    """In each round go the blocks whose distance has that binary digit."""
    return schedule(
        n,
        [
            [(p, (p + d) % n, sum(1 for i in range(n) if i & d) * size // n) for p in range(n)]
            for d in powers(n)
        ],
    )


def binomial(n, size, *, scatter):
    """Those who have it send: half of the distance, and of what they have, in each round."""
    steps = []
    for distance in powers(n)[::-1]:
        sent = size * distance // n if scatter else size
        steps.append([(p, p + distance, sent) for p in range(0, n, 2 * distance)])
    return steps


def binomial_broadcast(n, size, _):
    return schedule(n, binomial(n, size, scatter=False))


def scatter_ring(n, size, _):
    return schedule(n, [*binomial(n, size, scatter=True), *shifts(n, size, n - 1)])


def scatter_doubling(n, size, _):
    return schedule(n, [*binomial(n, size, scatter=True), *gathering(n, size)])


def chain(n, size, chunks):
    programs = [[] for _ in range(n)]
    for k in range(chunks):
        for p in range(n):
            programs[p] += [Receive(p - 1, k)] if p else []
            programs[p] += [Send(p + 1, size // chunks, k)] if p < n - 1 else []
    return programs


def in_order(low, high, links, parent):
    """A perfect binary search tree on low to high: (parent, child) in order of sending."""
    middle = (low + high) // 2
    links.setdefault(parent, []).append(middle)
    if low < high:
        in_order(low, middle - 1, links, middle)
        in_order(middle + 1, high, links, middle)
    return links


def binary_tree(n, size, chunks):
    links = in_order(1, n - 1, {}, 0)
    parents = {child: parent for parent, several in links.items() for child in several}
    return [
        [
            task
            for k in range(chunks)
            for task in (
                *([Receive(parents[p], k)] if p else []),
                *(Send(child, size // chunks, k) for child in links.get(p, [])),
            )
        ]
        for p in range(n)
    ]


def two_trees(n):
    """The first tree on 1 to n - 1, and one shifted by 1: who is inside one is a leaf there."""
    first = in_order(1, n - 1, {}, 0)
    back = {role: (role - 2) % (n - 1) + 1 for role in range(1, n)} | {0: 0}
    second = {back[p]: [back[c] for c in several] for p, several in first.items()}
    return first, second


def inner_first(p, first, second):
    """The trees in the order in which a processor serves them: first that in which it is inside."""
    trees = (("A", first), ("B", second))
    return trees if p in first else trees[::-1]


def down(p, tree, links, size):
    parents = {child: parent for parent, several in links.items() for child in several}
    return [
        *([Receive(parents[p], (tree, "down"))] if p else []),
        *(Send(child, size // 2, (tree, "down"), lane=tree) for child in links.get(p, [])),
    ]


def double_tree_broadcast(n, size, _):
    trees = two_trees(n)
    return [
        [task for tree, links in inner_first(p, *trees) for task in down(p, tree, links, size)]
        for p in range(n)
    ]


def double_tree_all_reduce(n, size, _):
    """Leaves send up, those inside combine both children, then all goes down again."""
    first, second = trees = two_trees(n)
    programs = []
    for p in range(n):
        mine = []
        parents = [
            {child: parent for parent, several in links.items() for child in several}
            for links in trees
        ]
        if p == 0:
            for tree, links in (("B", second), ("A", first)):
                mine += [Receive(links[0][0], (tree, "up")), *down(0, tree, links, size)]
            programs.append(mine)
            continue
        named = dict(zip("AB", zip(trees, parents, strict=True), strict=True))
        leaves = [t for t in "BA" if p not in named[t][0]]
        inner = [t for t in "BA" if p in named[t][0]]
        mine += [Send(named[t][1][p], size // 2, (t, "up"), lane=t) for t in leaves]
        for t in inner:
            links, up = named[t]
            mine += [Receive(child, (t, "up")) for child in sorted(links[p])]
            mine.append(Send(up[p], size // 2, (t, "up"), lane=t))
            mine += down(p, t, links, size)
        for t in leaves:
            mine += down(p, t, named[t][0], size)
        programs.append(mine)
    return programs


PLAYED = {
    ("all-reduce", "ring"): ring_all_reduce,
    ("all-reduce", "recursive doubling"): doubling_all_reduce,
    ("all-reduce", "halving and doubling"): halving_doubling,
    ("all-reduce", "double binary tree"): double_tree_all_reduce,
    ("reduce-scatter", "ring"): ring_reduce_scatter,
    ("reduce-scatter", "recursive halving"): recursive_halving,
    ("reduce-scatter", "pairwise"): pairwise_reduce_scatter,
    ("all-gather", "ring"): ring_all_gather,
    ("all-gather", "recursive doubling"): doubling_all_gather,
    ("all-gather", "Bruck"): bruck_all_gather,
    ("all-to-all", "pairwise"): pairwise,
    ("all-to-all", "Bruck"): bruck_all_to_all,
    ("broadcast", "binomial tree"): binomial_broadcast,
    ("broadcast", "scatter and ring"): scatter_ring,
    ("broadcast", "scatter and recursive doubling"): scatter_doubling,
    ("broadcast", "chain"): chain,
    ("broadcast", "binary tree"): binary_tree,
    ("broadcast", "double binary tree"): double_tree_broadcast,
}

# -- against the laws ------------------------------------------------------------------------------


def random_case(row, seed, *, combines=False):
    """A machine of whole numbers, and n, S and k in the domain of a row."""
    random = np.random.default_rng(seed)
    words = " ".join(need.words for need in row.needs)
    n = int(random.integers(2, 21))
    if "power of two" in words:
        n = 2 ** int(random.integers(2 if "at least 4" in words else 1, 6))
    k = int(random.integers(1, 9)) if "chunks divides" in words else 1
    size = n * k * 2 * int(random.integers(1, 60))
    latency, send, receive, gap, byte, combine = map(
        int, random.integers((0, 1, 1, 0, 0, 1), (40, 9, 9, 60, 4, 5))
    )
    if combines or "a gap" in words:
        gap = min(gap, latency + send + receive)
    return n, size, k, Net(latency, send, receive, gap, byte, combine if combines else 0)


def machine(net, n):
    return LogGP(net.latency, net.send, net.receive, net.gap, net.per_byte, processors=n)


SEEDS = mostly_slow([range(12), range(12, 50)], 1)


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("row", ALGORITHMS, ids=lambda row: f"{row.collective}, {row.name}")
def test_laws_are_the_times_of_their_schedules(row, seeds):
    play_of = PLAYED[row.collective, row.name]
    for seed in seeds:
        n, size, k, net = random_case(row, seed)
        expected = play(play_of(n, size, k), net)
        law = collective_time(machine(net, n), row.collective, row.name, size, k)
        assert law == pytest.approx(expected, rel=1e-12), (seed, n, size, k, net)


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize(
    "row",
    [row for row in ALGORITHMS if row.combined],
    ids=lambda row: f"{row.collective}, {row.name}",
)
def test_time_to_combine_adds_to_the_rounds(row, seeds):
    for seed in seeds:
        n, size, k, net = random_case(row, seed, combines=True)
        expected = play(PLAYED[row.collective, row.name](n, size, k), net)
        law = collective_time(
            machine(net, n), row.collective, row.name, size, k, combine_time=net.combine
        )
        assert law == pytest.approx(expected, rel=1e-12), (seed, n, size, k, net)


@pytest.mark.parametrize(
    "row", mostly_slow(ALGORITHMS, ALGORITHMS[::3]), ids=lambda row: f"{row.collective}, {row.name}"
)
def test_symbols_and_numbers_give_the_same(row):
    names = sympy.symbols("L o_s o_r g G n S k", positive=True)
    *net, n, size, k = names
    chunks = k if any("chunks divides" in need.words for need in row.needs) else 1
    law = collective_time(LogGP(*net, processors=n), row.collective, row.name, size, chunks)
    for seed in range(5):
        here, of_bytes, parts, played = random_case(row, seed)
        if row.name == "Bruck":
            here, of_bytes = 8, 8 * of_bytes
        values = dict(zip(names, (*vars_of(played), here, of_bytes, parts), strict=True))
        expected = collective_time(machine(played, here), row.collective, row.name, of_bytes, parts)
        assert float(law.subs(values)) == pytest.approx(expected, rel=1e-12)


def vars_of(net):
    return net.latency, net.send, net.receive, net.gap, net.per_byte


# -- two levels ------------------------------------------------------------------------------------


def ring_inside(nodes, per_node, size, rounds, tag, *, net, members):
    """Tasks by processor of a ring of each of several groups; members(group, place) names it."""
    tasks = {}
    groups = nodes if net == 0 else per_node
    count = per_node if net == 0 else nodes
    for group in range(groups):
        for place in range(count):
            me, after, before = (members(group, (place + d) % count) for d in (0, 1, -1))
            tasks[me] = [
                task
                for r in range(rounds)
                for task in (
                    Send(after, size // count, (tag, r), net), Receive(before, (tag, r))
                )
            ]  # fmt: skip
    return tasks


def exchange(nodes, per_node, size, tag, *, net, members):
    """Tasks by processor of a pairwise exchange in each of several groups."""
    tasks = {}
    groups, count = (nodes, per_node) if net == 0 else (per_node, nodes)
    for group in range(groups):
        for place in range(count):
            tasks[members(group, place)] = [
                task
                for k in range(1, count)
                for task in (
                    Send(members(group, (place + k) % count), size // count, (tag, k), net),
                    Receive(members(group, (place - k) % count), (tag, k)),
                )
            ]
    return tasks


def two_level_programs(collective, nodes, per_node, size):
    inside = {"net": 0, "members": lambda node, place: node * per_node + place}
    across = {"net": 1, "members": lambda place, node: node * per_node + place}
    phases = {
        "all-reduce": [
            (inside, size, 1), (across, size // per_node, 2), (inside, size, 1)
        ],
        "reduce-scatter": [(inside, size, 1), (across, size // per_node, 1)],
        "all-gather": [(across, size // per_node, 1), (inside, size, 1)],
    }  # fmt: skip
    programs = [[] for _ in range(nodes * per_node)]
    if collective == "all-to-all":
        for tag, where in enumerate((inside, across)):
            for me, several in exchange(nodes, per_node, size, tag, **where).items():
                programs[me] += several
        return programs
    for tag, (where, of_bytes, times) in enumerate(phases[collective]):
        count = per_node if where is inside else nodes
        tasks = ring_inside(nodes, per_node, of_bytes, times * (count - 1), tag, **where)
        for me, several in tasks.items():
            programs[me] += several
    return programs


@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "all-gather", "all-to-all"])
def test_two_levels_are_the_times_of_their_schedule(collective):
    for seed in range(50):
        random = np.random.default_rng(seed)
        per_node, nodes = (int(one) for one in random.integers(2, 6, 2))
        size = per_node * nodes * int(random.integers(1, 40))
        nets = [
            Net(*(int(one) for one in random.integers((0, 1, 1, 0, 0), (40, 9, 9, 60, 4))))
            for _ in range(2)
        ]
        expected = play(two_level_programs(collective, nodes, per_node, size), *nets)
        ways = ("pairwise",) * 2 if collective == "all-to-all" else ("ring",) * 2
        machines = machine(nets[0], per_node), machine(nets[1], nodes)
        law = two_level_time(*machines, collective, size, ways)
        assert law == pytest.approx(expected, rel=1e-12), (seed, per_node, nodes, size, nets)


def test_a_broadcast_goes_across_then_inside():
    """Chains: the last node's first processor has it, then those of its node one by one."""
    nets = Net(9, 2, 3, 4, 1), Net(30, 2, 3, 4, 2)
    nodes, per_node, size = 3, 4, 50
    programs = [[] for _ in range(nodes * per_node)]
    for node in range(nodes):
        for place in range(per_node):
            mine, me = programs[node * per_node + place], node * per_node + place
            if place:
                mine.append(Receive(me - 1, "inside"))
            elif node:
                mine.append(Receive(me - per_node, "across"))
            if place == 0 and node < nodes - 1:
                mine.append(Send(me + per_node, size, "across", 1))
            if place < per_node - 1:
                mine.append(Send(me + 1, size, "inside"))
    machines = machine(nets[0], per_node), machine(nets[1], nodes)
    law = two_level_time(*machines, "broadcast", size, ("chain", "chain"))
    assert law == pytest.approx(play(programs, *nets), rel=1e-12)


# -- what is refused -------------------------------------------------------------------------------

SLOW = LogGP(5.0, 1.0, 1.0, 4.0, 1.0, processors=6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("all-reduce", "ring", 64), "ring needs a size that n divides, not n = 6, S = 64 B"),
        (("all-reduce", "halving and doubling", 60), "a power of two of processors"),
        (("broadcast", "double binary tree", 60), "a power of two of processors"),
        (("broadcast", "chain", 60, 7), "a size that the number of chunks divides"),
        (("all-gather", "ring", 60, 2), "ring needs one chunk"),
        (("all-gather", "star", 60), "no algorithm 'star'; it has ring, recursive doubling, Bruck"),
        (("gossip", "ring", 60), "it must be one of all-reduce, reduce-scatter"),
        (("all-gather", "ring", -6), "size is -6; it must be a whole number of 1 or more"),
        (("all-gather", "ring", 60, 1, 1.0), "without time to combine"),
    ],
)
def test_what_is_outside_the_domain_is_refused_in_one_line(arguments, words):
    with pytest.raises(InvalidParameter, match=words) as refusal:
        collective_time(SLOW, *arguments)
    assert "\n" not in str(refusal.value)


def test_one_processor_has_nobody_to_send_to():
    with pytest.raises(InvalidParameter, match="processors is 1; it must be 2 or more"):
        collective_time(LogGP(1.0, 1.0, 1.0, 1.0, 1.0, processors=1), "all-gather", "ring", 8)


def test_time_to_combine_needs_a_short_gap():
    slow = LogGP(1.0, 1.0, 1.0, 9.0, 1.0, processors=4)
    with pytest.raises(InvalidParameter, match="at most o_s \\+ L \\+ o_r, 3"):
        collective_time(slow, "all-reduce", "ring", 8, combine_time=1.0)


def test_arrays_of_sizes_and_processors_are_points():
    sizes = np.array([64.0, 128.0])
    machine_of_both = LogGP(5.0, 1.0, 1.0, 4.0, 1.0, processors=np.array([4, 8]))
    several = collective_time(machine_of_both, "all-to-all", "Bruck", sizes)
    each = [
        collective_time(LogGP(5.0, 1.0, 1.0, 4.0, 1.0, processors=n), "all-to-all", "Bruck", size)
        for n, size in ((4, 64), (8, 128))
    ]
    assert several == pytest.approx(each)


def test_bus_bandwidth_of_a_ring_is_that_of_its_links():
    """S / T times the factor tends to 1 / G with S, for what goes round a ring."""
    fast = LogGP(5e-6, 1e-6, 1e-6, 4e-6, 1e-9, processors=8)
    for collective in ("all-reduce", "reduce-scatter", "all-gather"):
        time = collective_time(fast, collective, "ring", 2**34)
        assert bus_factor(collective, 8) * 2**34 / time == pytest.approx(1e9, rel=1e-3)
