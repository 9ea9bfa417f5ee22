"""Erlang's formulas as SymPy functions; the only module of this package that needs SymPy."""

from itertools import accumulate
from operator import mul
from typing import Any

import sympy

from headway.kinds import Amount


def _terms(servers: int, load: Amount) -> list[Amount]:
    return [load**k / sympy.factorial(k) for k in range(servers + 1)]


class _Erlang(sympy.Function):
    """A probability as a function of the number of servers, which may be a symbol, and the load."""

    nargs = 2
    printed = ""

    def doit(self, **hints: Any) -> Any:
        """Write the finite sum once the number of servers is a whole number."""
        servers, load = (argument.doit(**hints) for argument in self.args)
        return self._sum(int(servers), load) if servers.is_Integer else self.func(servers, load)

    def fdiff(self, argindex: int = 1) -> Amount:
        """Derivative by the load; there is none by the number of servers."""
        if argindex == 1:
            raise sympy.core.function.ArgumentIndexError(self, argindex)
        return self._slope(*self.args)

    def _sum(self, servers: int, load: Amount) -> Amount:
        raise NotImplementedError

    def _slope(self, servers: Amount, load: Amount) -> Amount:
        raise NotImplementedError

    def _eval_evalf(self, prec: int) -> Amount:
        return self.doit()._eval_evalf(prec) if self.args[0].is_Integer else None

    def _sympystr(self, printer: Any) -> str:
        return f"{self.printed}({', '.join(printer._print(argument) for argument in self.args)})"


class ErlangB(_Erlang):
    """B(m, a) with a symbolic number of servers; ``doit`` writes the finite sum."""

    printed = "erlang_b"

    def _sum(self, servers: int, load: Amount) -> Amount:
        terms = _terms(servers, load)
        return terms[-1] / sympy.Add(*terms)

    def _slope(self, servers: Amount, load: Amount) -> Amount:
        """Write dB/da = B (m/a - 1 + B)."""
        return self * (servers / load - 1 + self)


class ErlangC(_Erlang):
    """C(m, a) with a symbolic number of servers; ``doit`` writes the finite sum."""

    printed = "erlang_c"

    def _sum(self, servers: int, load: Amount) -> Amount:
        *below, last = _terms(servers, load)
        waiting = last * servers / (servers - load)
        return waiting / (sympy.Add(*below) + waiting)

    def _slope(self, servers: Amount, load: Amount) -> Amount:
        """Write the derivative by way of B: C = m B / (m - a + a B)."""
        blocking = ErlangB(servers, load)
        slope = blocking.fdiff(2)
        free = servers - load + load * blocking
        return servers * (slope * free - blocking * (load * slope + blocking - 1)) / free**2


class _Room(sympy.Function):
    """A result of M/M/m/K by m, K and load a; ``doit`` writes the finite sum."""

    def doit(self, **hints: Any) -> Any:
        """Write the finite sums of the weights a**n / n!, from m on a**n / (m! m**(n - m))."""
        *orders, servers, places, load = (argument.doit(**hints) for argument in self.args)
        m, room = int(servers), int(places)
        ratios = (load / min(n, m) for n in range(1, room + 1))
        weights = list(accumulate(ratios, mul, initial=sympy.Integer(1)))
        return sympy.Add(*self._counted(weights, m, orders)) / sympy.Add(*weights)

    def _counted(self, weights: list[Amount], servers: int, orders: list[Amount]) -> list[Amount]:
        """Weights of the states that count, times the number that each counts for."""
        raise NotImplementedError

    def _slope(self, servers: Amount, places: Amount, load: Amount) -> Amount:
        """Derivative by the load: for E f(n) it is (E n f(n) - E n E f(n)) / a."""
        raise NotImplementedError

    def fdiff(self, argindex: int = 1) -> Amount:
        """Derivative by the load, in terms of other results of the same queue."""
        if argindex != len(self.args):
            raise sympy.core.function.ArgumentIndexError(self, argindex)
        return self._slope(*self.args[-3:])

    def _eval_evalf(self, prec: int) -> Amount:
        return self.doit()._eval_evalf(prec) if self.args[-1].is_number else None

    def _sympystr(self, printer: Any) -> str:
        name = "_".join(["room", type(self).__name__.removeprefix("Room").lower()])
        return f"{name}({', '.join(printer._print(argument) for argument in self.args)})"


def _mean(servers: Amount, places: Amount, load: Amount) -> Amount:
    """Mean number of jobs, waiting and in service."""
    served = load * RoomAdmitted(servers, places, load)
    return RoomWaiting(1, servers, places, load) + served


class RoomLoss(_Room):
    """Probability that all K places are taken."""

    nargs = 3

    def _counted(self, weights: list[Amount], servers: int, orders: list[Amount]) -> list[Amount]:  # noqa: ARG002
        return weights[-1:]

    def _slope(self, servers: Amount, places: Amount, load: Amount) -> Amount:
        return self * (places - _mean(servers, places, load)) / load


class RoomAdmitted(_Room):
    """Probability that a place is free."""

    nargs = 3

    def _counted(self, weights: list[Amount], servers: int, orders: list[Amount]) -> list[Amount]:  # noqa: ARG002
        return weights[:-1]

    def _slope(self, servers: Amount, places: Amount, load: Amount) -> Amount:
        return -RoomLoss(servers, places, load) * (places - _mean(servers, places, load)) / load


class RoomEmpty(_Room):
    """Probability that no job is present."""

    nargs = 3

    def _counted(self, weights: list[Amount], servers: int, orders: list[Amount]) -> list[Amount]:  # noqa: ARG002
        return weights[:1]

    def _slope(self, servers: Amount, places: Amount, load: Amount) -> Amount:
        return -self * _mean(servers, places, load) / load


class RoomWaiting(_Room):
    """Mean of a power of the number waiting: the power, m, K and the load."""

    nargs = 4

    def _counted(self, weights: list[Amount], servers: int, orders: list[Amount]) -> list[Amount]:
        beyond = enumerate(weights[servers + 1 :], start=1)
        return [sympy.Integer(n) ** orders[0] * weight for n, weight in beyond]

    def _slope(self, servers: Amount, places: Amount, load: Amount) -> Amount:
        order = self.args[0]
        one_more = RoomWaiting(order + 1, servers, places, load)
        return (one_more + (servers - _mean(servers, places, load)) * self) / load


def written_out(expression: Amount) -> Amount:
    """Write the results of finite queues as sums, for code that knows no such functions."""
    return expression.replace(lambda part: isinstance(part, _Room), lambda room: room.doit())


def erlang_b(servers: Amount, offered_load: Amount) -> Amount:
    """Erlang B as a finite sum if the number of servers is known, otherwise as a function."""
    return ErlangB(servers, offered_load).doit()


def erlang_c(servers: Amount, offered_load: Amount) -> Amount:
    """Erlang C as a finite sum if the number of servers is known, otherwise as a function."""
    return ErlangC(servers, offered_load).doit()


def empty_probability(servers: Amount, load: Amount) -> Amount:
    """Probability of an empty M/M/m, as (m!/a**m) (1 - a/m) C."""
    ways = sympy.factorial(servers) / load**servers
    return ways * (1 - load / servers) * erlang_c(servers, load)
