"""Ids that nobody else makes and that sort by the time they were made in."""

import os
import time

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 26


def new_ulid():
    """26 characters: 48 bits of milliseconds since 1970, then 80 bits of chance."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    return "".join(ALPHABET[number >> 5 * place & 31] for place in reversed(range(LENGTH)))
