"""Algorithms of collective operations of n processors on S bytes, with a LogGP law for each.

Most work in rounds: in each, a processor sends one message, and needs what it receives for the next
round. R rounds in which B bytes in total pass one processor take

    T = (R - 1) max(g, o_s + L + o_r) + o_s + L + o_r + (B - R) G

because a message of s bytes takes o_s + (s - 1) G + L + o_r, and a processor may send again g after
its last byte. Laws take numbers, arrays and symbols. S is the whole buffer, as benchmarks report
it: what each processor reduces, ends up with after gathering, scatters, exchanges or broadcasts.

Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
MPICH", IJHPCA 19(1), 2005, section 4; Chan, Heimlich, Purkayastha and van de Geijn, "Collective
communication: theory, practice, and experience", CCPE 19(13), 2007; Sanders, Speck and Träff,
"Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12),
2009; here with LogGP in place of their alpha + beta s.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import (
    Amount,
    Quantity,
    apply,
    check_count,
    check_domain,
    check_not_negative,
    is_symbolic,
    plain,
)
from headway.loggp.machine.conventions import in_papers
from headway.loggp.machine.messages import one_message_time
from headway.loggp.machine.parameters import LogGP
from headway.numerals import digits
from headway.records import dataclass


class Collective(StrEnum):
    """What an operation does with the data of n processors."""

    ALL_REDUCE = "all-reduce"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_GATHER = "all-gather"
    ALL_TO_ALL = "all-to-all"
    BROADCAST = "broadcast"


def bus_factor(collective: Collective, processors: Quantity) -> Amount:
    """Bytes on the busiest link for each byte of S: bus bandwidth is S / T times this.

    2 (n - 1) / n for an all-reduce; (n - 1) / n to reduce and scatter, gather, or exchange; 1 to
    broadcast.

    Parameters
    ----------
    collective
        The operation.
    processors
        n, 1 or more.

    Examples
    --------
    >>> bus_factor(Collective.ALL_REDUCE, 8), bus_factor(Collective.BROADCAST, 8)
    (1.75, 1.0)

    References
    ----------
    The page on performance of nccl-tests, section "Bus bandwidth".
    """
    check_count("processors", processors)
    share = (processors - 1) / processors
    factors = {Collective.ALL_REDUCE: 2 * share, Collective.BROADCAST: 1.0 + 0 * share}
    return factors.get(Collective(collective), share)


class Case(NamedTuple):
    """A case: n processors, S bytes, k chunks; with g and o_s + L + o_r."""

    processors: Any
    size: Any
    chunks: Any
    gap: Any
    message: Any


@dataclass(frozen=True)
class Need:
    """A requirement of an algorithm on a case.

    Parameters
    ----------
    words
        Words for refusals, after "ring needs ".
    holds
        Whether a case, with numbers or arrays, meets it.
    """

    words: str
    holds: Callable[[Case], Any]


_SHARED = Need("a size that n divides", lambda case: case.size % case.processors == 0)
_TWOS = Need(
    "a power of two of processors",
    lambda case: 2 ** np.rint(np.log2(case.processors)) == case.processors,
)
_FOUR = Need("at least 4 processors", lambda case: case.processors >= 4)
_EVEN = Need("an even size", lambda case: case.size % 2 == 0)
_CHUNKED = Need(
    "a size that the number of chunks divides", lambda case: case.size % case.chunks == 0
)
_WHOLE = Need("one chunk", lambda case: case.chunks == 1)
_PACED = Need("a gap of at most o_s + L + o_r", lambda case: case.gap <= case.message)

Rounds: TypeAlias = Callable[[Any, Any], Any]
Law: TypeAlias = Callable[[LogGP, Any, Any, Any], Amount]


@dataclass(frozen=True)
class CollectiveAlgorithm:
    """One algorithm of one operation: its law and its domain.

    Parameters
    ----------
    collective, name
        The operation, and the name of the algorithm.
    time
        Law of machine, n, S and number of chunks [s].
    needs
        Domain of n, S and chunks.
    combined
        Bytes that one processor combines, as a function of n and S; ``None`` if it combines
        nothing.
    source
        Where it is described.
    """

    collective: Collective
    name: str
    time: Law
    needs: tuple[Need, ...]
    combined: Rounds | None = None
    source: str = "Thakur et al. 2005, section 4"


def rounds_time(machine: LogGP, rounds: Quantity, sent: Quantity) -> Amount:
    """Time of R rounds, each of which waits for the one before [s].

    (R - 1) max(g, o_s + L + o_r) + o_s + L + o_r + (B - R) G

    Parameters
    ----------
    machine
        Parameters of any kind.
    rounds
        R, 1 or more.
    sent
        B, bytes that a processor sends in all of them, R or more.

    Examples
    --------
    >>> rounds_time(LogGP(5, 1, 1, 4, 2), rounds=3, sent=30)
    75
    """
    message = one_message_time(machine)
    pace = apply("max", machine.gap, message)
    return (rounds - 1) * pace + message + (sent - rounds) * machine.gap_per_byte


def _in_rounds(rounds: Rounds, sent: Rounds) -> Law:
    return lambda machine, n, size, _: rounds_time(machine, rounds(n, size), sent(n, size))


def _log(n: Any) -> Any:
    """Base 2 logarithm: exact for powers of two."""
    return apply("log", n) / apply("log", 2 + 0 * n) if is_symbolic(n) else plain(np.log2(n))


def _log_up(n: Any) -> Any:
    return apply("ceil", _log(n))


def _others(n: Any, size: Any) -> Any:
    """Bytes of all blocks except a processor's own: S (n - 1) / n."""
    return size * (n - 1) / n


