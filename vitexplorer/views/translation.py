"""Do the tokens move with the image? A transformer, the same without its positions, and a CNN, over many shifts.

The image is shifted to the right by pixels; what leaves on the right comes back on the left. A map of features is
equivariant if features(shifted image) equals shift(features(image)). The curve is the correlation of the two over all
cells and channels, with each channel's mean removed and features between cells interpolated linearly; 1 means that they
move with the image. Patches are cut at fixed places, so a plain vision transformer without positions is exactly
equivariant to shifts by whole patches and to nothing else; learned positions destroy that too. Convolution commutes
with shifts by its stride (locality and translation equivariance: Dosovitskiy et al. 2021, arXiv 2010.11929, section
3.1); between strides it aliases (Zhang 2019, arXiv 1904.11486). The CNN's convolutions wrap around here as the image
does, so that no border of zeros disturbs them; its pooling still sees one. The CNN is the bundled one; its equivariance
comes from the architecture and needs no training. Compare nothing else between the curves.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Number
from vitexplorer.core.format import counted, measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Progress, Text, same
from vitexplorer.core.types import CurvesResult
from vitexplorer.interventions.changed_pass import ChangedPass, Effect
from vitexplorer.models.feature_map import feature_map
from vitexplorer.models.preprocess import normalise
from vitexplorer.tracing.tap import AttentionTap
from vitexplorer.views.record import View

STEPS = 8
"""Number of shifts from one patch to the next"""

WITHOUT_POSITIONS = Text("without positions", "去掉位置编码")
CNN = Text("a CNN, {name}, {weights}", "卷积网络 {name}，{weights}")

Features = Callable[[Tensor], Tensor]
"""(batch, channels, height, width) -> (batch, rows, cols, dim)"""


def moved_right(features: Float[Tensor, "rows cols dim"], cells: float) -> Float[Tensor, "rows cols dim"]:
    """Shift features around by a number of cells, interpolated between two cells."""
    whole = int(cells // 1)
    share = cells - whole
    shifted, shifted_further = features.roll(whole, dims=1), features.roll(whole + 1, dims=1)
    return shifted if share == 0 else (1 - share) * shifted + share * shifted_further


def correlation(one: Float[Tensor, "rows cols dim"], other: Float[Tensor, "rows cols dim"]) -> float:
    """Compute the correlation over all cells and channels, without each channel's mean; 0 if nothing varies."""
    one, other = (part.double().flatten(0, 1) for part in (one, other))
    one, other = one - one.mean(0), other - other.mean(0)
    size = one.norm() * other.norm()
    return float((one * other).sum() / size) if size > 0 else 0.0


def curve(features: Features, image: Tensor, shifts: list[int], stride: int, report: Callable[[], None]) -> list[float]:
    """Compare, for each shift, the moved features with the features of the moved image."""
    unmoved = features(image)[0]
    correlations = []
    for shift in shifts:
        correlations.append(correlation(moved_right(unmoved, shift / stride), features(image.roll(shift, dims=-1))[0]))
        report()
    return correlations


@torch.no_grad()
def patch_tokens(capture: Capture, images: Tensor) -> Float[Tensor, "batch rows cols dim"]:
    """Return patch tokens after the last block and the final norm."""
    last, model = capture.depth - 1, capture.model
    grid = capture.grid(last)
    with AttentionTap(model.block_of_parameter, sites=capture.sites) as tap:
        capture.run(images)
    tokens = model.family.final_norm(model.module, tap.made[last].flatten(1, -2))
    return tokens[:, len(capture.prefix_tokens) :].unflatten(1, (grid.rows, grid.cols))


def compute(capture: Capture, patches: int, progress: Progress | None = None) -> CurvesResult:
    """Compute the correlation of moved tokens with tokens of the moved image, (curves, points)."""
    model, image = capture.model, capture.input.tensor
    patch_size = capture.grid(capture.depth - 1).patch_size
    shifts = list(dict.fromkeys(round(patch_size * step / STEPS) for step in range(patches * STEPS + 1)))
    cnn = feature_map(patch_size)
    cnn_words = {"name": cnn.provenance.model, "weights": cnn.provenance.weights_text}
    positions = model.family.without_positions(model.module)

    def tokens(images: Tensor) -> Tensor:
        return patch_tokens(capture, images)

    def tokens_without_positions(images: Tensor) -> Tensor:
        with ChangedPass(model.block_of_parameter, (Effect(tensors=positions),)):
            return patch_tokens(capture, images)

    named: list[tuple[Text, Features, Tensor, int]] = [(same(model.name), tokens, image, patch_size)]
    if positions:
        named.append((WITHOUT_POSITIONS, tokens_without_positions, image, patch_size))
    named.append((CNN.format(**cnn_words), cnn, normalise(capture.input.pixels, cnn.mean, cnn.std), cnn.stride))
    done = count(1)

    def report() -> None:
        if progress:
            progress(next(done), len(named) * len(shifts))

    values = [curve(features, image, shifts, stride, report) for _, features, image, stride in named]
    return CurvesResult(
        values=np.array(values),
        axes=("curves", "points"),
        unit=Text("correlation", "相关系数"),
        formula="r(T f(x), f(T x))",
        notes=(
            Text(
                "T shifts to the right, wrapping around; r is Pearson's correlation. A patch is {side} px, a cell "
                "of the CNN {stride} px.",
                "T 表示向右循环平移，r 为皮尔逊相关系数。一个图块为 {side} 像素，CNN 的一个单元为 {stride} 像素。",
            ).format(side=patch_size, stride=cnn.stride),
            Text(
                "CNN: {name}, {weights}; its convolutions wrap around here as the image does. Its equivariance comes "
                "from the architecture and needs no training.",
                "CNN：{name}，{weights}；这里它的卷积在边缘处循环，与图像的平移一致。等变性来自结构，无需训练。",
            ).format(**cnn_words),
        ),
        x=np.array(shifts, dtype=float),
        x_name=Text("shift to the right (pixels)", "向右平移（像素）"),
        curves=tuple(name for name, *_ in named),
    )


def reading(result: CurvesResult) -> Text:
    """State how far each curve falls between the shifts at which it is perfect."""
    lowest = [measured(curve.min()) for curve in result.values]
    without = Text(", without its positions to {low}", "，去掉位置编码后为 {low}").format(low=lowest[1])
    return Text(
        "While the image moves by up to {far} px, the correlation of {model} falls to {low}{without}; that of the CNN "
        "falls to {cnn}.",
        "图像平移至多 {far} 像素时，{model} 的相关系数最低为 {low}{without}；卷积网络最低为 {cnn}。",
    ).format(
        far=counted(round(result.x[-1])),
        model=result.curves[0],
        low=lowest[0],
        without=without if len(lowest) > 2 else same(""),
        cnn=lowest[-1],
    )


VIEW = View(
    title=Text("Translation", "平移"),
    question=Text("Do the tokens move with the image?", "标记会随图像一起移动吗？"),
    misleads=Text(
        "It compares architectures, not models: a CNN with random weights is as equivariant as a trained one.",
        "这里比较的是结构，而不是模型：随机权重的 CNN 与训练好的 CNN 同样等变。",
    ),
    room="what_if",
    compute=compute,
    reads=(),
    reading=reading,
    runs="many",
    controls=(
        Number("patches", Text("Up to (patches)", "最多平移（图块）"), low=1, high=4, start=2, step=1, whole=True),
    ),
    paper=Paper("Zhang 2019", "https://arxiv.org/abs/1904.11486"),
)
