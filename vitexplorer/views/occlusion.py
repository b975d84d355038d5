"""What happens to a class when one patch is covered? The logit of the image minus that of the image without the patch.

Zeiler & Fergus 2013 (arXiv 1311.2901), computed by captum as a feature ablation whose features are the patches. The
network runs once per patch, and each cell of the map is a difference of two logits: positive if covering the patch
lowers the class. In Swin the cells are those of the last stage; the first stage would need thousands of runs.
Misleading: an edge of the cover is a feature too, and what two patches say alike is lost only when both are covered.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, SharpenControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Progress, Text
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.perturbation import BASELINE, BATCH, Runs, baseline_image, baseline_text, patch_of_pixel
from vitexplorer.quantities.scores import run_scores
from vitexplorer.quantities.targets import class_map, for_and_against
from vitexplorer.views.record import View


def ablate(
    runs: Runs,
    image: Float[Tensor, "1 channels height width"],
    cover: Float[Tensor, "1 channels height width"],
    patches: Int[Tensor, "height width"],
) -> Float[Tensor, "height width"]:
    """Compute for every pixel how much the score falls when all pixels of its patch are covered."""
    from captum.attr import FeatureAblation  # here: it takes seconds to import

    falls = FeatureAblation(runs).attribute(
        image, cover, feature_mask=patches[None, None], perturbations_per_eval=BATCH
    )
    return falls[0, 0]


def compute(capture: Capture, target: Target, baseline: str, progress: Progress | None = None) -> MapResult:
    """Compute how much the logit falls when each patch is covered, (rows, cols), signed, not rescaled."""
    grid, image = capture.grid(capture.depth - 1), capture.input.tensor
    patches = patch_of_pixel(grid, *image.shape[-2:]).to(image.device)
    runs = Runs(capture, 1 + len(patches.unique()), progress, lambda images: run_scores(capture, target, images))
    falls = ablate(runs, image, baseline_image(capture, baseline), patches)
    corners = grid.patch_size * torch.cartesian_prod(torch.arange(grid.rows), torch.arange(grid.cols))
    return class_map(
        capture,
        target,
        values=falls[corners[:, 0], corners[:, 1]],
        grid=grid,
        formula=Text("L(x) − L(x with the patch covered)", "L(x) − L（遮住该图块的 x）"),
        notes=(
            Text("Covered with {baseline}.", "用{baseline}遮挡。").format(baseline=baseline_text(capture, baseline)),
        ),
    )


VIEW = View(
    title=Text("Occlusion", "遮挡"),
    question=Text("What happens to this answer when one patch is covered?", "遮住一个图块，这个答案会怎样？"),
    misleads=Text(
        "The cover itself is visible to the model, and a patch whose content also occurs elsewhere seems unimportant.",
        "遮挡物本身也会被模型看到；若某图块的内容在别处也有，它就显得无关紧要。",
    ),
    room="flow",
    group="perturbation",
    compute=compute,
    reads=("stream",),
    reading=for_and_against,
    runs="many",
    controls=(AnyTargetControl(), BASELINE, SharpenControl(block=-1)),
    paper=Paper("Zeiler & Fergus 2013", "https://arxiv.org/abs/1311.2901"),
)
