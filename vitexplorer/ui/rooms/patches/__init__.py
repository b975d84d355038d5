"""The Patches room: the image cut into its tokens, with one patch enlarged."""
