"""Do the same colours mean the same things? Principal components of the tokens of both, in one basis.

As in DINOv2 (Oquab et al. 2023, arXiv 2304.07193, figure 1), which shows several pictures of one model: the first three
principal components of the patch tokens of both together, as red, green, blue. Further pictures, seen by the left
model, share the basis.
Misleading: two separately trained models share no directions. The first component then separates the models, and equal
colours mean nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons.record import Comparison
from vitexplorer.comparisons.sides import LEFT, RIGHT, pair_of
from vitexplorer.controls import BlockControl, ImagesControl, NamedCapture
from vitexplorer.core.format import measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import PairResult, PicturesResult
from vitexplorer.quantities.places import read_at
from vitexplorer.views.token_pca import NormControl, shared_token_pca

PICTURE = Text("picture {number}", "图像 {number}")
APART = Text(
    "The two models were trained separately: their directions are unrelated.",
    "两个模型是分别训练的：它们的方向彼此无关。",
)


def compute(
    left: Capture, right: Capture, block: int, norm: bool, images: tuple[NamedCapture, ...]
) -> PairResult | PicturesResult:
    """Compute colours, (sides, rows, cols, 3) or (images, rows, cols, 3) in 0-1 on the left grid."""
    captures = [left, right, *(image.capture for image in images)]
    pictures = shared_token_pca(captures, block, norm)
    apart = (left.provenance.model, left.provenance.weights) != (right.provenance.model, right.provenance.weights)
    notes = (APART,) if apart else ()
    if not images:
        return replace(
            pair_of((left, right), (pictures[0], pictures[1]), notes), settings={"block": block, "norm": norm}
        )
    names = (LEFT, RIGHT, *(PICTURE.format(number=number) for number in range(3, len(captures) + 1)))
    return PicturesResult(
        values=np.stack(
            [
                read_at(picture.values, (capture, block), (left, block))
                for capture, picture in zip(captures, pictures, strict=True)
            ]
        ),
        axes=("images", *pictures[0].axes),
        unit=pictures[0].unit,
        formula=pictures[0].formula,
        notes=tuple(dict.fromkeys([*notes, *pictures[0].notes])),
        pictures=tuple(replace(picture, title=name) for picture, name in zip(pictures, names, strict=True)),
    )


def refuses(left: Capture, right: Capture) -> Text | None:
    """Refuse tokens of unequal width, which have no common basis."""
    widths = [[side.residual_after(block).shape[-1] for block in range(side.depth)] for side in (left, right)]
    if widths[0] == widths[1]:
        return None
    return Text(
        "A common basis needs tokens of the same width and networks of the same depth: use the same model on both "
        "sides, with another image, size or weights.",
        "共用一组基要求标记宽度与网络深度都相同：请在两侧使用同一模型，只更换图像、尺寸或权重。",
    )


def reading(result: PairResult | PicturesResult) -> Text:
    """State the mean of each side on the first component, or the lowest and highest mean of several pictures."""
    if isinstance(result, PicturesResult):
        means = [float(picture.values[..., 0].mean()) for picture in result.pictures]
        low, high = int(np.argmin(means)), int(np.argmax(means))
        return Text(
            "{count} pictures share one basis. On the first component, shown in red from 0 to 1, lowest on average: "
            "{low} ({least}); highest: {high} ({most}).",
            "{count} 幅图像共用一组基。第一主成分（红色，0 到 1）的平均值最低的是{low}（{least}），"
            "最高的是{high}（{most}）。",
        ).format(
            count=len(means),
            low=result.pictures[low].title,
            least=measured(means[low]),
            high=result.pictures[high].title,
            most=measured(means[high]),
        )
    left, right = result.values[0, ..., 0].mean(), result.other[..., 0].mean()
    return Text(
        "On the first component (red), scaled from 0 for its lowest value to 1 for its highest, the patches average "
        "{one} on the left and {other} on the right.",
        "在第一主成分（红色）上，以最低值为 0、最高值为 1，左侧图块平均为 {one}，右侧图块平均为 {other}。",
    ).format(one=measured(float(left)), other=measured(float(right)))


COMPARISON = Comparison(
    title=Text("PCA in one basis", "共用一组基的主成分"),
    question=Text("Do the same colours mean the same things?", "相同的颜色是否表示相同的东西？"),
    misleads=Text(
        "A common basis makes sense only for one model: models trained separately share no directions.",
        "共用的基只对同一模型有意义：分别训练的两个模型没有共同的方向。",
    ),
    compute=compute,
    reading=reading,
    refuses=refuses,
    controls=(BlockControl(), NormControl(), ImagesControl("images", Text("More pictures", "更多图像"))),
    paper=Paper("Oquab et al. 2023, figure 1", "https://arxiv.org/abs/2304.07193"),
)
