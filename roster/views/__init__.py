"""The pages. A view reads the address, asks for a context, renders; a POST asks one service and redirects."""
