"""The residual stream of one pass, sum by sum: what a block reads, and it again after each branch was added."""

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
    """The stream once a branch was added to it."""

    branch: Branch
    stream: Tensor
    """as the module lays it out"""


class StreamSums(FollowedPass):
    """Follows the very tensor that a block reads first from sum to sum.

    What is added after the block has attended is attention's, whatever follows is the MLP's. A block that adds only
    once computes both side by side (ViT-22B, arXiv 2302.05442, section 2.1), and one projection may make their sum.
    """

    def __init__(self, block_of):
        super().__init__(block_of)
        self.read: dict[int, Tensor] = {}
        self._added: dict[int, list[Added]] = {}
        self._has_attended = False

    @property
    def added(self) -> dict[int, list[Added]]:
        """By block, in order."""
        return {
            block: [Added("attn + mlp", found[0].stream)] if [one.branch for one in found] == ["attn"] else found
            for block, found in self._added.items()
        }

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """What a block reads first is the stream."""
        if self.block not in self.read:
            self.read[self.block] = args[0] if args else kwargs["input"]
            self._added[self.block] = []
        return function(*args, **kwargs)

    def kernel(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """The next sum is attention's."""
        self._has_attended = True
        return function(*args, **kwargs)

    def softmax(self, query: Tensor, key: Tensor, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """The next sum is attention's."""
        self._has_attended = True
        return function(*args, **kwargs)

    def _sum(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        out = function(*args, **kwargs)
        found = self._added.get(self.block)
        if found is not None:
            stream = found[-1].stream if found else self.read[self.block]
            if any(one is stream for one in args):
                found.append(Added("attn" if self._has_attended else "mlp", out))
                self._has_attended = False
        return out

    FOLLOWED: ClassVar[dict[Callable, Callable]] = {**FollowedPass.FOLLOWED, **dict.fromkeys(SUMS, _sum)}
    """the sums too"""


def stream_sums(capture: Capture) -> StreamSums:
    """The network once more, changes of the run included, followed."""
    followed = StreamSums(capture.model.block_of_parameter)
    with torch.no_grad(), followed:
        capture.run(capture.input.tensor)
    return followed
