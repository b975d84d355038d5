"""How much of the logit does each patch account for, on the way from nothing to the image? Integrated gradients.

Sundararajan et al. 2017 (arXiv 1703.01365), computed by captum: the gradient averaged along the straight line from a
baseline to the image (Gauss-Legendre nodes), times the difference between the two, summed over the channels and
pixels of each patch. The whole map sums to the logit of the image minus that of the baseline; the notes give the error
of this sum for the chosen number of steps.
Misleading: images on the way from the baseline are like none that the model was trained on, and another baseline
gives another map.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, Number, SharpenControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Progress, Text
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.perturbation import BASELINE, Runs, baseline_image, baseline_text, patch_sums
from vitexplorer.quantities.scores import run_scores, score_of
from vitexplorer.quantities.targets import class_map, for_and_against, score_word
from vitexplorer.views.record import View

BATCH = 4
"""Images in memory with their graphs at once: about 120 MB each for ViT-B/16 at 224 pixels"""

COMPLETE = Text(
    "The pixels add up to {total:.3f}; the {score} rises by {rise:.3f} from the baseline to the image.",
    "所有像素之和为 {total:.3f}；从基线到图像，{score}变化 {rise:.3f}。",
)


def integrate(
    runs: Runs,
    image: Float[Tensor, "1 channels height width"],
    start: Float[Tensor, "1 channels height width"],
    steps: int,
) -> Float[Tensor, "channels height width"]:
    """Compute integrated gradients of one score for every number of the input."""
    from captum.attr import IntegratedGradients  # here: it takes seconds to import

    image = image.detach().clone()  # captum sets a flag on what it is given
    attributions = IntegratedGradients(runs).attribute(image, start, n_steps=steps, internal_batch_size=BATCH)
    return attributions[0].detach().float()


def compute(capture: Capture, target: Target, baseline: str, steps: int, progress: Progress | None = None) -> MapResult:
    """Compute integrated gradients summed over each patch, (rows, cols), signed, not rescaled."""
    grid, start = capture.grid(0), baseline_image(capture, baseline)
    runs = Runs(capture, steps + 1, progress, lambda images: run_scores(capture, target, images))
    with torch.no_grad():
        rise = float(score_of(capture, target) - runs(start)[0])
    pixels = integrate(runs, capture.input.tensor, start, steps)
    return class_map(
        capture,
        target,
        values=patch_sums(pixels.sum(0), grid),
        grid=grid,
        formula=Text("∑ (x − x₀) · ∫ ∂L/∂x over the patch", "在图块上求和 ∑ (x − x₀) · ∫ ∂L/∂x"),
        notes=(
            Text("Baseline: {baseline}.", "基线：{baseline}。").format(baseline=baseline_text(capture, baseline)),
            COMPLETE.format(total=float(pixels.sum()), rise=rise, score=score_word(capture, target)),
        ),
    )


VIEW = View(
    title=Text("Integrated gradients", "积分梯度"),
    question=Text(
        "How much of the logit does each patch account for, from nothing to the image?",
        "从“什么都没有”到这幅图像，每个图块为 logit 贡献了多少？",
    ),
    misleads=Text(
        "Another baseline gives another map, and the images in between are unlike the training images.",
        "换一个基线就得到另一幅图，而且途中的图像与训练图像很不一样。",
    ),
    room="flow",
    group="gradient",
    compute=compute,
    reads=("stream",),
    reading=for_and_against,
    runs="many",
    controls=(
        AnyTargetControl(),
        BASELINE,
        Number("steps", Text("Steps", "步数"), low=2, high=300, start=32, step=1, whole=True),
        SharpenControl(),
    ),
    paper=Paper("Sundararajan et al. 2017", "https://arxiv.org/abs/1703.01365"),
)
