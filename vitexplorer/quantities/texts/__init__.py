"""Quantities of texts and patches in the joint space of a CLIP or SigLIP."""
