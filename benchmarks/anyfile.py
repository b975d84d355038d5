"""Does a file of another library open without a hint, with the same outputs? Compared with Grad-CAM packages.

    python -m benchmarks.anyfile [--only vit,clip]

Each architecture of `tests/helpers/libraries.py` is built by transformers, torchvision or open_clip themselves with
random weights, saved as the library saves, and opened by `load_model(weights=path)`. Prints a Markdown table: how many
tensors of the file are used, and the largest difference of the output and, if the library returns it, of the attention,
both relative to the library's largest value.

The peers get the library's live module, the target class, and as layer the first norm of the last block, as our
`grad_cam`. Code is added until their map equals ours (within 1e-3 after their own scaling): first none, then a wrapper
that returns logits, then a function that puts the model's tokens back on its grid, which torchcam and captum do not
accept. The table has the least addition that gives the map, "none" if the model itself would have to be changed, and in
brackets the outcome without additions. torchcam also chooses a layer itself, which it offers. Models without logits or
without such a norm are skipped.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from captum.attr import LayerGradCam
from pytorch_grad_cam import GradCAM
from pytorch_grad_cam.utils.image import scale_cam_image
from torch import Tensor, nn
from torchcam.methods import GradCAM as TorchCam

import vitexplorer as vx
from docs.make.tables import markdown
from tests.helpers.libraries import CASES, made, saved
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.types import PatchGrid

PICTURE = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
NORMS = ("layernorm_before", "norm1", "layer_norm1", "layer_norm_1", "ln_1")
"""Names of a block's first norm in the libraries"""
SAME = 1e-3
HEADER = (
    "library",
    "architecture",
    "tensors used",
    "answer",
    "attention",
    "pytorch-grad-cam",
    "torchcam",
    "torchcam's own layer",
    "captum",
)

Map = Callable[[nn.Module, nn.Module, Tensor, int, Callable[[Tensor], Tensor] | None], Any]
"""(model, layer, images, target, reshaping) -> a map"""


def main(only: Annotated[str, typer.Option(help="Architectures, separated by commas; all when empty.")] = "") -> None:
    """Print the table and, below it, how often each peer needed each addition."""
    warnings.simplefilter("ignore")
    rows = [row(key) for key in (only.split(",") if only else CASES)]
    print(markdown(HEADER, rows))
    for place, name in enumerate(HEADER[5:], 5):
        needs = Counter(re.split(r" \(| `", cells[place])[0] for cells in rows if cells[place])
        print(f"{name}: " + ", ".join(f"{need} {count}" for need, count in needs.most_common()))


def row(key: str) -> tuple[str, ...]:
    """Return the table's row of one architecture."""
    case, module = CASES[key], made(key)
    with tempfile.TemporaryDirectory() as folder:
        model = vx.load_model(weights=saved(module, Path(folder)))
    captured = vx.capture(model, PICTURE, fit="crop")
    images = captured.input.tensor
    with torch.no_grad():
        answer = case.says(module, images)
        seen = case.looks(module, images) if case.looks and key != "mae" else ()  # which shuffles its tokens
    used = model.notes[0].en.partition(": ")[2].partition(" tensors")[0]
    output_difference = _difference(captured.output, answer)
    attention_difference = _attention_difference(captured, list(seen)) if seen else ""
    peers = of_peers(captured, module, Logits(module, case.says).eval(), images)
    return (case.library.partition(".")[0], key, used, output_difference, attention_difference, *peers)


def _difference(ours: Tensor, theirs: Tensor) -> str:
    return f"{float((ours - theirs).abs().max() / theirs.abs().max()):.0e}"


def _attention_difference(captured: Capture, theirs: list[Tensor]) -> str:
    """Compare all blocks, or the last of each stage, which is what transformers returns for Swin."""
    blocks = range(captured.depth)
    if len(theirs) != captured.depth:
        stages = [captured.site(block).name.split(".")[1] for block in blocks]
        blocks = [block for block in blocks if stages[block] not in stages[block + 1 :]]
    ours = [captured.attention(block) for block in blocks]
    pairs = zip((weights if weights.ndim == 4 else weights[None] for weights in ours), theirs, strict=True)
    return f"{max(float((mine - other).abs().max() / other.abs().max()) for mine, other in pairs):.0e}"


# ---------------------------------------------------------------------------------------------- the peers


class Logits(nn.Module):
    """Module that returns only the output to explain."""

    def __init__(self, module: nn.Module, says: Callable[[nn.Module, Tensor], Tensor]):
        super().__init__()
        self.module = module
        self.says = says

    def forward(self, images: Tensor) -> Tensor:
        """Return logits, or features in the joint space of images and texts."""
        return self.says(self.module, images)


