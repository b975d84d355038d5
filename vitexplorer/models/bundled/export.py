"""A trained model -> its folder in assets/models: half-precision weights, timm's config.json, the card.

The folder is one that plain timm reads: `timm.create_model("local-dir:assets/models/<name>", pretrained=True)`.
"""

from __future__ import annotations

import json
from pathlib import Path

import timm
from safetensors.torch import save
from torch import nn

from vitexplorer.models.bundled.loop import Run
from vitexplorer.models.bundled.measure import ATTENTION_SCENES, TWIN_SEEDS
from vitexplorer.models.bundled.recipe import Figures, Recipe
from vitexplorer.models.bundled.scenes import VERSION
from vitexplorer.models.bundled.shapes import LABEL_NAMES


def export(recipe: Recipe, module: nn.Module, run: Run, folder: Path) -> Figures:
    """Write the weights, measure what was written, and state it; returns the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    half = {name: tensor.detach().half().cpu().contiguous() for name, tensor in module.state_dict().items()}
    (folder / "model.safetensors").write_bytes(save(half, metadata={"format": "pt"}))
    _write_config(recipe, run, {}, folder)
    figures = recipe.measure(recipe, load(folder))
    _write_config(recipe, run, figures, folder)
    (folder / "README.md").write_text(card(recipe, run, figures, folder), encoding="utf-8")
    return figures


def load(folder: Path) -> nn.Module:
    """The shipped module as anyone's timm loads it, float32, in eval mode."""
    return timm.create_model(f"local-dir:{folder}", pretrained=True).eval()


def stated(folder: Path) -> Figures:
    """The figures that the model's configuration states."""
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))["figures"]


def _write_config(recipe: Recipe, run: Run, figures: Figures, folder: Path) -> None:
    size, num_classes = recipe.model_args["img_size"], recipe.model_args["num_classes"]
    config = {
        "architecture": recipe.architecture,
        "num_classes": num_classes,
        "model_args": {key: value for key, value in recipe.model_args.items() if key != "num_classes"},
        "label_names": list(recipe.label_names),
        "label_names_zh": list(recipe.label_names_zh),
        "pretrained_cfg": {
            "input_size": [3, size, size],
            "fixed_input_size": True,
            "interpolation": "bicubic",
            "crop_pct": 1.0,
            "crop_mode": "center",
            **recipe.normalisation,
            "num_classes": num_classes,
            "first_conv": "patch_embed.proj",
            "classifier": "head",
        },
        "training": {
            "recipe": recipe.name,
            "scenes_version": VERSION,
            "seed": run.seed,
            "steps": run.steps,
            "seconds": run.seconds,
            "machine": run.machine,
        },
        "figures": {name: round(value, 4) for name, value in figures.items()},
    }
    if not recipe.label_names:
        del config["label_names"], config["label_names_zh"]
    text = json.dumps(config, ensure_ascii=False, indent=2) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")


def card(recipe: Recipe, run: Run, figures: Figures, folder: Path) -> str:
    """The model card, Markdown."""
    schedule = recipe.schedule
    done = "" if run.steps == schedule.steps else f" (of {schedule.steps}: the run was not finished)"
    classes = "\n".join(f"- {en} {zh}" for en, zh in zip(recipe.label_names, recipe.label_names_zh, strict=True))
    rows = "\n".join(f"| {name} | {value:.3f} |" for name, value in figures.items())
    size = (folder / "model.safetensors").stat().st_size / 1e6
    arguments = ", ".join(f"{key}={value}" for key, value in recipe.model_args.items())
    return f"""# {recipe.name}

A small `{recipe.architecture}` ({arguments}) trained on drawn scenes,
so that ViT Explorer shows a trained model on a machine without a network. Half precision, {size:.1f} MB.

```python
model = timm.create_model("local-dir:assets/models/{recipe.name}", pretrained=True)
```

## Data
Scenes drawn by `vitexplorer/models/bundled/scenes.py` (version {VERSION}): one paper cut-out of one of
{len(LABEL_NAMES)} classes on a cluttered, textured ground; place, size, angle, colours, light, clutter and occlusion
are independent of the class. Trained on scenes 0 to {recipe.num_scenes - 1} of the stream "train"; measured on the
stream "test", which shares none with it.
Pixels of 0-1 are normalised with mean {recipe.mean} and standard deviation {recipe.std}.
{"Classes, in the order of the logits:" if classes else "There is no classifier: class labels were not read."}

{classes}

## Recipe
{recipe.story}

`python -m vitexplorer.models.bundled train {recipe.name} --seed {run.seed}`
{run.steps} steps{done} of {schedule.batch_size} scenes, {run.seconds / 60:.0f} minutes on {run.machine},
wall clock, with whatever else ran on the machine.

## Figures
From the shipped weights; again with `python -m vitexplorer.models.bundled measure {recipe.name}`.

| measured on held-out scenes | value |
|---|---|
{rows}

Attention overlap: intersection over union of the object's mask with the patches that hold 60 % of the class
token's attention in the last block, best head, mean over {ATTENTION_SCENES} scenes; untrained: the same architecture
with random weights, mean of {len(TWIN_SEEDS)} seeds.

## What it can and cannot show
{recipe.limits}
"""
