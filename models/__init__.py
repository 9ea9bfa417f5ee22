"""Models: the graph that joins queueing and LogGP, its parameters, answers and data.

Names are imported when they are first used, so that a command pays for what it needs only.
"""

from headway.lazy import public_names
from headway.models import door as door  # says who does what a model or an answer is asked

__getattr__, __dir__ = public_names(__name__, __file__)
