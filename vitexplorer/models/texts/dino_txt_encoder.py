"""Text encoder of dino.txt: a causal transformer over CLIP's tokens, read at the end of the text.

Jose et al. 2024, arXiv 2412.16334, section 3, with the sizes and the order of the released code: embeddings of tokens
and positions, blocks with norms first, a last norm, a linear layer; the end has the largest token of all. Heads have 64
numbers each, as in both releases.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from timm.models.vision_transformer import Block
from torch import Tensor, nn

from vitexplorer.models.checkpoints.dino_txt_files import TEXT
from vitexplorer.models.checkpoints.records import Tensors
from vitexplorer.models.checkpoints.renaming import count, ratio, renamed

HEAD_DIM = 64
_RULES = (
    (rf"^{TEXT}backbone\.", ""),
    (rf"^{TEXT}head\.linear_projection\.", "proj."),
    (r"\.attention_norm\.", ".norm1."),
    (r"\.attention\.", ".attn."),
    (r"\.ffn_norm\.", ".norm2."),
    (r"\.feed_forward\.", ".mlp."),
)


class DinoTxtEncoder(nn.Module):
    """Tokens of texts to vectors as wide as an image's."""

    def __init__(self, tensors: Tensors):
        """Make the modules that fit the tensors, without numbers of their own."""
        super().__init__()
        tokens, width = tensors["token_embedding.weight"].shape
        hidden = len(tensors["blocks.0.mlp.fc1.weight"])
        with torch.device("meta"):
            self.token_embedding = nn.Embedding(tokens, width)
            self.positional_embedding = nn.Parameter(torch.empty(tensors["positional_embedding"].shape))
            self.blocks = nn.ModuleList(
                Block(width, width // HEAD_DIM, ratio(hidden, width), norm_layer=nn.LayerNorm)
                for _ in range(count(tensors, r"blocks\.(\d+)\."))
            )
            self.ln_final = nn.LayerNorm(width)
            self.proj = nn.Linear(width, len(tensors["proj.weight"]), bias=False)

    def forward(self, tokens: Int[Tensor, "texts tokens"]) -> Float[Tensor, "texts joint"]:
        """Compute the vectors of texts, not yet at unit length; what follows a text's end changes nothing."""
        stream = self.token_embedding(tokens) + self.positional_embedding[: tokens.shape[1]]
        for block in self.blocks:
            stream = block(stream, is_causal=True)
        ends = stream[torch.arange(len(tokens)), tokens.argmax(1)]
        return self.proj(self.ln_final(ends))


def encoder_of(tensors: Tensors) -> DinoTxtEncoder:
    """Make the text encoder from the tensors of a whole model, in eval mode.

    Raises:
        KeyError, RuntimeError, MisfitError: they hold none, or parts that the releases do not have.
    """
    of_texts = {name: tensor.float() for name, tensor in tensors.items() if name.startswith(TEXT)}
    of_texts = renamed(of_texts, _RULES)
    encoder = DinoTxtEncoder(of_texts)
    encoder.load_state_dict(of_texts, assign=True)
    return encoder.eval().requires_grad_(False)
