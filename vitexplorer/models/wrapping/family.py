"""The family of modules that are wrapped: what was found of each stands in the module itself."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.capture_protocol import not_read_out
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import BlockSite, Reading
from vitexplorer.models.families.attention_only import AttentionOnlyFamily
from vitexplorer.models.wrapping.module import Ending, Found, WrappedModule


class WrappedFamily(AttentionOnlyFamily):
    """One module's own: all blocks on one grid, prefix tokens first; nothing is known of positions."""

    key = "wrapped"
    title = Text("wrapped", "外部模块")
    of = (WrappedModule,)
    names_of_timm = False

    def __init__(self, found: Found):
        self.shows_stream, self.shows_tokens = found.is_columnar, found.gives_sums

    def no_stream(self, name: str) -> Text:
        """The axes of its tokens are none that can be followed from block to block."""
        return Text(
            "{model}: its blocks do not pass on one sequence with the axes (batch, tokens, dim) or (tokens, batch, "
            "dim), so only the attention of single blocks can be shown.",
            "{model}：各块之间传递的不是轴为（批、标记、维度）或（标记、批、维度）的同一序列，因此只能显示单个块的注意力。",
        ).format(model=name)

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """As found or stated."""
        return module.found.prefix_tokens

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """As found, at the one size it was wrapped for."""
        return module.found.sites

    def readings(self, module: nn.Module) -> tuple[Reading, ...]:
        """Class token and mean where it is known how tokens become logits; otherwise none."""
        if module.found.ending is None or not module.found.num_classes:
            return ()
        return (*(name for name in ("cls", "dist") if name in module.found.prefix_tokens), "mean")

    def own_reading(self, module: nn.Module) -> Reading:
        """What the answer depends on."""
        return module.found.own_reading

    def final_norm(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens dim"]:
        """The last norm of each token, whether the module pools before or after it."""
        return module.part(self._ending(module).norm)(tokens)

    def embedding(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch dim"]:
        """Norm and pooling in the module's order."""
        return self._pooled(module, tokens, self._ending(module).reading)

    def read_each(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens classes"]:
        """Norm and classifier of each token."""
        return module.part(self._ending(module).classifier)(self.final_norm(module, tokens))

    def read_out(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"], reading: Reading
    ) -> Float[Tensor, "batch classes"]:
        """Norm and pooling in the module's order, classifier."""
        own = self._ending(module)
        return module.part(own.classifier)(self._pooled(module, tokens, own.reading if reading == "own" else reading))

    def _pooled(self, module: nn.Module, tokens: Tensor, reading: Reading) -> Tensor:
        return pooled(module, self._ending(module), tokens, reading, self.prefix_tokens(module))

    def _ending(self, module: nn.Module) -> Ending:
        if module.found.ending is None:
            raise UnsupportedError(not_read_out(type(module.wrapped).__name__))
        return module.found.ending


def pooled(
    module: WrappedModule,
    ending: Ending,
    tokens: Float[Tensor, "batch tokens dim"],
    reading: Reading,
    prefix_tokens: tuple[str, ...],
) -> Float[Tensor, "batch dim"]:
    """One token or the mean over patches, through the norm of an ending before or after."""
    norm = module.part(ending.norm)
    normed = tokens if ending.pools_first else norm(tokens)
    mean = reading == "mean"
    found = normed[:, len(prefix_tokens) :].mean(1) if mean else normed[:, prefix_tokens.index(reading)]
    return norm(found) if ending.pools_first else found
