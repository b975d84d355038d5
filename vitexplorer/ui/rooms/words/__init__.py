"""The room Words."""
