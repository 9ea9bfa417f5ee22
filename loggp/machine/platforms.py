"""Published LogGP parameters of parallel machines and routers, with their sources.

Sources print the bulk bandwidth, 1/G; if they print only a mean overhead, it is used as both o_s
and o_r.
"""

from headway.loggp.machine.parameters import LogGP

_PARAGON_ONE_WAY = 20.1e-6 / 2  # half of the longest round trip in Table 3 of Culler et al.

PLATFORMS = {
    "now": LogGP(5.0e-6, 2.9e-6, 2.9e-6, 5.8e-6, 1 / 38e6),
    "paragon": LogGP(6.5e-6, 1.8e-6, 1.8e-6, 7.6e-6, 1 / 141e6),
    "meiko": LogGP(7.5e-6, 1.7e-6, 1.7e-6, 13.6e-6, 1 / 47e6),
    "spine-router": LogGP(155e-6, 0.0, 0.0, 95e-6, 1 / 17e6),
    "paragon-1996": LogGP(_PARAGON_ONE_WAY - 3.6e-6, 1.4e-6, 2.2e-6, 7.6e-6, 1 / 141e6),
    "meiko-1996": LogGP(7.5e-6, 1.7e-6, 1.6e-6, 13.6e-6, 1 / 47e6),
    "myrinet-1996": LogGP(11.1e-6, 2.0e-6, 2.6e-6, 12.4e-6, 298e-6 / 4096),
}
"""Machines by short name; `PLATFORM_SOURCES` gives the source of each."""

_MARTIN = "Martin 1999, Table"
_CULLER = "Culler, Liu, Martin and Yoshikawa, Assessing Network Interfaces, 1996, Table 4"

PLATFORM_SOURCES = {
    "now": f"Berkeley NOW: {_MARTIN} 2.1",
    "paragon": f"Intel Paragon: {_MARTIN} 2.1",
    "meiko": f"Meiko CS-2: {_MARTIN} 2.1",
    "spine-router": f"SPINE IP router: {_MARTIN} 6.2 (G with packets of 2 KB)",
    "paragon-1996": (
        f"Intel Paragon: {_CULLER}; its latency of 7.5 us is a misprint, replaced by half of "
        f"Table 3's longest round trip less both overheads; G from {_MARTIN} 2.1"
    ),
    "meiko-1996": f"Meiko CS-2: {_CULLER}; G from {_MARTIN} 2.1",
    "myrinet-1996": f"Myrinet: {_CULLER}; G from its 4 KB transfers of 298 us",
}
"""Where the parameters of each of `PLATFORMS` are printed."""
