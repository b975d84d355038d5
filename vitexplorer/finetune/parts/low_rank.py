"""Low-rank change of some output rows of a linear layer."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.models.anatomy import projected_rows
from vitexplorer.models.outline import outline


def query_value_spans(module: nn.Module) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the query and value rows by layer: two spans of a fused projection, or one span of each layer.

    Raises UnsupportedError if a block has no such layer.
    """
    spans: dict[str, tuple[tuple[int, int], ...]] = {}
    for name in outline(module).blocks:
        query, _, value = projected_rows(module, name)
        for rows in (query, value):
            spans[rows.layer] = (*spans.get(rows.layer, ()), (rows.start, rows.stop))
    return spans


class LowRank(nn.Module):
    """Change y[rows] += (alpha / r) B A x with an A and a B for each span of rows; other rows are unchanged.

    A is drawn from Kaiming's uniform distribution (a = sqrt 5), B is 0. The A of all spans are stacked in `down`,
    (spans r, in), so that the input is read once.
    """

    def __init__(self, width: int, spans: tuple[tuple[int, int], ...], out: int, r: int, alpha: float):
        """Make A and B for spans (first row, row after the last) of a layer with `width` inputs and `out` outputs."""
        super().__init__()
        self.spans = spans
        self.out = out
        self.r = r
        self.scale = alpha / r
        self.down = nn.Parameter(torch.empty(len(spans) * r, width))
        self.up = nn.ParameterList(torch.zeros(stop - start, r) for start, stop in spans)
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, made: Float[Tensor, "*any out"], given: Float[Tensor, "*any dim"]) -> Float[Tensor, "*any out"]:
        """Add the change to `made`, the layer's output for the input `given`."""
        return made + F.linear(F.linear(given, self.down), self.joined())

    def joined(self) -> Float[Tensor, "out ranks"]:
        """Return all B in one matrix, each in its span's rows and its own r columns, times alpha / r."""
        joined = self.down.new_zeros(self.out, len(self.down))
        for i, ((start, stop), up) in enumerate(zip(self.spans, self.up, strict=True)):
            joined[start:stop, i * self.r : (i + 1) * self.r] = up
        return joined * self.scale

    def delta(self) -> Float[Tensor, "out dim"]:
        """Return the change of the layer's weight; 0 outside the spans."""
        return self.joined() @ self.down
