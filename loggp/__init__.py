"""LogGP: the cost of messages, and of programs that send them."""

from headway.lazy import public_names

__getattr__, __dir__ = public_names(__name__, __file__)
