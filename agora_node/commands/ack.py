"""`agora ack`: say that messages are done with, by their numbers."""

from agora_node import config, identity
from agora_node.carrying import carry_first
from agora_node.client import listed
from agora_node.errors import FINE, REFUSED
from agora_node.words import harmless

PATIENCE = 15.0
DONE = ("acked", "already_acked")


def run(args):
    """Ack these messages and print the result of each; 1 when one of them is no mail of this inbox or dead.

    An ack is never kept for later: until the hub has it, the message counts as not done with.
    """
    settings = config.load()
    hub = identity.connect(settings, args.as_slug, patience=PATIENCE)
    carry_first(hub, identity.sender(hub, settings))
    name = identity.require_id(hub, settings)
    results = listed(hub.post(f"/api/agents/{name}/inbox/ack", {"seqs": args.seqs}).body, "results")
    for each in results:
        print(harmless(f"{each.get('seq')}: {str(each.get('result')).replace('_', ' ')}"))
    return FINE if all(each.get("result") in DONE for each in results) else REFUSED
