"""`python3 -m agora_node` is the same as `agora`."""

import sys

from agora_node.cli import main

sys.exit(main())
