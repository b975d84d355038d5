"""Check of relevance maps on a hand-wired network, whose patch contributions are known exactly.

The network is `models.hand_wired`: its logit is a weighted sum of the patches' contents. A patch's contribution,
relative to the mean colour, is its term of the sum. `EXPECTED` states for every view that draws a relevance map which
multiple of the contributions it must give, or why it gives something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture, capture_input, prepare
from vitexplorer.core.text import Text
from vitexplorer.models.hand_wired import AVERAGED, COPIED, PATCH, TAKEN, hand_wired_model
from vitexplorer.views import compute, explanations

EXACT = 1e-6
"""Largest error of a correct map, as a share of the largest contribution"""


@dataclass(frozen=True)
class HandWired:
    """Network on an image, with each patch's contribution to the logit of class 0."""

    capture: Capture
    contributions: Float[np.ndarray, "rows cols"]


def hand_wired(side: int = 4, seed: int = 0) -> HandWired:
    """Make a network for `side` x `side` patches and a seeded random image with patch contents between -1 and 1."""
    rng = np.random.default_rng(seed)
    patches = rng.permutation(side * side)
    copied, taken = int(patches[0]), int(patches[1])
    model = hand_wired_model(side, copied, taken)
    reds = rng.integers(0, 256, (side, side)).repeat(PATCH, 0).repeat(PATCH, 1)
    image = np.stack([(reds + rng.integers(-9, 10, reds.shape)).clip(0, 255)] * 3, -1).astype(np.uint8)
    prepared = prepare(model, image, "squash")
    tensor = prepared.tensor.double()
    content = tensor[0, 0].reshape(side, PATCH, side, PATCH).mean((1, 3)).numpy()
    counts = np.full(side * side, AVERAGED / (side * side + 1))
    counts[copied] += COPIED
    counts[taken] -= TAKEN
    return HandWired(capture_input(model, replace(prepared, tensor=tensor)), counts.reshape(side, side) * content)


# ------------------------------------------------------------------------------------------ what maps must give


@dataclass(frozen=True)
class Expected:
    """Expected map of a view on such a network."""

    times: float | None
    """Exact multiple of the contributions; None if the map is no multiple of them"""
    why: Text


EXPECTED: Mapping[str, Expected] = {
    "input_x_gradient": Expected(1, Text("The logit is linear in the pixels.", "logit 对像素是线性的。")),
    "integrated_gradients steps=4": Expected(
        1, Text("Its baseline is the one meant here.", "其基线正是这里所指的基线。")),
    "occlusion": Expected(1, Text("Patches do not interact.", "图块之间没有相互作用。")),
    "activation_patching": Expected(
        1,
        Text(
            "Put in before the heads read, and what they read is a sum.",
            "在各头读取之前放入，而各头读取的内容是一个和。",
        ),
    ),
    "attn_lrp": Expected(
        0.5,
        Text(
            "Each product gives half to the attention, which here depends on places alone and keeps it.",
            "每个乘积把一半分给注意力，而这里的注意力只取决于位置，这一半便留在那里。",
        ),
    ),
    "generic_relevance": Expected(
        None,
        Text(
            "Half of each contribution (the mean over two heads); what counts against the class is cut off.",
            "每项贡献的一半（对两个头取平均）；反对的部分已舍去。",
        ),
    ),
    "generic_relevance sign=both": Expected(
        0.5, Text("The mean over two heads of what each passes on.", "对两个头所传内容取平均。")
    ),
    "input_x_gradient backward=libra": Expected(
        1,
        Text(
            "The same as with plain gradients: only norms are held fixed here, which changes nothing.",
            "与普通梯度相同：这里固定的只有归一化，没有影响。",
        ),
    ),
    "grad_rollout": Expected(
        None,
        Text(
            "As generic relevance, and every row is divided by its own sum.",
            "与通用相关性相同，并且每一行都除以它自己的总和。",
        ),
    ),
    "grad_cam": Expected(
        None,
        Text(
            "The last block alone, and one weight for a channel of all patches.",
            "只看最后一个块，且每个通道对所有图块只有一个权重。",
        ),
    ),
    "legrad": Expected(
        None,
        Text(
            "The slope of attention without the attention: it asks what patches would say if they were looked at.",
            "只看注意力的斜率而不看注意力本身，问的是：若关注这些图块，它们会带来什么。",
        ),
    ),
    "attention_rollout": Expected(None, Text("Depends on neither class nor content.", "与类别无关，也与内容无关。")),
    "random": Expected(None, Text("Depends on nothing in the image.", "毫无依据。")),
}  # fmt: skip
"""Expected map of every view that draws a relevance map; its name is followed by settings that are not the defaults"""


@dataclass(frozen=True)
class Held:
    """Comparison of a view's map with the contributions."""

    view: str
    """Key of `EXPECTED`"""
    error: float
    """Largest error, as a share of the largest contribution"""
    scale: float
    """Factor by which the map comes closest to the contributions"""
    scaled_error: float
    """Largest error after scaling"""
    expected: Expected


def held(view: str, known: HandWired) -> Held:
    """Compare a view's map of class 0 with the contributions."""
    key, *pairs = view.split()
    settings = dict(pair.split("=") for pair in pairs)
    truth = known.contributions
    if any(control.name == "target" for control in explanations()[key].controls):
        settings["target"] = "0"
    values = compute(key, known.capture, **settings).values.astype(np.float64)
    largest = float(np.abs(truth).max())
    scale = float((values * truth).sum() / (values**2).sum()) if values.any() else 0.0
    return Held(
        view=view,
        error=float(np.abs(values - truth).max()) / largest,
        scale=scale,
        scaled_error=float(np.abs(scale * values - truth).max()) / largest,
        expected=EXPECTED[view],
    )


def truth_table(side: int = 4, seed: int = 0) -> tuple[Held, ...]:
    """Compare every relevance view on the network, sorted by error and then by error after scaling."""
    known = hand_wired(side, seed)
    return tuple(sorted((held(view, known) for view in EXPECTED), key=lambda row: (row.error, row.scaled_error)))


def markdown(rows: tuple[Held, ...]) -> str:
    """Format the table for the reports."""
    lines = [["view", "largest error", "best scale", "error then", "why"], ["---", *["---:"] * 3, "---"]]
    for row in rows:
        error, scaled = ("exact" if e <= EXACT else f"{e:.3g}" for e in (row.error, row.scaled_error))
        lines.append([f"`{row.view}`", error, f"{row.scale:.3g}", scaled, row.expected.why.en])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
