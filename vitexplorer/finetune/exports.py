"""Exports of a tuned model: a plain timm checkpoint, a Hugging Face peft adapter, a model card."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import safetensors.torch

from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.finetune.attaching import TunedModel, merge
from vitexplorer.finetune.job.folder import NAMED_WEIGHTS, images_of, stem_of
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.methods import METHODS
from vitexplorer.finetune.peft import export_peft
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.finetune.storing import base_in, facts, objective_in, preprocessing_in
from vitexplorer.models.about import metadata
from vitexplorer.models.catalog import is_convolutional


def merged_checkpoint(tuned: TunedModel) -> bytes:
    """Return a safetensors file with the same logits that `timm.create_model(name, num_classes=...)` loads.

    `load_model(name, weights=...)` and the page open it too and read the class names in it.

    Raises UnsupportedError for methods that do not merge, and if the result needs a parameter that timm's model lacks,
    such as SSF's shift after a layer without bias.
    """
    merged = merge(tuned).module.state_dict()
    added = sorted(merged.keys() - tuned.module.state_dict().keys())
    if added:
        raise UnsupportedError(
            Text(
                "Merged, {method} needs parameters that timm's {model} does not have ({name}). Take the tuned model's"
                " own file instead.",
                "合并后的 {method} 需要 timm 的 {model} 所没有的参数（{name}）。请改用微调模型自己的文件。",
            ).format(method=METHODS[tuned.method].title, model=tuned.name, name=added[0])
        )
    state = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in merged.items()}
    return safetensors.torch.save(state, metadata(facts(tuned) | {"merged": True}))


def peft_zip(tuned: TunedModel) -> bytes:
    """Zip the folder that `peft.PeftModel.from_pretrained` reads. Raises UnsupportedError if peft cannot express it."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        export_peft(tuned, folder)
        for file in sorted(Path(folder).iterdir()):
            archive.write(file, file.name)
    return packed.getvalue()


def model_card(result: FinetuneResult, config: JobConfig) -> str:
    """Write a model card in Markdown: origin, training, validation metrics and code that loads each file."""
    base = base_in(result.file)
    settings = ", ".join(f"{key}={value}" for key, value in result.settings.items()) or "defaults"
    figures = "\n".join(f"| {key} | {value:.4g} |" for key, value in result.metrics.items())
    learned = f"{len(result.classes)} classes: {', '.join(result.classes)}" if result.classes else "a number"
    baseline = result.baseline
    compared = (
        f"Linear model on the frozen features of the same split: {baseline.value:.4g}; without looking at the image: "
        f"{baseline.constant:.4g}.\n\n"
        if baseline
        else ""
    )
    uses = "\n\n".join(
        f"{what}\n\n```python\n{lines}\n```" for what, lines in _uses(result, stem_of(config, result.run))
    )
    return (
        f"# {result.run} on {images_of(config)}\n\n"
        f"- Base model: `{base.model}` ({base.weights}, {base.weights_source})\n"
        f"- Method: {result.method} ({settings})\n"
        f"- Learned: {learned}\n"
        f"- Input: {_input(result)}\n"
        f"- Output: {_output(result)}\n"
        f"- Notes: {' '.join(note.en for note in result.notes)}\n"
        f"- Parameters: {result.trainable:,} trained of {result.total:,}\n"
        f"- Training: {len(result.epochs)} epochs, {result.seconds:.0f} s; "
        f"epoch {result.epochs[result.best].epoch} is kept"
        f"{'; stopped early' if result.stopped else ''}\n\n"
        f"## On the validation set ({len(result.paths)} images)\n\n"
        f"| figure | value |\n|---|---|\n{figures}\n\n"
        f"{compared}"
        "The kept epoch was chosen on these images, so the figures are slightly too good.\n\n"
        f"## Use\n\n{uses}\n"
    )


def _input(result: FinetuneResult) -> str:
    facts = preprocessing_in(result.file)
    height, width = facts.input_size
    return (
        f"RGB, {height} x {width} pixels ({facts.interpolation}, {facts.crop_mode} crop of {facts.crop_pct:g}), 0-1, "
        f"minus {list(facts.mean)}, over {list(facts.std)}"
    )


def _output(result: FinetuneResult) -> str:
    if result.classes:
        return "logits of the classes in this order"
    objective = objective_in(result.file)
    place = "sigmoid(y)" if objective.loss == "bce" else "y"
    return f"y, which stands for the number {objective.low:.6g} + {objective.scale:.6g} {place}"


def _uses(result: FinetuneResult, stem: str) -> Iterator[tuple[str, str]]:
    """Yield each kind of exported file with the code that loads it."""
    name, weights, seed = result.base
    outputs = len(result.classes) or 1
    architecture = f"local-dir:assets/models/{name}" if (ASSETS / "models" / name).is_dir() else name
    source = {"random": f', weights="random", seed={seed}', "auto": ""}.get(weights, f", weights={weights!r}")
    base = f'vx.load_backbone("{name}"{source})'
    given = "" if weights in NAMED_WEIGHTS else f", {base}"
    yield (
        f"`{stem}.safetensors`, what was trained, in ViT Explorer:",
        f'import vitexplorer as vx\n\nmodel = vx.load_tuned("{stem}.safetensors"{given})',
    )
    if METHODS[result.method].merge:
        load = "load_backbone" if is_convolutional(name) else "load_model"
        yield (
            f"`{stem}-merged.safetensors`, the whole model, in ViT Explorer:",
            f'import vitexplorer as vx\n\nmodel = vx.{load}("{name}", weights="{stem}-merged.safetensors")',
        )
        yield (
            f"`{stem}-merged.safetensors` in timm alone:",
            "import timm\nfrom safetensors.torch import load_file\n\n"
            f'module = timm.create_model("{architecture}", num_classes={outputs})\n'
            f'module.load_state_dict(load_file("{stem}-merged.safetensors"))',
        )
    if METHODS[result.method].exports:
        yield (
            f"`{stem}-peft.zip`, unpacked, with Hugging Face's peft:",
            "import vitexplorer as vx\nfrom peft import PeftModel\n\n"
            f"module = {base}.module\n"
            f"module.reset_classifier({outputs})\n"
            f'module = PeftModel.from_pretrained(module, "{stem}-peft")',
        )
