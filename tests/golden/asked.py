"""Cases beyond the registries: interventions, calls of the endpoints, addresses of the page."""

from __future__ import annotations

from typing import Any

CHANGES = (
    "heads_off:heads=0.1,how=mean",
    "heads_off:heads=0.0+1.*",
    "mask_patches:patches=0.0+1.1",
    "mask_patches:patches=0.0+1.1,how=attention",
    "positions:how=shuffled,seed=1",
    "shift_image:right=5,down=-3,fill=mean",
    "shuffle_patches:seed=3",
    "temperature:temperature=0.5",
    "top_k:k=3",
    "positions:how=off;top_k:k=8",
)
"""Interventions, beside every one at its defaults"""
TRAININGS: dict[str, tuple[str, ...]] = {
    "test_vit": (),
    "scenes_vit_patch16_192": ("lora", "ssf"),
    "scenes_swin_patch4_window6_192": ("lora", "ssf"),
}
"""Fine-tuning methods by model; all methods for an empty list"""
EVALUATED = ("scenes_vit_patch16_192", "creatures_vit_patch16_192")
SURVEYED = "scenes_deit_patch16_192"
HERE = {"image": "scene_fish", "view": "attention_map"}
CALLS: dict[str, list[dict[str, Any]]] = {
    "models": [{}, {"language": "zh"}],
    "views": [{}, {"language": "zh"}],
    "parameters": [{}, {"model": "scenes_swin_patch4_window6_192", "language": "zh"}, {"model": "scenes_vit"}],
    "predict": [
        {"image": "scene_fish"},
        {"image": "scene_gear", "model": "scenes_several_vit_patch16_192", "top": 3, "language": "zh"},
        {"image": "scene_mug", "change": "positions:how=off", "size": "96", "fit": "squash"},
        {"image": "scene_fish", "model": "scenes_mae_patch16_192"},
        {"image": "scene_fish", "top": 0},
    ],
    "explain": [
        {"image": "scene_fish", "view": "attention_map", "settings": {"block": 3, "head": "1", "query": [3, 4]}},
        {"image": "scene_fish", "view": "generic_relevance", "settings": {"target": "fish"}, "language": "zh"},
        {"image": "scene_ring", "view": "attention_rollout", "size": "96", "weights": "random", "fit": "squash"},
        {"image": "scene_ring", "view": "token_norms", "model": "scenes_dino_patch16_192", "change": "top_k:k=4"},
        *({**HERE, "settings": settings} for settings in ({"block": 99}, {"blck": 1}, {"query": {"row": [1]}})),
        *({**HERE, "view": view} for view in ("atention_map", "mae_reconstruction")),
        *({**HERE, "image": image} for image in ("scene_fisch", "http://127.0.0.1/fish.png", "data:image/png;base64,")),
        *({**HERE, "size": size, "fit": fit} for size, fit in (("97", "crop"), ("96", "native"))),
        {**HERE, "change": "nosuch"},
        {**HERE, "model": "../../etc/passwd", "language": "zh"},
    ],
}
STATES: tuple[dict[str, str], ...] = (
    {},
    {"model": "scenes_vit_patch16_192", "image": "scene_fish", "size": "384", "fit": "squash", "weights": "random"},
    {"room": "what_if", "change": "positions:how=off;top_k:k=8", "both_block": "2", "both_query": "1,3"},
    {"room": "compare", "other_model": "scenes_dino_patch16_192", "other_size": "own", "other_change": "top_k:k=4"},
    {
        "room": "compare",
        "other_fit": "native",
        "other_size": "384",
        "other_image": "scene_ring",
        "left_change": "x:y=1",
    },
    {"mode": "map", "colormap": "magma", "scale": "block", "opacity": "0.5", "smooth": "1", "keep": "0.6"},
    {
        "room": "flow",
        "source": "3,4",
        "fusion": "max",
        "discard": "0.9",
        "start": "2",
        "v.target": "3",
        "view": "legrad",
    },
    {"room": "size", "design": "dim=192;depth=12", "lang": "zh"},
    {"model": "../x", "image": "nothing_here", "size": "x", "weights": "best", "colormap": "jet", "block": "1e9"},
    {"image": "upload-" + "0" * 64, "block": "7", "head": "3", "query": "4,9"},
    {"image": "upload-" + "0" * 63, "head": "sum", "query": "4", "room": "kitchen", "fit": "stretch"},
)
