"""The writers of mail. Each locks the agents it concerns first, in the order of their keys, then the counters."""