def last_norm(module: nn.Module) -> nn.Module | None:
    """Return the first norm of the last block, of the image tower if there are two towers."""
    norms = {name: part for name, part in module.named_modules() if name.rpartition(".")[2] in NORMS}
    image_norms = [name for name in norms if name.startswith(("visual.", "vision_model."))]
    names = image_norms or list(norms)
    return norms[names[-1]] if names else None


def of_peers(captured: Capture, module: nn.Module, logits: nn.Module, images: Tensor) -> tuple[str, ...]:
    """Return the additions that pytorch-grad-cam, torchcam (twice) and captum need for the last block's map."""
    layer = last_norm(module)
    if captured.logits is None or layer is None or not captured.model.family.shows_stream:
        return ("",) * 4
    target, grid = int(captured.logits.argmax()), captured.grid(captured.depth - 1)
    ours = vx.compute("grad_cam", captured, target=target, block=captured.depth - 1).values
    own = torchcams_layer(module, images)
    return (
        least(pytorch_grad_cam, ours, module, logits, layer, images, target, grid),
        least(torchcam, ours, module, logits, layer, images, target, grid),
        f"map of `{own}`" if own else "finds none",
        least(captum, ours, module, logits, layer, images, target, grid),
    )


def least(
    make: Map,
    ours: np.ndarray,
    module: nn.Module,
    logits: nn.Module,
    layer: nn.Module,
    images: Tensor,
    target: int,
    grid: PatchGrid,
) -> str:
    """Return the least code to write by hand for this map, and the outcome without it."""

    def put_back(tokens: Tensor) -> Tensor:
        if tokens.ndim == 4:
            return tokens.permute(0, 3, 1, 2)
        return tokens[:, grid.num_prefix_tokens :].unflatten(1, (grid.rows, grid.cols)).permute(0, 3, 1, 2)

    ways = {
        "as it is": (module, None),
        "with a wrapper": (logits, None),
        "with a reshaping": (module, put_back),
        "with both": (logits, put_back),
    }
    outcomes = {
        way: _outcome(make, ours, model, layer, images, target, reshape) for way, (model, reshape) in ways.items()
    }
    right = next((way for way, outcome in outcomes.items() if outcome == "right"), "none")
    return right if right == "as it is" else f"{right} ({outcomes['as it is']})"


def _outcome(make: Map, ours: np.ndarray, *args: Any) -> str:
    try:
        theirs = np.asarray(make(*args), dtype=np.float64)
    except Exception as error:  # each library fails in its own way
        return type(error).__name__
    if theirs.ndim != 2:
        return f"numbers of shape {' × '.join(map(str, theirs.shape))}"
    resized = scale_cam_image(
        ours[None].astype(np.float32), theirs.shape[::-1]
    )  # their map is scaled after resizing too
    expected, scaled = (scale_cam_image(values.astype(np.float32)) for values in (resized, theirs[None]))
    return "right" if np.abs(scaled - expected).max() < SAME else "another map"


def pytorch_grad_cam(model, layer, images, target, reshape) -> np.ndarray:
    """Compute the map with `GradCAM(model, target_layers)`."""
    with GradCAM(model, [layer], reshape_transform=reshape) as cam:
        return cam(images, [lambda scores: scores[target]])[0]


def torchcam(model, layer, images, target, reshape) -> np.ndarray:
    """Compute the map with `GradCAM(model, target_layer)`, at the layer's resolution, from explicit scores."""
    _refuse(reshape)
    with TorchCam(model, layer) as cam:
        scores = model(images)
        return cam(target, scores)[0].squeeze(0).detach().numpy()


def captum(model, layer, images, target, reshape) -> np.ndarray:
    """Compute the map with `LayerGradCam(model, layer)` and the paper's ReLU."""
    _refuse(reshape)
    cam = LayerGradCam(model, layer)
    return cam.attribute(images, target=target, relu_attributions=True)[0].squeeze(0).detach().numpy()


def _refuse(reshape: Callable[[Tensor], Tensor] | None) -> None:
    if reshape is not None:
        raise NotImplementedError


def torchcams_layer(module: nn.Module, images: Tensor) -> str:
    """Return the layer that torchcam chooses itself, or an empty string."""
    try:
        with TorchCam(module, input_shape=tuple(images.shape[1:])) as cam:
            return cam.target_names[0]
    except Exception:  # as above
        return ""


if __name__ == "__main__":
    typer.run(main)