def _bits(n: Any) -> Any:
    """Number of ones in the binary digits of 0 to n - 1: (n / 2) log2 n for a power of two."""
    if is_symbolic(n):
        return n * _log(n) / 2
    count = [sum(one.bit_count() for one in range(int(m))) for m in np.atleast_1d(n)]
    return plain(np.reshape(count, np.shape(n)))


def _hop(machine: LogGP, size: Any) -> tuple[Any, Any, Any]:
    """Time of a message from end to end; least time between sends of it; and between receives."""
    length = (size - 1) * machine.gap_per_byte
    flight, link = one_message_time(machine) + length, machine.gap + length
    after_send = apply("max", machine.send_overhead, link)
    after_receive = apply("max", machine.receive_overhead, link)
    return flight, after_send, after_receive


def _chain(machine: LogGP, n: Any, size: Any, chunks: Any) -> Amount:
    """(n - 1) F + (k - 1) P: the first chunk passes all processors, the others follow at pace P."""
    flight, after_send, after_receive = _hop(machine, size / chunks)
    busy = machine.send_overhead + machine.receive_overhead
    passed_on, at_the_ends = apply("max", busy, after_send), apply("max", after_send, after_receive)
    between = apply("where", n > 2, passed_on, at_the_ends)
    return (n - 1) * flight + (chunks - 1) * plain(between)


def _binary_tree(machine: LogGP, n: Any, size: Any, chunks: Any) -> Amount:
    """Each passes a chunk to one child, then the other; h = log2 n levels, p between sends.

    h F + (h - 1) p + (k - 1) (p + max(p, o_r + o_s)); the root sends to one child only.
    """
    flight, after_send, _ = _hop(machine, size / chunks)
    levels = _log(n)
    next_chunk = apply("max", after_send, machine.receive_overhead + machine.send_overhead)
    pace = after_send + next_chunk
    return levels * flight + (levels - 1) * after_send + (chunks - 1) * pace


def _double_tree_down(machine: LogGP, n: Any, size: Any, _: Any) -> Amount:
    """Half of S in each of two trees: h (F + p), as the second tree begins p later.

    Messages of both trees may arrive at a processor at the same time.
    """
    flight, after_send, _ = _hop(machine, size / 2)
    return _log(n) * (flight + after_send)


def _double_tree(machine: LogGP, n: Any, size: Any, _: Any) -> Amount:
    """Up h levels, then down: (h - 1) (F + q) + F and max(p, o_s + o_r) + h F + (h - 1) p."""
    flight, sends, receives = _hop(machine, size / 2)
    turn = apply("max", sends, machine.send_overhead + machine.receive_overhead)
    levels = _log(n)
    return (levels - 1) * (2 * flight + sends + receives) + 2 * flight + turn


