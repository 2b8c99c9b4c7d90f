"""The yardstick: the heartbeat as a first Django view would have it, on the hub's own tables."""
