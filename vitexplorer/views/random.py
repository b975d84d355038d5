"""What would a map look like that knows nothing? Numbers drawn evenly from 0 to 1, a baseline for every other map.

An explanation is worth looking at if it beats this one (Adebayo et al. 2018, arXiv 1810.03292; as a curve: the
view `faithfulness`). The numbers depend only on the seed and the class.
"""

from __future__ import annotations

import zlib

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, Number
from vitexplorer.controls.explained import Target
from vitexplorer.core.format import percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.on_the_map import extreme, tenth
from vitexplorer.quantities.targets import class_map
from vitexplorer.views.record import View


def draw(seed: int, target: Target, patches: int) -> Float[Tensor, " patches"]:
    """Draw one number in [0, 1) for each patch."""
    number = target if isinstance(target, int) else zlib.crc32(str(target).encode())
    return torch.from_numpy(np.random.default_rng([seed, number]).random(patches, dtype=np.float32))


def compute(capture: Capture, target: Target, seed: int) -> MapResult:
    """Draw a map that knows nothing of model and image, (rows, cols) in [0, 1)."""
    grid = capture.grid(capture.depth - 1)
    return class_map(
        capture,
        target,
        values=draw(seed, target, grid.num_patches),
        grid=grid,
        unit=Text("random number", "随机数"),
        formula=Text("uniform on [0, 1)", "[0, 1) 上的均匀分布"),
    )


def reading(result: MapResult) -> Text:
    """State how concentrated a random map looks."""
    share, where = tenth(result.values)
    return Text(
        "By chance alone the top tenth of the patches holds {share}{where}, and {patch} comes first: a meaningful "
        "map must look different.",
        "仅凭偶然，最高的十分之一图块就占 {share}{where}，排第一的是{patch}：有依据的图应当与此不同。",
    ).format(share=percent(share / result.values.sum()), where=where, patch=extreme(result.values))


VIEW = View(
    title=Text("Random map", "随机图"),
    question=Text("What would a map without any knowledge look like?", "一幅毫无依据的图会是什么样子？"),
    misleads=Text(
        "People see patterns in noise. Do not read a story into a map that looks no better than this one.",
        "人会在噪声中看出图案：如果一幅图看起来并不比这一幅好，就不要从中读出什么故事。",
    ),
    room="flow",
    group="judge",
    compute=compute,
    reads=(),
    reading=reading,
    controls=(AnyTargetControl(), Number("seed", Text("Seed", "随机种子"), low=0, high=2**31 - 1, step=1, whole=True)),
    paper=Paper("Adebayo et al. 2018", "https://arxiv.org/abs/1810.03292"),
)
