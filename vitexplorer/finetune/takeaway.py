"""A tuned model as files for elsewhere: a plain timm checkpoint, Hugging Face's peft, a card that says what it is."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path

import safetensors.torch

from vitexplorer.finetune.attaching import TunedModel, merge
from vitexplorer.finetune.peft import export_peft
from vitexplorer.finetune.records import FinetuneResult


def merged_checkpoint(tuned: TunedModel) -> bytes:
    """A safetensors file that `timm.create_model(name, num_classes=...)` loads and that gives the same logits.

    Raises UnsupportedError for methods that do not merge.
    """
    state = {
        name: tensor.detach().cpu().contiguous().clone() for name, tensor in merge(tuned).module.state_dict().items()
    }
    return safetensors.torch.save(state, {"format": "pt"})


def peft_zip(tuned: TunedModel) -> bytes:
    """A zip of the folder that `peft.PeftModel.from_pretrained` reads. Raises UnsupportedError for all but lora."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        export_peft(tuned, folder)
        for file in sorted(Path(folder).iterdir()):
            archive.write(file, file.name)
    return packed.getvalue()


def model_card(result: FinetuneResult, images: str) -> str:
    """Markdown for whoever is handed the file: what it is, how it was made, how well it does and how it is loaded.

    Args:
        result: of the run.
        images: what the images are called.
    """
    name, weights, seed = result.base
    settings = ", ".join(f"{key}={value}" for key, value in result.settings.items()) or "defaults"
    figures = "\n".join(f"| {key} | {value:.4g} |" for key, value in result.metrics.items())
    base = f"`{name}` ({weights}" + (f", seed {seed})" if weights == "random" else ")")
    learned = f"{len(result.classes)} classes: {', '.join(result.classes)}" if result.classes else "a number"
    baseline = result.baseline
    compared = (
        f"Linear model on the frozen features of the same split: {baseline.value:.4g}; without looking at the image: "
        f"{baseline.constant:.4g}.\n\n"
        if baseline
        else ""
    )
    return (
        f"# {result.run} on {images}\n\n"
        f"- Base model: {base}\n"
        f"- Method: {result.method} ({settings})\n"
        f"- Learned: {learned}\n"
        f"- Parameters: {result.trainable:,} trained of {result.total:,}\n"
        f"- Training: {len(result.epochs)} epochs, {result.seconds:.0f} s; "
        f"epoch {result.epochs[result.best].epoch} is kept"
        f"{'; stopped early' if result.stopped else ''}\n\n"
        f"## On the validation set ({len(result.paths)} images)\n\n"
        f"| figure | value |\n|---|---|\n{figures}\n\n"
        f"{compared}"
        "The kept epoch was chosen on these images, so the figures are slightly too good.\n\n"
        "## Use\n\n"
        "```python\n"
        "import vitexplorer as vx\n\n"
        'model = vx.load_tuned("tuned.safetensors")\n'
        'capture = vx.capture(model, "picture.jpg")\n'
        "```\n"
    )
