"""The room What if."""
