#!/usr/bin/env python3
"""The hub's one command: `up`, `test`, and every Django management command.

The syntax of this file stays old on purpose: an old Python must get far enough to say that it is too old.
"""

import os
import sys

OLDEST = (3, 11)


def main():
    if sys.version_info < OLDEST:
        sys.stderr.write(
            "The Agora hub needs Python 3.11 or newer and this is Python %d.%d: start it with a newer one, "
            "for example `python3.11 manage.py up`.\n" % tuple(sys.version_info[:2])
        )
        return 1
    root = os.path.dirname(os.path.abspath(__file__))
    if root not in sys.path:
        sys.path.insert(0, root)
    from agora_web.cli.main import dispatch

    return dispatch(root, sys.argv)


if __name__ == "__main__":
    sys.exit(main())
