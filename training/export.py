"""Export of a trained model to its folder in assets/models: half-precision weights, timm's config.json, the card.

The folder is one that plain timm reads: `timm.create_model("local-dir:assets/models/<name>", pretrained=True)`.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import timm
from safetensors.torch import save
from torch import nn

from training.loop import Learner, Run
from training.measure import explanations
from training.recipe import MEAN, NORMALISATION, STD, Figures, Recipe
from training.shipped import CONFIG, WEIGHTS
from vitexplorer.scenes import VERSION


def export(recipe: Recipe, learner: Learner, run: Run, folder: Path) -> Figures:
    """Write the weights, measure the written model, write its configuration and card; return the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_weights(learner.shipped(), folder / WEIGHTS)
    for file, module in learner.beside().items():
        _write_weights(module, folder / file)
    _write_config(recipe, run, {}, folder)
    figures = {name: round(value, 4) for name, value in recipe.measure(recipe, folder).items()}
    _write_config(recipe, run, figures, folder)
    (folder / "README.md").write_text(card(recipe, run, figures, folder), encoding="utf-8")
    return figures


def _write_weights(module: nn.Module, file: Path) -> None:
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    half = {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}
    file.write_bytes(save(half, metadata={"format": "pt"}))


def _write_config(recipe: Recipe, run: Run, figures: Figures, folder: Path) -> None:
    num_classes = recipe.model_args["num_classes"]
    known = timm.get_pretrained_cfg(recipe.architecture)
    config = {
        "architecture": recipe.architecture,
        "num_classes": num_classes,
        "model_args": {key: value for key, value in recipe.model_args.items() if key != "num_classes"},
        "label_names": list(recipe.label_names),
        "label_names_zh": list(recipe.label_names_zh),
        "pretrained_cfg": {
            "input_size": [3, recipe.input_size, recipe.input_size],
            "fixed_input_size": "img_size" in recipe.model_args,
            "interpolation": "bicubic",
            "crop_pct": 1.0,
            "crop_mode": "center",
            **NORMALISATION,
            "num_classes": num_classes,
            "first_conv": known.first_conv,
            "classifier": known.classifier,
        },
        "training": {
            "recipe": recipe.name,
            "scenes_version": VERSION,
            "seed": run.seed,
            "steps": run.steps,
            "seconds": run.seconds,
            "machine": run.machine,
        },
        "figures": figures,
    }
    if not recipe.label_names:
        del config["label_names"], config["label_names_zh"]
    for part in ("text", "captioner"):
        if (sizes := getattr(recipe, part)) is not None:
            config[part] = asdict(sizes)
    text = json.dumps(config, ensure_ascii=False, indent=2) + "\n"
    (folder / CONFIG).write_text(text, encoding="utf-8")


def card(recipe: Recipe, run: Run, figures: Figures, folder: Path) -> str:
    """Write the model card, Markdown."""
    schedule = recipe.schedule
    done = "" if run.steps == schedule.steps else f" (of {schedule.steps}: the run was not finished)"
    rows = "\n".join(f"| {name} | {value:.3f} |" for name, value in figures.items())
    size = sum(file.stat().st_size for file in folder.glob("*.safetensors")) / 1e6
    arguments = ", ".join(f"{key}={value}" for key, value in recipe.model_args.items())
    return f"""# {recipe.name}

A small `{recipe.architecture}` ({arguments}) trained on drawn pictures,
so that ViT Explorer shows a trained model on a machine without a network. Half precision, {size:.1f} MB.

```python
model = timm.create_model("local-dir:assets/models/{recipe.name}", pretrained=True)
```

## Data
{recipe.data} Trained on pictures 0 to {recipe.num_scenes - 1} of the stream "train"; measured on the
stream "test", which shares none with it.
Pixels of 0-1 are normalised with mean {MEAN} and standard deviation {STD}.
{_outputs(recipe)}

## Recipe
{recipe.story}

`python -m training train {recipe.name} --seed {run.seed}`
{run.steps} steps{done} of {schedule.batch_size} pictures, {run.seconds / 60:.0f} minutes on {run.machine},
wall clock, with whatever else ran on the machine.

## Figures
From the shipped weights; again with `python -m training measure {recipe.name}`.

| measured on held-out pictures | value |
|---|---|
{rows}

{explanations(figures)}

## What it can and cannot show
{recipe.limits}
"""


def _outputs(recipe: Recipe) -> str:
    if recipe.text is not None:
        return "There is no classifier: the outputs are a vector in the joint space of pictures and texts."
    if recipe.captioner is not None:
        return "There is no classifier: the outputs are the tokens that the captioner reads."
    if not recipe.label_names:
        return "There is no classifier: class labels were not read."
    classes = (f"- {en} {zh}" for en, zh in zip(recipe.label_names, recipe.label_names_zh, strict=True))
    return "Classes, in the order of the logits:\n\n" + "\n".join(classes)
