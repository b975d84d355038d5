"""The room Outputs."""
