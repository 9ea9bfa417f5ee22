"""Erlang's formulas as SymPy functions; the only module of this room that needs SymPy."""

from typing import Any

import sympy


def _terms(servers: int, load: Any) -> list[Any]:
    return [load**k / sympy.factorial(k) for k in range(servers + 1)]


class ErlangB(sympy.Function):
    """B(m, a) with a symbolic number of servers; ``doit`` writes the finite sum."""

    nargs = 2

    def doit(self, **hints: Any) -> Any:
        """Write the finite sum once the number of servers is a whole number."""
        servers, load = (argument.doit(**hints) for argument in self.args)
        if not servers.is_Integer:
            return self.func(servers, load)
        terms = _terms(int(servers), load)
        return terms[-1] / sympy.Add(*terms)

    def fdiff(self, argindex: int = 1) -> Any:
        """Derivative for the load: dB/da = B (m/a - 1 + B)."""
        servers, load = self.args
        if argindex == 1:
            raise sympy.function.ArgumentIndexError(self, argindex)
        return self * (servers / load - 1 + self)

    def _eval_evalf(self, prec: int) -> Any:
        return self.doit()._eval_evalf(prec) if self.args[0].is_Integer else None

    def _sympystr(self, printer: Any) -> str:
        return f"erlang_b({', '.join(printer._print(argument) for argument in self.args)})"


class ErlangC(sympy.Function):
    """C(m, a) with a symbolic number of servers; ``doit`` writes the finite sum."""

    nargs = 2

    def doit(self, **hints: Any) -> Any:
        """Write the finite sum once the number of servers is a whole number."""
        servers, load = (argument.doit(**hints) for argument in self.args)
        if not servers.is_Integer:
            return self.func(servers, load)
        *below, last = _terms(int(servers), load)
        waiting = last * servers / (servers - load)
        return waiting / (sympy.Add(*below) + waiting)

    def fdiff(self, argindex: int = 1) -> Any:
        """Derivative for the load, by way of B: C = m B / (m - a + a B)."""
        servers, load = self.args
        if argindex == 1:
            raise sympy.function.ArgumentIndexError(self, argindex)
        blocking = ErlangB(servers, load)
        slope = blocking.fdiff(2)
        free = servers - load + load * blocking
        return servers * (slope * free - blocking * (load * slope + blocking - 1)) / free**2

    def _eval_evalf(self, prec: int) -> Any:
        return self.doit()._eval_evalf(prec) if self.args[0].is_Integer else None

    def _sympystr(self, printer: Any) -> str:
        return f"erlang_c({', '.join(printer._print(argument) for argument in self.args)})"


def erlang_b(servers: Any, offered_load: Any) -> Any:
    """Erlang B as a finite sum where the number of servers is known, else as a function."""
    return ErlangB(servers, offered_load).doit()


def erlang_c(servers: Any, offered_load: Any) -> Any:
    """Erlang C as a finite sum where the number of servers is known, else as a function."""
    return ErlangC(servers, offered_load).doit()


def empty_probability(servers: Any, load: Any) -> Any:
    """M/M/m's chance of an empty station, as (m!/a**m) (1 - a/m) C."""
    ways = sympy.factorial(servers) / load**servers
    return ways * (1 - load / servers) * erlang_c(servers, load)
