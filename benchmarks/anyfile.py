"""Does a file of another library open without a hint, and say what that library says? Beside it what its peers do.

    python -m benchmarks.anyfile [--only vit,clip]

Each architecture of `tests/helpers/libraries.py` is built by transformers, torchvision or open_clip themselves with
random weights, saved as the library saves, and opened by `load_model(weights=path)`. As a Markdown table: how many
tensors of the file are used, the largest difference of the answer and, where the library tells its attention, of
that, both relative to the largest number of the library's own.

The peers get the library's live module, the target class, and for a layer the first norm of the last block, of which
`grad_cam` here makes its map too. What they need is added until their map is that map (within 1e-3 after their own
scaling): first nothing, then a wrapper that answers with logits, then a function that puts this very model's tokens
back on its grid, which torchcam and captum do not take. The least that gives the map is in the table, "none" where the
model itself would have to be changed, and in brackets what they said with nothing added. torchcam is also asked to
find the layer itself, which it offers. No peer is asked where there is no answer to explain or no norm to look at.
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
"""what the libraries call the first norm of a block"""
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
    """Print the table and, below it, how often each peer needed what."""
    warnings.simplefilter("ignore")
    rows = [row(key) for key in (only.split(",") if only else CASES)]
    print(markdown(HEADER, rows))
    for place, name in enumerate(HEADER[5:], 5):
        said = Counter(re.split(r" \(| `", cells[place])[0] for cells in rows if cells[place])
        print(f"{name}: " + ", ".join(f"{what} {count}" for what, count in said.most_common()))


def row(key: str) -> tuple[str, ...]:
    """One architecture."""
    case, module = CASES[key], made(key)
    with tempfile.TemporaryDirectory() as folder:
        model = vx.load_model(weights=saved(module, Path(folder)))
    captured = vx.capture(model, PICTURE, fit="crop")
    images = captured.input.tensor
    with torch.no_grad():
        answer = case.says(module, images)
        seen = case.looks(module, images) if case.looks and key != "mae" else ()  # which shuffles its tokens
    used = model.notes[0].en.partition(": ")[2].partition(" tensors")[0]
    shown = _difference(captured.output, answer)
    looked = _of_attention(captured, list(seen)) if seen else ""
    peers = (
        of_peers(captured, module, Logits(module, case.says).eval(), images)
        if captured.logits is not None
        else ("",) * 4
    )
    return (case.library.partition(".")[0], key, used, shown, looked, *peers)


def _difference(ours: Tensor, theirs: Tensor) -> str:
    return f"{float((ours - theirs).abs().max() / theirs.abs().max()):.0e}"


def _of_attention(captured: Capture, seen: list[Tensor]) -> str:
    """Of all blocks, or of the last of each stage, which is what transformers tells of Swin."""
    blocks = range(captured.depth)
    if len(seen) != captured.depth:
        stages = [captured.site(block).name.split(".")[1] for block in blocks]
        blocks = [block for block in blocks if stages[block] not in stages[block + 1 :]]
    found = [captured.attention(block) for block in blocks]
    pairs = zip((one if one.ndim == 4 else one[None] for one in found), seen, strict=True)
    return f"{max(float((one - other).abs().max() / other.abs().max()) for one, other in pairs):.0e}"


# ---------------------------------------------------------------------------------------------- the peers


class Logits(nn.Module):
    """A module that answers with what is to be explained alone."""

    def __init__(self, module: nn.Module, says: Callable[[nn.Module, Tensor], Tensor]):
        super().__init__()
        self.module, self.says = module, says

    def forward(self, images: Tensor) -> Tensor:
        """Logits, or features of the common space of images and words."""
        return self.says(self.module, images)


def last_norm(module: nn.Module) -> nn.Module | None:
    """The first norm of the last block, of the tower for images where there are two."""
    found = {name: part for name, part in module.named_modules() if name.rpartition(".")[2] in NORMS}
    towers = [name for name in found if name.startswith(("visual.", "vision_model."))]
    names = towers or list(found)
    return found[names[-1]] if names else None


def of_peers(captured: Capture, module: nn.Module, logits: nn.Module, images: Tensor) -> tuple[str, ...]:
    """What pytorch-grad-cam, torchcam (twice) and captum need for the map of the last block's first norm."""
    layer = last_norm(module)
    if layer is None or not captured.model.family.shows_stream:
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
    """The least that must be written by hand for this map, and what is said without it."""

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
    said = {way: _tried(make, ours, model, layer, images, target, reshape) for way, (model, reshape) in ways.items()}
    right = next((way for way, how in said.items() if how == "right"), "none")
    return right if right == "as it is" else f"{right} ({said['as it is']})"


def _tried(make: Map, ours: np.ndarray, *given: Any) -> str:
    try:
        theirs = np.asarray(make(*given), dtype=np.float64)
    except Exception as error:  # each library meets what it does not take with whatever breaks first
        return type(error).__name__
    if theirs.ndim != 2:
        return f"numbers of shape {' × '.join(map(str, theirs.shape))}"
    resized = scale_cam_image(ours[None].astype(np.float32), theirs.shape[::-1])  # theirs is scaled once more after it
    expected, found = (scale_cam_image(one.astype(np.float32)) for one in (resized, theirs[None]))
    return "right" if np.abs(found - expected).max() < SAME else "another map"


def pytorch_grad_cam(model, layer, images, target, reshape) -> np.ndarray:
    """`GradCAM(model, target_layers)`."""
    with GradCAM(model, [layer], reshape_transform=reshape) as cam:
        return cam(images, [lambda said: said[target]])[0]


def torchcam(model, layer, images, target, reshape) -> np.ndarray:
    """`GradCAM(model, target_layer)`, whose map is as large as the layer's; scores are handed over by hand."""
    _take_no(reshape)
    with TorchCam(model, layer) as cam:
        said = model(images)
        return cam(target, said)[0].squeeze(0).detach().numpy()


def captum(model, layer, images, target, reshape) -> np.ndarray:
    """`LayerGradCam(model, layer)`, with the relu that the paper has."""
    _take_no(reshape)
    cam = LayerGradCam(model, layer)
    return cam.attribute(images, target=target, relu_attributions=True)[0].squeeze(0).detach().numpy()


def _take_no(reshape: Callable[[Tensor], Tensor] | None) -> None:
    if reshape is not None:
        raise NotImplementedError


def torchcams_layer(module: nn.Module, images: Tensor) -> str:
    """What torchcam takes where no layer is named."""
    try:
        with TorchCam(module, input_shape=tuple(images.shape[1:])) as cam:
            return cam.target_names[0]
    except Exception:  # as above
        return ""


if __name__ == "__main__":
    typer.run(main)
