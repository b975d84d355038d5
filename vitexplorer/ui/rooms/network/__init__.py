"""The room Network."""
