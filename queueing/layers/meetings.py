"""Requests for several entries that wait for each other in one thread."""

from headway.queueing.layers.system import LayeredSystem


def no_lone_requests(system: LayeredSystem) -> str:
    """Which requests meet, in one line; empty if a thread serves each request alone."""
    for entry in system.entries.values():
        if entry.meets:
            return (
                f"requests for {' and '.join(entry.meets)} wait for each other in a thread of "
                f"{entry.task}, so it does not serve each alone; use method chain, or simulation"
            )
    return ""
