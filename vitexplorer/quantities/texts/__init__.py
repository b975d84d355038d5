"""Quantities of texts and patches: in the joint space of a CLIP, SigLIP or dino.txt, and of the words of a caption."""
