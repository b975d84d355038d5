"""Outlines, one file for each timm class; each file defines OUTLINE."""
