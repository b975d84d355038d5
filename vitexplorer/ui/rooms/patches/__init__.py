"""The patches board: the image cut into its tokens, one of them under the magnifying glass."""
