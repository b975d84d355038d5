"""What does each patch bring into a picture of nothing? Its activations, put into a run that never saw the image.

Causal Attribution via Activation Patching (Izadi et al. 2026, arXiv 2603.13652). The network runs on a neutral picture.
At the entry of each block of the middle half, the token of one patch is replaced by its value in the run of the image;
the network computes all other tokens from that. The number of a patch is the score of this run minus the score of the
neutral run, so a patch that brings nothing gets zero. Early blocks are skipped because the token does not mean much
there yet, late ones because it is no longer about its place. Our own choices: the range (blocks depth/4 to
3 depth/4 - 1), one patch at a time without neighbours, and the neutral picture. One run of the network for each patch.
Misleading: a patch's token has met all others before it is taken out, so that what it brings need not be its own.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, SharpenControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.capture_protocol import merges_tokens, refuse_if
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Progress, Text
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.perturbation import BASELINE, BATCH, Runs, baseline_image, baseline_text
from vitexplorer.quantities.scores import run_scores
from vitexplorer.quantities.targets import class_map, for_and_against
from vitexplorer.tracing.follow import Args, FollowedPass, Function, Kwargs
from vitexplorer.tracing.tap import batch_first
from vitexplorer.views.record import View


class PatchedPass(FollowedPass):
    """Forward pass that replaces a token at the entries of some blocks by that of the captured run.

    It is a different token for each image of the batch.
    """

    def __init__(self, capture: Capture, blocks: range, tokens: Int[Tensor, " batch"]):
        super().__init__(capture.model.block_of_parameter)
        self._capture = capture
        self._tokens = tokens
        self._left = set(blocks)

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Patch the stream at the first operation of a block, which reads it; later operations write on it."""
        if self.block in self._left:
            self._left.remove(self.block)
            entering = args[0] if args else kwargs["input"]
            stream = batch_first(entering, self._capture.site(self.block).stream.reads_tokens_first).flatten(1, -2)
            stream[torch.arange(len(stream)), self._tokens] = self._capture.residual(self.block)[self._tokens]
        return function(*args, **kwargs)


def middle_half(depth: int) -> range:
    """Return blocks depth/4 to 3 depth/4 - 1, at least one."""
    return range(depth // 4, max(depth // 4 + 1, 3 * depth // 4))


@torch.no_grad()
def brought(
    capture: Capture,
    target: Target,
    neutral: Float[Tensor, "1 channels height width"],
    blocks: range,
    progress: Progress | None,
) -> Float[Tensor, " patches"]:
    """Compute how much the score of the neutral picture rises with each patch's tokens in it."""
    grid = capture.grid(0)
    tokens = torch.arange(grid.num_patches, device=neutral.device) + grid.num_prefix_tokens
    runs = Runs(capture, 1 + len(tokens), progress, lambda images: run_scores(capture, target, images))
    neutral_score = runs(neutral)
    rises = []
    for patched in tokens.split(BATCH):
        with PatchedPass(capture, blocks, patched):
            rises.append(runs(neutral.expand(len(patched), -1, -1, -1)) - neutral_score)
    return torch.cat(rises)


def compute(capture: Capture, target: Target, baseline: str, progress: Progress | None = None) -> MapResult:
    """Compute the contribution of each patch, (rows, cols), signed, not rescaled."""
    blocks = middle_half(capture.depth)
    return class_map(
        capture,
        target,
        values=brought(capture, target, baseline_image(capture, baseline), blocks, progress),
        grid=capture.grid(0),
        formula=Text("L(x₀ with the patch's tokens) − L(x₀)", "L（放入该图块标记的 x₀）− L(x₀)"),
        notes=(
            Text(
                "Put into a run of {baseline}, at the entries of blocks {first} to {last}.",
                "在以{baseline}为输入的运行中，于块 {first} 至 {last} 的输入处放入。",
            ).format(baseline=baseline_text(capture, baseline), first=blocks[0], last=blocks[-1]),
        ),
    )


VIEW = View(
    title=Text("Activation patching", "激活修补"),
    question=Text("What does each patch add to a blank picture?", "把每个图块放进一幅空白图像，会带来什么？"),
    misleads=Text(
        "The token of a patch has already mixed with all others: its contribution may come from other patches.",
        "图块的标记早已与其他所有标记混合：它的贡献可能来自其他图块。",
    ),
    room="flow",
    group="perturbation",
    compute=compute,
    reads=("stream",),
    reading=for_and_against,
    runs="many",
    controls=(AnyTargetControl(), BASELINE, SharpenControl()),
    paper=Paper("Izadi et al. 2026", "https://arxiv.org/abs/2603.13652"),
    refuses=refuse_if(
        merges_tokens,
        Text(
            "Activation patching follows the token of a patch from block to block, and {model} merges its tokens "
            "between stages. Use occlusion.",
            "激活修补要逐块跟踪同一图块的标记，而 {model} 在阶段之间会合并标记。请改用遮挡。",
        ),
    ),
)
