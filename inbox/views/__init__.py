"""The pages of mail. A view reads the address, asks for a context, renders; a POST asks one service and redirects."""
