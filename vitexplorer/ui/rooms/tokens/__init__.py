"""The room Tokens."""
