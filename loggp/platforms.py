"""Published LogGP parameters of three parallel machines.

Source: Martin's thesis, Table 2.1 (bulk bandwidth is 1/G).
"""

from headway.loggp.parameters import LogGP

PLATFORMS = {
    "now": LogGP(5.0e-6, 2.9e-6, 2.9e-6, 5.8e-6, 1 / 38e6),
    "paragon": LogGP(6.5e-6, 1.8e-6, 1.8e-6, 7.6e-6, 1 / 141e6),
    "meiko": LogGP(7.5e-6, 1.7e-6, 1.7e-6, 13.6e-6, 1 / 47e6),
}
"""Berkeley NOW, Intel Paragon and Meiko CS-2 by short name."""
