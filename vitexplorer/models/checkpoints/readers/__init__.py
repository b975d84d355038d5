"""Readers, one file for each layout of names; each file defines READER."""
