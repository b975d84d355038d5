"""Frame around the rooms: top bar, `chips/`, rail, status line, `guide/`, address, and the context that rooms share."""
