"""The live pages: one feed a process, a consumer an open page, rows rendered once for all of them."""
