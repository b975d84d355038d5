"""One file for each layout of names: it defines READER."""