_A2A, _AR, _RS = Collective.ALL_TO_ALL, Collective.ALL_REDUCE, Collective.REDUCE_SCATTER
_AG, _BC = Collective.ALL_GATHER, Collective.BROADCAST
_SANDERS = "Sanders, Speck and Träff 2009"

ALGORITHMS: tuple[CollectiveAlgorithm, ...] = (
    CollectiveAlgorithm(
        _AR, "ring",
        _in_rounds(lambda n, _: 2 * (n - 1), lambda n, size: 2 * _others(n, size)),
        (_SHARED, _WHOLE), _others,
    ),
    CollectiveAlgorithm(
        _AR, "recursive doubling",
        _in_rounds(lambda n, _: _log(n), lambda n, size: size * _log(n)),
        (_TWOS, _WHOLE), lambda n, size: size * _log(n),
    ),
    CollectiveAlgorithm(
        _AR, "halving and doubling",
        _in_rounds(lambda n, _: 2 * _log(n), lambda n, size: 2 * _others(n, size)),
        (_TWOS, _SHARED, _WHOLE), _others,
    ),
    CollectiveAlgorithm(
        _AR, "double binary tree", _double_tree, (_TWOS, _FOUR, _EVEN, _WHOLE), None, _SANDERS
    ),
    CollectiveAlgorithm(
        _RS, "ring", _in_rounds(lambda n, _: n - 1, _others), (_SHARED, _WHOLE), _others,
        "Chan et al. 2007",
    ),
    CollectiveAlgorithm(
        _RS, "recursive halving", _in_rounds(lambda n, _: _log(n), _others),
        (_TWOS, _SHARED, _WHOLE), _others,
    ),
    CollectiveAlgorithm(
        _RS, "pairwise", _in_rounds(lambda n, _: n - 1, _others), (_SHARED, _WHOLE), _others
    ),
    CollectiveAlgorithm(
        _AG, "ring", _in_rounds(lambda n, _: n - 1, _others), (_SHARED, _WHOLE)
    ),
    CollectiveAlgorithm(
        _AG, "recursive doubling", _in_rounds(lambda n, _: _log(n), _others),
        (_TWOS, _SHARED, _WHOLE),
    ),
    CollectiveAlgorithm(
        _AG, "Bruck", _in_rounds(lambda n, _: _log_up(n), _others), (_SHARED, _WHOLE)
    ),
    CollectiveAlgorithm(
        _A2A, "pairwise", _in_rounds(lambda n, _: n - 1, _others), (_SHARED, _WHOLE)
    ),
    CollectiveAlgorithm(
        _A2A, "Bruck",
        _in_rounds(lambda n, _: _log_up(n), lambda n, size: size / n * _bits(n)),
        (_SHARED, _WHOLE),
    ),
    CollectiveAlgorithm(
        _BC, "binomial tree",
        _in_rounds(lambda n, _: _log(n), lambda n, size: size * _log(n)), (_TWOS, _WHOLE),
    ),
    CollectiveAlgorithm(
        _BC, "scatter and ring",
        _in_rounds(lambda n, _: _log(n) + n - 1, lambda n, size: 2 * _others(n, size)),
        (_TWOS, _SHARED, _WHOLE),
    ),
    CollectiveAlgorithm(
        _BC, "scatter and recursive doubling",
        _in_rounds(lambda n, _: 2 * _log(n), lambda n, size: 2 * _others(n, size)),
        (_TWOS, _SHARED, _WHOLE, _PACED),
    ),
    CollectiveAlgorithm(_BC, "chain", _chain, (_CHUNKED,), None, "Chan et al. 2007"),
    CollectiveAlgorithm(
        _BC, "binary tree", _binary_tree, (_TWOS, _FOUR, _CHUNKED), None, "Chan et al. 2007"
    ),
    CollectiveAlgorithm(
        _BC, "double binary tree", _double_tree_down, (_TWOS, _FOUR, _EVEN, _WHOLE), None, _SANDERS
    ),
)  # fmt: skip
"""All algorithms, with a row for each operation and algorithm."""


def algorithms_of(collective: Collective | str) -> dict[str, CollectiveAlgorithm]:
    """Algorithms of an operation, by name.

    Raises
    ------
    InvalidParameter
        For an operation that is not in the table.

    Examples
    --------
    >>> list(algorithms_of("all-to-all"))
    ['pairwise', 'Bruck']
    """
    if collective not in set(Collective):
        msg = f"collective is {collective!r}; it must be one of {', '.join(Collective)}"
        raise InvalidParameter(msg)
    return {row.name: row for row in ALGORITHMS if row.collective == collective}


