"""Notes beside the output: to standard error, one harmless line each."""

import sys

from agora_node.words import harmless


def note(text):
    """Print `agora: text` to standard error at once."""
    print(f"agora: {harmless(text)}", file=sys.stderr, flush=True)
