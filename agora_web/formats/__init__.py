"""How the admin writes times; the other pages show them in their reader's zone."""