def collective_algorithm(collective: Collective | str, name: str) -> CollectiveAlgorithm:
    """Find the row of an operation and an algorithm.

    Raises
    ------
    InvalidParameter
        For names that are not in the table; lists those that are.

    Examples
    --------
    >>> collective_algorithm("all-gather", "Bruck").source
    'Thakur et al. 2005, section 4'
    """
    rows = algorithms_of(collective)
    if name not in rows:
        msg = f"{collective} has no algorithm {name!r}; it has {', '.join(rows)}"
        raise InvalidParameter(msg)
    return rows[name]


def collective_time(
    machine: LogGP,
    collective: Collective | str,
    algorithm: str,
    size: Quantity,
    chunks: Quantity = 1,
    combine_time: Quantity = 0.0,
) -> Amount:
    """Time of a collective operation of S bytes on the P processors of a machine [s].

    The law is that of its row in `ALGORITHMS`. If bytes are combined on the way, the time to
    combine those of one processor is added, which is right if g is at most o_s + L + o_r.

    Parameters
    ----------
    machine
        Parameters of any kind; P is n, 2 or more. Symbols for P are taken to meet the needs.
    collective, algorithm
        Row of the table.
    size
        S, bytes of the whole buffer of one processor, such that each message has whole bytes.
    chunks
        Number of chunks k that follow each other, of the chain and the binary tree.
    combine_time
        Time to combine a byte [s/B], 0 or more.

    Raises
    ------
    InvalidParameter
        For n, S or k outside the domain of the algorithm.

    Examples
    --------
    >>> machine = LogGP(5e-6, 1e-6, 1e-6, 4e-6, 1e-9, processors=8)
    >>> round(collective_time(machine, "all-reduce", "ring", 2**20) * 1e6, 3)
    1932.994
    >>> from sympy import symbols
    >>> collective_time(LogGP(*symbols("L o o g G n", positive=True)), "all-gather", "ring", 64)
    G*(-n + 1 + (64*n - 64)/n) + L + 2*o + (n - 2)*Max(g, L + 2*o)
    """
    row = collective_algorithm(collective, algorithm)
    machine = in_papers(machine)
    processors = machine.processors
    check_count("size", size)
    check_count("chunks", chunks)
    check_not_negative("combine_time", combine_time)
    check_domain("processors", processors, lambda n: n >= 2, "2 or more: one has nobody to send to")
    _check(row, Case(processors, size, chunks, machine.gap, one_message_time(machine)))
    time = row.time(machine, processors, size, chunks)
    if is_symbolic(combine_time) or np.any(np.asarray(combine_time) != 0):
        time = time + combine_time * _combined(row, machine, size)
    return plain(time)


def _check(row: CollectiveAlgorithm, case: Case) -> None:
    """Refuse the first case outside the domain of a row; symbols are assumed to be inside."""
    if is_symbolic(*case):
        return
    values = Case(*np.broadcast_arrays(*(np.asarray(one, float) for one in case)))
    for need in row.needs:
        bad = ~np.asarray(need.holds(values))
        if bad.any():
            n, size, chunks, *_ = (digits(float(one[bad].flat[0])) for one in values)
            msg = (
                f"{row.collective}: {row.name} needs {need.words}, not n = {n}, S = {size} B, "
                f"{chunks} chunks"
            )
            raise InvalidParameter(msg)


def _combined(row: CollectiveAlgorithm, machine: LogGP, size: Any) -> Any:
    """Bytes that one processor combines; refuses cases for which the law does not hold."""
    if row.combined is None:
        why = "a law without time to combine; leave combine_time out"
        msg = f"{row.collective}: {row.name} has {why}"
        raise InvalidParameter(msg)
    message: Any = one_message_time(machine)
    gap: Any = machine.gap
    if not is_symbolic(message, gap) and np.any(gap > message):
        msg = (
            f"gap is {digits(float(np.max(gap)))}; with combine_time it must be at most "
            f"o_s + L + o_r, {digits(float(np.min(message)))}"
        )
        raise InvalidParameter(msg)
    return row.combined(machine.processors, size)


