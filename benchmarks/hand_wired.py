"""Errors of every relevance view on a network wired by hand, whose true relevance follows by arithmetic.

    python -m benchmarks.hand_wired

The logit of the network (`wired_network.py`) is a weighted sum of the patches' contents. A patch's contribution,
relative to the mean colour, is its term of the sum. `EXPECTED` states for every view that draws a relevance map which
multiple of the contributions it must give, or why it gives something else. The printed Markdown table has the largest
error of a map as a share of the largest contribution of a patch, the factor that brings the map closest to the truth,
the remaining error, and the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import typer
from jaxtyping import Float

from benchmarks.wired_network import AVERAGED, COPIED, PATCH, TAKEN, hand_wired_model
from vitexplorer.capturing.capture import Capture, capture_input, prepare
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
    why: str
    """Reason, for the table"""


EXPECTED: Mapping[str, Expected] = {
    "input_x_gradient": Expected(1, "The logit is linear in the pixels."),
    "integrated_gradients steps=4": Expected(1, "Its baseline is the one meant here."),
    "occlusion": Expected(1, "Patches do not interact."),
    "activation_patching": Expected(1, "Put in before the heads read, and what they read is a sum."),
    "attn_lrp": Expected(
        0.5, "Each product gives half to the attention, which here depends on places alone and keeps it."
    ),
    "generic_relevance": Expected(
        None, "Half of each contribution (the mean over two heads); what counts against the class is cut off."
    ),
    "generic_relevance sign=both": Expected(0.5, "The mean over two heads of what each passes on."),
    "input_x_gradient backward=libra": Expected(
        1, "The same as with plain gradients: only norms are held fixed here, which changes nothing."
    ),
    "grad_rollout": Expected(None, "As generic relevance, and every row is divided by its own sum."),
    "grad_cam": Expected(None, "The last block alone, and one weight for a channel of all patches."),
    "legrad": Expected(
        None, "The slope of attention without the attention: it asks what patches would say if they were looked at."
    ),
    "attention_rollout": Expected(None, "Depends on neither class nor content."),
    "random": Expected(None, "Depends on nothing in the image."),
}
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


def truth_table() -> tuple[Held, ...]:
    """Compare every relevance view on the network, sorted by error and then by error after scaling."""
    known = hand_wired()
    return tuple(sorted((held(view, known) for view in EXPECTED), key=lambda row: (row.error, row.scaled_error)))


def markdown(rows: tuple[Held, ...]) -> str:
    """Format the table."""
    lines = [["view", "largest error", "best scale", "error then", "why"], ["---", *["---:"] * 3, "---"]]
    for row in rows:
        error, scaled = ("exact" if e <= EXACT else f"{e:.3g}" for e in (row.error, row.scaled_error))
        lines.append([f"`{row.view}`", error, f"{row.scale:.3g}", scaled, row.expected.why])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Print the table."""
    print(markdown(truth_table()))


if __name__ == "__main__":
    typer.run(main)
