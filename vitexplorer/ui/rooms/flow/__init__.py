"""The room Flow."""
