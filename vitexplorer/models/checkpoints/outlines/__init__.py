"""One file for each class of timm's that a file can hold: it defines OUTLINE."""
