"""Quantities of texts and patches: in the joint space of a CLIP or SigLIP, and of the words of a caption."""
