"""Wiring, no rules: settings, addresses, the API object, the processes."""
