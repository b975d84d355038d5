"""The room Attention."""
