"""Frame around the rooms: top bar, rail, status line, guide, address, and the context that rooms share."""
