"""LogGP: what messages and programs that send them cost."""

from headway.lazy import public_names

__getattr__, __dir__ = public_names(__name__, __file__)
