"""One module for each command; cli.py imports only the one that was asked for."""
