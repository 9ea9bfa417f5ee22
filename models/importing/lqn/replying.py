"""Who replies in an LQNX file: activities of entries whose callers wait, and no others."""

from collections.abc import Collection
from xml.etree.ElementTree import Element

from headway.models.importing.lqn.parts import Wrong
from headway.queueing.layers.system import LayeredSystem


def check_replies(
    root: Element, drawn: Collection[str], system: LayeredSystem, wrong: Wrong
) -> None:
    """Refuse callers that would wait for ever, and replies for which nobody waits.

    Parameters
    ----------
    root
        An element ``lqn-model``.
    drawn
        Entries with a graph of activities that do not forward, and so must reply.
    system
        Its services.
    wrong
        Makes the error of something at a place.
    """
    waits = {call.get("dest", "") for call in root.iter("synch-call")}
    replying = {one.get("name", ""): one for one in root.iter("reply-entry")}
    for entry in sorted(waits.intersection(drawn) - replying.keys()):
        place = f"entry {entry}"
        what = "none of its activities replies, and its callers wait; add a <reply-activity>"
        raise wrong(place, what)
    for entry in sorted(replying.keys() - system.answering(outside=True)):
        name = next(part.get("name", "") for part in replying[entry])
        place = f"entry {entry}"
        what = f"activity {name} replies, but nobody waits for it, as it is only sent to"
        raise wrong(place, what + "; leave the reply out, or call the entry")
