"""What does the patch embedding look for? Principal components of its kernels, as colour patches.

Dosovitskiy et al. 2021 (arXiv 2010.11929), figure 7 left, shows the first 28: the directions of pixel space, (P, P, 3),
along which the kernels of the embedding's D outputs differ most. Each is scaled by its own maximum around grey, which
is zero, with its largest entry positive. They depend on the weights alone, not on the image.
Misleading: no output of the embedding has one of these as its kernel; they are a basis of all kernels.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Number
from vitexplorer.core.capture_protocol import refuse_if
from vitexplorer.core.format import percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, present
from vitexplorer.core.types import FiltersResult
from vitexplorer.quantities.principal_components import principal_components
from vitexplorer.views.record import View

CHANNELS = 3
MOST = 256


def kernels_of(module: nn.Module) -> Float[Tensor, "dim 3 height width"] | None:
    """Return the kernels of the patch embedding, or None if it reads no colours (a hybrid's reads features)."""
    weight = getattr(module.patch_embed.proj, "weight", None)
    return None if weight is None or weight.ndim != 4 or weight.shape[1] != CHANNELS else weight.detach()


def compute(capture: Capture, count: int) -> FiltersResult:
    """Compute components as pictures, (count, P, P, 3) in 0-1 with zero at 0.5, the one with most variance first."""
    kernels = kernels_of(capture.model.module).double().cpu().numpy()
    dim, _, height, width = kernels.shape
    components, shares = principal_components(kernels.reshape(dim, -1), count)
    pictures = components.reshape(-1, CHANNELS, height, width).transpose(0, 2, 3, 1)
    largest = np.abs(pictures).max((1, 2, 3), keepdims=True)
    fewer = Text("The kernels vary in only {found} directions.", "这些卷积核只在 {found} 个方向上有变化。").format(
        found=len(pictures)
    )
    return FiltersResult(
        values=0.5 + 0.5 * pictures / largest,
        axes=("filters", "height", "width", "channels"),
        unit=Text("colour, each filter scaled by its maximum; grey is zero", "颜色，各滤波器按其最大值缩放；灰色为零"),
        formula=Text("PCA of the kernels", "卷积核的 PCA"),
        notes=present(
            Text("It is computed from the weights alone, without the image.", "仅取决于权重，与图像无关。"),
            fewer if len(pictures) < count else None,
        ),
        shares=shares,
    )


def reading(result: FiltersResult) -> Text:
    """State how few directions hold most of the kernels' variance."""
    together = np.cumsum(result.shares)
    fields = {"first": percent(result.shares[0]), "count": len(together), "all": percent(together[-1])}
    if together[-1] <= 0.5:
        return Text(
            "The first filter explains {first} of the variance of the kernels, all {count} shown explain {all}.",
            "第一个滤波器解释了卷积核方差的 {first}，所示 {count} 个合计解释 {all}。",
        ).format(**fields)
    return Text(
        "The first filter explains {first} of the variance of the kernels, the first {half} explain more than half, "
        "all {count} shown explain {all}.",
        "第一个滤波器解释了卷积核方差的 {first}，前 {half} 个合计超过一半，所示 {count} 个合计解释 {all}。",
    ).format(**fields, half=int((together <= 0.5).sum()) + 1)


VIEW = View(
    title=Text("Filters of the patch embedding", "图块嵌入的滤波器"),
    question=Text("What does the patch embedding look for?", "图块嵌入在寻找什么？"),
    misleads=Text(
        "These are the directions in which the kernels differ, not the kernels themselves. Neither shows what later "
        "blocks use.",
        "这些是卷积核变化的方向，而不是卷积核本身；两者都不说明后面的块使用了什么。",
    ),
    room="tokens",
    compute=compute,
    reads=(),
    names_of_timm=True,
    reading=reading,
    controls=(Number("count", Text("How many", "数量"), low=1, high=MOST, start=28, step=1, whole=True),),
    paper=Paper("Dosovitskiy et al. 2021, figure 7", "https://arxiv.org/abs/2010.11929"),
    refuses=refuse_if(
        lambda capture: kernels_of(capture.model.module) is None,
        Text(
            "The patch embedding of {model} reads features of a CNN, not colours.",
            "{model} 的图块嵌入读取的是 CNN 的特征，而不是颜色。",
        ),
    ),
)
