"""A network whose answer is arithmetic: what must every map of it say, and which ones do?

The network is `models.hand_wired`: its logit is a weighted sum of what the patches hold. What a patch contributes,
against the mean colour where it holds nothing, is its own term of the sum. Every view that draws a relevance map says
here what it must give: so many times the contributions, or something else, and why.
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
"""largest error, as a share of the largest contribution, of a map that is right"""


@dataclass(frozen=True)
class HandWired:
    """The network on an image, and what each patch contributes to the logit of class 0."""

    capture: Capture
    contributions: Float[np.ndarray, "rows cols"]


def hand_wired(side: int = 4, seed: int = 0) -> HandWired:
    """A network for `side` x `side` patches on an image that the seed draws, the patches' content between -1 and 1."""
    rng = np.random.default_rng(seed)
    patches = rng.permutation(side * side)
    copied, taken = int(patches[0]), int(patches[1])
    model = hand_wired_model(side, copied, taken)
    reds = rng.integers(0, 256, (side, side)).repeat(PATCH, 0).repeat(PATCH, 1)
    image = np.stack([(reds + rng.integers(-9, 10, reds.shape)).clip(0, 255)] * 3, -1).astype(np.uint8)
    given = prepare(model, image, "squash")
    tensor = given.tensor.double()
    content = tensor[0, 0].reshape(side, PATCH, side, PATCH).mean((1, 3)).numpy()
    counts = np.full(side * side, AVERAGED / (side * side + 1))
    counts[copied] += COPIED
    counts[taken] -= TAKEN
    return HandWired(capture_input(model, replace(given, tensor=tensor)), counts.reshape(side, side) * content)


# ------------------------------------------------------------------------------------------ what maps must give


@dataclass(frozen=True)
class Expected:
    """What a view must give on such a network."""

    times: float | None
    """how many times the contributions, exactly; None where it is no multiple of them"""
    why: Text


EXPECTED: Mapping[str, Expected] = {
    "input_x_gradient": Expected(1, Text("The logit is linear in the pixels.", "logit 对像素是线性的。")),
    "integrated_gradients steps=4": Expected(
        1, Text("Its baseline is the one meant here.", "其基线正是这里所指的基线。")),
    "occlusion": Expected(1, Text("Patches do not interact.", "图块之间没有相互作用。")),
    "activation_patching": Expected(
        1,
        Text(
            "Put in before the heads look, and what they look at is a sum.", "在各头读取之前放入，且读取的内容可相加。"
        ),
    ),
    "attn_lrp": Expected(
        0.5,
        Text(
            "Each product gives half to the attention, which here knows places alone and keeps it.",
            "每个乘积把一半分给注意力，而这里的注意力只取决于位置，这一半便留在那里。",
        ),
    ),
    "generic_relevance": Expected(
        None,
        Text(
            "Half of each contribution (the mean over two heads); what speaks against is cut off.",
            "每项贡献的一半（对两个头取平均）；反对的部分被截去。",
        ),
    ),
    "generic_relevance sign=both": Expected(
        0.5, Text("The mean over two heads of what each tells.", "对两个头所传内容取平均。")
    ),
    "input_x_gradient backward=libra": Expected(
        1, Text("As without: nothing here but harmless norms is held fixed.", "与不用时相同：固定的只有无害的归一化。")
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
            "只看注意力的斜率而不看注意力本身：它问的是图块若被关注会说什么。",
        ),
    ),
    "attention_rollout": Expected(None, Text("Knows no class and no content.", "不知道类别，也不知道内容。")),
    "random": Expected(None, Text("Knows nothing.", "一无所知。")),
}  # fmt: skip
"""of every view that draws a relevance map, with settings that are not its defaults after its name"""


@dataclass(frozen=True)
class Held:
    """A view's map held against the contributions."""

    view: str
    """a key of `EXPECTED`"""
    error: float
    """largest, as a share of the largest contribution"""
    scale: float
    """by which the map has to be multiplied to come closest"""
    scaled_error: float
    """largest error once it is"""
    expected: Expected


def held(view: str, known: HandWired) -> Held:
    """How far a view's map of class 0 is from what the patches contribute."""
    key, *said = view.split()
    settings, truth = dict(one.split("=") for one in said), known.contributions
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
    """Every relevance view on the network, the exact ones first, then as far as they are off once they are scaled."""
    known = hand_wired(side, seed)
    return tuple(sorted((held(view, known) for view in EXPECTED), key=lambda one: (one.error, one.scaled_error)))


def markdown(rows: tuple[Held, ...]) -> str:
    """The table as the reports print it."""
    lines = [["view", "largest error", "best scale", "error then", "why"], ["---", *["---:"] * 3, "---"]]
    for row in rows:
        error, scaled = ("exact" if e <= EXACT else f"{e:.3g}" for e in (row.error, row.scaled_error))
        lines.append([f"`{row.view}`", error, f"{row.scale:.3g}", scaled, row.expected.why.en])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
