"""LogGP: what messages and programs that send them cost."""

from headway.loggp.messages import (
    bulk_bandwidth,
    message_rate,
    one_message_time,
    request_reply_time,
)
from headway.loggp.parameters import LogGP
from headway.loggp.platforms import PLATFORMS

__all__ = [
    "PLATFORMS",
    "LogGP",
    "bulk_bandwidth",
    "message_rate",
    "one_message_time",
    "request_reply_time",
]
