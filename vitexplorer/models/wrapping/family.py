"""Family of wrapped modules, whose facts are stored in the module itself."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.capture_protocol import NOT_READ_OUT
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import BlockSite, Reading
from vitexplorer.models.families.attention_only import AttentionOnlyFamily
from vitexplorer.models.wrapping.module import Ending, ModuleFacts, WrappedModule


class WrappedFamily(AttentionOnlyFamily):
    """Family of one wrapped module: all blocks on one grid, prefix tokens first; positions are unknown."""

    key = "wrapped"
    title = Text("wrapped", "外部模块")
    of = (WrappedModule,)
    names_of_timm = False

    def __init__(self, facts: ModuleFacts):
        self.shows_stream = facts.is_columnar
        self.shows_tokens = facts.gives_sums

    def no_stream(self, name: str | Text) -> Text:
        """Refuse a view across blocks: the axes of the tokens cannot be followed from block to block."""
        return Text(
            "{model}: its blocks do not pass on one sequence with the axes (batch, tokens, dim) or (tokens, batch, "
            "dim), so only the attention of single blocks can be shown.",
            "{model}：各块之间传递的不是轴为（批、标记、维度）或（标记、批、维度）的同一序列，因此只能显示单个块的注意力。",
        ).format(model=name)

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Return the names of the prefix tokens, found or stated."""
        return module.facts.prefix_tokens

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """Return the blocks at the size for which the module was wrapped."""
        return module.facts.sites

    def readings(self, module: nn.Module) -> tuple[Reading, ...]:
        """Return the class token and the mean if the path from tokens to logits is known; otherwise ()."""
        if module.facts.ending is None or not module.facts.num_classes:
            return ()
        return (*(name for name in ("cls", "dist") if name in module.facts.prefix_tokens), "mean")

    def own_reading(self, module: nn.Module) -> Reading:
        """Return the reading that the output depends on."""
        return module.facts.own_reading

    def final_norm(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens dim"]:
        """Apply the last norm to each token, whether the module pools before or after it."""
        return module.part(self._ending(module).norm)(tokens)

    def embedding(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch dim"]:
        """Apply norm and pooling in the module's order."""
        return self._pooled(module, tokens, self._ending(module).reading)

    def read_each(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens classes"]:
        """Apply norm and classifier to each token."""
        return module.part(self._ending(module).classifier)(self.final_norm(module, tokens))

    def read_out(
        self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"], reading: Reading
    ) -> Float[Tensor, "batch classes"]:
        """Apply norm and pooling in the module's order, then the classifier."""
        ending = self._ending(module)
        reading = ending.reading if reading == "own" else reading
        return module.part(ending.classifier)(self._pooled(module, tokens, reading))

    def _pooled(self, module: nn.Module, tokens: Tensor, reading: Reading) -> Tensor:
        return pooled(module, self._ending(module), tokens, reading, self.prefix_tokens(module))

    def _ending(self, module: nn.Module) -> Ending:
        if module.facts.ending is None:
            raise UnsupportedError(NOT_READ_OUT.format(model=type(module.wrapped).__name__))
        return module.facts.ending


def pooled(
    module: WrappedModule,
    ending: Ending,
    tokens: Float[Tensor, "batch tokens dim"],
    reading: Reading,
    prefix_tokens: tuple[str, ...],
) -> Float[Tensor, "batch dim"]:
    """Compute one token or the mean over patches, with the norm of an ending before or after pooling."""
    norm = module.part(ending.norm)
    tokens = tokens if ending.pools_first else norm(tokens)
    if reading == "mean":
        feature = tokens[:, len(prefix_tokens) :].mean(1)
    else:
        feature = tokens[:, prefix_tokens.index(reading)]
    return norm(feature) if ending.pools_first else feature
