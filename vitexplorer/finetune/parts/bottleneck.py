"""Bottleneck W_up act(W_down x), initialised to output zero, so that adding it leaves the model unchanged."""

from __future__ import annotations

import math

from jaxtyping import Float
from torch import Tensor, nn


class Bottleneck(nn.Module):
    """Bottleneck of inner width m for tokens of width D, 2 D m + m + D parameters.

    W_down is drawn from Kaiming's uniform distribution (a = sqrt 5), everything else is 0. Were W_down zero as well,
    neither matrix would ever get a gradient.
    """

    def __init__(self, width: int, bottleneck: int, activation: nn.Module, dropout: float = 0.0):
        """Make a bottleneck of inner width `bottleneck`; `dropout` acts on the inner activations while training."""
        super().__init__()
        self.down = nn.Linear(width, bottleneck)
        self.activation = activation
        self.dropout = nn.Dropout(dropout)
        self.up = nn.Linear(bottleneck, width)
        nn.init.kaiming_uniform_(self.down.weight, a=math.sqrt(5))
        for zero in (self.down.bias, self.up.weight, self.up.bias):
            nn.init.zeros_(zero)

    def forward(self, tokens: Float[Tensor, "*any dim"]) -> Float[Tensor, "*any dim"]:
        """Return the change to add to the tokens."""
        return self.up(self.dropout(self.activation(self.down(tokens))))
