"""The room Positions."""
