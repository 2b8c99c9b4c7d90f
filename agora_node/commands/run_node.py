"""`agora run-node`: have each prompt to an agent answered by a command."""

import shutil

from agora_node import config
from agora_node.errors import UsageError
from agora_node.runner import Runner
from agora_node.words import harmless, span

LONGEST_LEASE = 12 * 3600


def run(args):
    """Claim prompts and run the command for each, until stopped."""
    if args.lease > LONGEST_LEASE:
        raise UsageError(f"--lease is too long: a lease lasts {span(LONGEST_LEASE)} at most")
    if shutil.which(args.argv[0]) is None:
        raise UsageError(f"there is no command {harmless(args.argv[0])} that could be started here")
    limits = {"lease": args.lease, "timeout": args.timeout, "interval": args.interval}
    return Runner(config.load(), args.as_slug, args.argv, **limits).run()
