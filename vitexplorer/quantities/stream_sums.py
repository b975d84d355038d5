"""The residual stream of one pass, sum by sum: the input of a block, and the stream after each added branch."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.tracing.follow import Args, FollowedPass, Function, Kwargs
from vitexplorer.tracing.tap import SUMS

Branch = Literal["attn", "mlp", "attn + mlp"]


class Added(NamedTuple):
    """The stream after the addition of a branch."""

    branch: Branch
    stream: Tensor
    """Stream in the module's layout"""


class StreamSums(FollowedPass):
    """Pass that follows the tensor that a block reads first, from sum to sum.

    The first sum after attention is attention's, any other is the MLP's. A block with a single sum computes both side
    by side (ViT-22B, arXiv 2302.05442, section 2.1), and one projection may make their sum.
    """

    def __init__(self, block_of):
        super().__init__(block_of)
        self.read: dict[int, Tensor] = {}
        self._added: dict[int, list[Added]] = {}
        self._has_attended = False

    @property
    def added(self) -> dict[int, list[Added]]:
        """Sums by block, in order."""
        return {
            block: [Added("attn + mlp", sums[0].stream)] if [added.branch for added in sums] == ["attn"] else sums
            for block, sums in self._added.items()
        }

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Take the first input that a block reads as the stream."""
        if self.block not in self.read:
            self.read[self.block] = args[0] if args else kwargs["input"]
            self._added[self.block] = []
        return function(*args, **kwargs)

    def kernel(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Give the next sum to attention."""
        self._has_attended = True
        return function(*args, **kwargs)

    def softmax(self, query: Tensor, key: Tensor, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Give the next sum to attention."""
        self._has_attended = True
        return function(*args, **kwargs)

    def _sum(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        out = function(*args, **kwargs)
        sums = self._added.get(self.block)
        if sums is not None:
            stream = sums[-1].stream if sums else self.read[self.block]
            if any(argument is stream for argument in args):
                sums.append(Added("attn" if self._has_attended else "mlp", out))
                self._has_attended = False
        return out

    FOLLOWED: ClassVar[dict[Callable, Callable]] = {**FollowedPass.FOLLOWED, **dict.fromkeys(SUMS, _sum)}
    """Followed functions, sums included"""


def stream_sums(capture: Capture) -> StreamSums:
    """Run the network once more, with the changes of the run, and follow its sums."""
    followed = StreamSums(capture.model.block_of_parameter)
    with torch.no_grad(), followed:
        capture.run(capture.input.tensor)
    return followed
