"""Does the answer move with the object? Shift the image by pixels.

The gap is filled by the pixels that leave on the other side ("wrap"), the last pixels ("edge") or the mean colour of
the training data ("mean"). A convolution commutes with shifts by its stride, except at the border. Patches are cut at
fixed places, so a vision transformer sees different patches after every shift that is not a multiple of the patch
size. The view `translation` measures this over many shifts, with a CNN for comparison.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import UInt8

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice, Number
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.interventions.changed_pass import Effect, Intervention

FILLS = (
    ("wrap", Text("wraps around", "循环移入")),
    ("edge", Text("edge repeated", "重复边缘")),
    ("mean", Text("mean colour", "平均颜色")),
)


def shifted(
    pixels: UInt8[np.ndarray, "height width 3"], right: int, down: int, fill: str, mean: tuple[float, float, float]
) -> UInt8[np.ndarray, "height width 3"]:
    """Return the shifted image; fill="mean" fills the gap with the colour `mean`, in 0-1."""
    height, width = pixels.shape[:2]
    rows, cols = np.arange(height) - down, np.arange(width) - right
    if fill == "wrap":
        return pixels[rows % height][:, cols % width]
    out = pixels[rows.clip(0, height - 1)][:, cols.clip(0, width - 1)]
    if fill == "mean":
        outside = ((rows < 0) | (rows >= height))[:, None] | ((cols < 0) | (cols >= width))[None, :]
        out[outside] = np.rint(255 * np.array(mean)).astype(np.uint8)
    return out


def effect(capture: Capture, right: int, down: int, fill: str) -> Effect:
    """Return the shifted image, or no change for a shift of zero."""
    if right == down == 0:
        return Effect()
    mean = capture.model.preprocessing.mean
    return Effect(pixels=lambda pixels: shifted(pixels, right, down, fill, mean))


def says(capture: Capture, right: int, down: int, fill: str) -> Text:
    """Describe the shift in pixels and the fill."""
    return Text(
        "image shifted {right} px right, {down} px down ({fill})", "图像右移 {right}、下移 {down} 像素（{fill}）"
    ).format(right=right, down=down, fill=dict(FILLS)[fill])


INTERVENTION = Intervention(
    title=Text("Image shifted", "平移图像"),
    question=Text("Does the answer move with the object?", "答案会随物体移动吗？"),
    misleads=Text(
        "The content that fills the gap or wraps around also changes the image.", "补入或循环移入的内容同样改变了图像。"
    ),
    acts=0,
    effect=effect,
    says=says,
    controls=(
        Number("right", Text("Right (px)", "右移（像素）"), low=-64, high=64, start=8, step=1, whole=True),
        Number("down", Text("Down (px)", "下移（像素）"), low=-64, high=64, start=0, step=1, whole=True),
        Choice("fill", Text("Gap", "空缺"), FILLS),
    ),
    paper=Paper("Zhang 2019", "https://arxiv.org/abs/1904.11486"),
)