def ring_all_reduce_time(
    processors: Quantity,
    size: Quantity,
    latency: Quantity,
    overhead: Quantity,
    gap: Quantity,
    gap_per_byte: Quantity,
) -> Amount:
    """Time of an all-reduce by a ring, for formulas of model files: 0 for one processor [s].

    (2 (n - 1) - 1) max(g, M) + M + (2 S (n - 1) / n - 2 (n - 1)) G with M = L + 2 o, the law of
    `collective_time` also if n does not divide S.

    Parameters
    ----------
    processors
        n, 1 or more.
    size
        S, bytes of the whole buffer, n or more.
    latency, overhead, gap
        L, o and g [s], 0 or more.
    gap_per_byte
        G [s/B], 0 or more.

    Raises
    ------
    InvalidParameter
        For a value outside its domain.

    Examples
    --------
    >>> round(ring_all_reduce_time(8, 2**20, 5e-6, 1e-6, 4e-6, 1e-9) * 1e6, 3)
    1932.994
    >>> ring_all_reduce_time(1, 2**20, 5e-6, 1e-6, 4e-6, 1e-9)
    0.0
    """
    check_count("processors", processors)
    check_domain("size", size, lambda one: one >= 1, "1 or more")
    machine = LogGP(latency, overhead, overhead, gap, gap_per_byte, processors)
    count: Any = processors
    rounds = 2 * (count - 1)
    time = rounds_time(machine, rounds, size * rounds / count)
    return plain(apply("where", count > 1, time, 0.0))


_INSIDE, _ACROSS = 0, 1
_LEVELS: dict[Collective, tuple[tuple[int, Collective, bool], ...]] = {
    _AR: ((_INSIDE, _RS, False), (_ACROSS, _AR, True), (_INSIDE, _AG, False)),
    _RS: ((_INSIDE, _RS, False), (_ACROSS, _RS, True)),
    _AG: ((_ACROSS, _AG, True), (_INSIDE, _AG, False)),
    _A2A: ((_INSIDE, _A2A, False), (_ACROSS, _A2A, False)),
    _BC: ((_ACROSS, _BC, False), (_INSIDE, _BC, False)),
}
"""Phases of an operation on two levels: level, operation, and whether only for a processor's
share.
"""


def two_level_time(
    inside: LogGP,
    across: LogGP,
    collective: Collective | str,
    size: Quantity,
    algorithms: tuple[str, str] = ("ring", "ring"),
) -> Amount:
    """Time of a collective operation on nodes of several processors: inside and across nodes [s].

    An all-reduce reduces and scatters S inside each node of n_1 processors, reduces S / n_1 across
    the n_2 nodes, and gathers inside: T = T_rs(n_1, S) + T_ar(n_2, S / n_1) + T_ag(n_1, S). The
    other operations have two of such phases.

    Parameters
    ----------
    inside, across
        Machine of a node, with n_1 processors; and of the network, with n_2 nodes. Each processor
        has its own connection to the network.
    collective
        The operation.
    size
        S, bytes of the whole buffer of one processor.
    algorithms
        Algorithm inside and across.

    Raises
    ------
    InvalidParameter
        For n_1, n_2 or S outside the domains of the algorithms.

    Examples
    --------
    >>> node = LogGP(5e-6, 1e-6, 1e-6, 4e-6, 1e-11, processors=8)
    >>> network = LogGP(9e-6, 1e-6, 1e-6, 4e-6, 4e-11, processors=4)
    >>> round(two_level_time(node, network, "all-reduce", 2**24) * 1e6, 3)
    583.43
    """
    algorithms_of(collective)
    machines, share = (inside, across), inside.processors
    phases = [
        collective_time(
            machines[level], part, algorithms[level], _whole(size / share) if shared else size
        )
        for level, part, shared in _LEVELS[Collective(collective)]
    ]
    if len(phases) == 3:  # inside, a gap after the last send: mostly over while messages go across
        message = one_message_time(inside)
        phases[1] = apply("max", inside.gap, message + phases[1]) - message
    return sum(phases[1:], phases[0])


def _whole(share: Any) -> Any:
    """A processor's share in bytes; refused if not a whole number."""
    check_count("size / processors inside", share)
    return share
