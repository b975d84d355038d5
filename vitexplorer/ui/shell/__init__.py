"""The frame around the rooms: top bar, rail, status line, guide, address, and what rooms are given."""
