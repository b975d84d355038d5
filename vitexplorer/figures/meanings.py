"""Fixed colours of meanings in every figure: parts of a model, prefix tokens, methods, readings.

Fills carry white text at a contrast of 4.5 or more. Fills and lines differ in lightness and hue, and lines in their
symbols too. A part is found by the first word of this table in its name: `blocks.3.attn.qkv` by attn.
"""

from __future__ import annotations

from vitexplorer.core.text import Text

ATTENTION, MLP, EMBEDDING, PROJECTIONS = "#31688e", "#a8521f", "#8a5a9e", "#2f7d63"
CLASSIFIER, PREFIX, NORM, MERGING = "#a23b5c", "#2b7484", "#5d6d7e", "#7d6c14"
BLOCK, CHOSEN, OTHER = "#4b5fa8", "#a8521f", "#6b6f75"
"""Colours of whole blocks, of the chosen patch, and of parts without a meaning of their own or with others inside"""
CATEGORIES = (ATTENTION, PROJECTIONS, EMBEDDING, MLP, NORM, CLASSIFIER, MERGING, PREFIX)
"""Colours of classes, in the order of the figure; they only distinguish"""

_PARTS = (
    (("attn + mlp",), BLOCK),
    (("projection", "投影"), PROJECTIONS),
    (("attn", "attention", "注意力", "relative_position", "rel_pos", "q_norm", "k_norm"), ATTENTION),
    (("mlp", "ffn"), MLP),
    (("cls_token", "dist_token", "reg_token", "prefix", "token"), PREFIX),
    (("embed", "stem", "pos"), EMBEDDING),
    (("downsample", "merging", "reduction"), MERGING),
    (("head", "classifier", "fc"), CLASSIFIER),
    (("norm", "ls", "gamma", "bn"), NORM),
    (("block", "stage", "layer"), BLOCK),
)
_LINES = (
    ("attention_rollout", "linear", "cls"),
    ("generic_relevance", "lora", "mean"),
    ("grad_cam", "full", "dist"),
    ("grad_rollout", "adaptformer", "own"),
    ("input_x_gradient", "bitfit"),
    ("legrad", "vpt_deep"),
    ("integrated_gradients", "ssf"),
    ("occlusion", "partial_k"),
    ("attention_map", "norm"),
    ("mlp_k", "attn_lrp"),
    ("adapter", "activation_patching"),
    ("vpt_shallow",),
    ("pixel_prompt",),
)
"""Keys by line; keys on one line never share a figure"""
NAMED_LINES = len(_LINES)


def part_color(kind: str | Text) -> str:
    """Return the colour of a part of a model by its name, in torch's words or ours."""
    name = (kind.en if isinstance(kind, Text) else kind).lower()
    return next((color for words, color in _PARTS if any(word in name for word in words)), OTHER)


def line_number(key: str) -> int | None:
    """Return the line of a method or a reading for `numbered_style`; None for other keys."""
    return next((number for number, keys in enumerate(_LINES) if key in keys), None)
