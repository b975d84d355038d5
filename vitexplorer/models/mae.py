"""Decoder of a masked autoencoder, and its use with an encoder (He et al. 2021, arXiv 2111.06377).

The encoder is a plain timm ViT that gets only the visible patches. The decoder gets the encoder's tokens, with copies
of one mask token in place of the hidden patches, and reconstructs every patch. timm has no such decoder. Names and
layout follow the published `mae_visualize_vit_*` and `mae_pretrain_vit_*_full` checkpoints, so their tensors fit
unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import torch
from einops import rearrange
from jaxtyping import Float, Int
from timm.models.vision_transformer import Block, VisionTransformer
from torch import Tensor, nn

HEAD_DIM = 32
"""Width of a decoder head; all published models have 512 numbers in 16 heads, and the tensors do not show it"""
_NORM = partial(nn.LayerNorm, eps=1e-6)
_PARTS = ("decoder_", "mask_token")


class MaeDecoder(nn.Module):
    """Decoder that reconstructs all patches from the tokens of the visible ones."""

    def __init__(self, encoder_dim: int, dim: int, depth: int, grid: tuple[int, int], patch_size: int):
        """Make a decoder with random weights for a class token and a grid of (rows, cols) patches."""
        super().__init__()
        self.grid = grid
        rows, cols = grid
        self.decoder_embed = nn.Linear(encoder_dim, dim)
        self.mask_token = nn.Parameter(0.02 * torch.randn(1, 1, dim))
        positions = torch.cat([torch.zeros(1, dim), sine_positions(rows, cols, dim)])
        self.decoder_pos_embed = nn.Parameter(positions[None], requires_grad=False)
        heads = dim // HEAD_DIM
        self.decoder_blocks = nn.Sequential(*(Block(dim, heads, qkv_bias=True, norm_layer=_NORM) for _ in range(depth)))
        self.decoder_norm = _NORM(dim)
        self.decoder_pred = nn.Linear(dim, 3 * patch_size**2)

    def forward(
        self, tokens: Float[Tensor, "batch tokens encoder_dim"], visible: Int[Tensor, "batch visible"]
    ) -> Float[Tensor, "batch patches pixels"]:
        """Reconstruct the pixels of every patch, each patch row by row with its colours last.

        Args:
            tokens: the encoder's output for the class token and the visible patches.
            visible: index of each visible patch in the image, in the same order.
        """
        embedded = self.decoder_embed(tokens)
        patches = self.mask_token.to(embedded.dtype).repeat(len(embedded), self.decoder_pos_embed.shape[1] - 1, 1)
        patches = patches.scatter(1, visible[..., None].expand(-1, -1, embedded.shape[-1]), embedded[:, 1:])
        sequence = torch.cat([embedded[:, :1], patches], 1) + self.decoder_pos_embed
        return self.decoder_pred(self.decoder_norm(self.decoder_blocks(sequence)))[:, 1:]


def sine_positions(rows: int, cols: int, dim: int) -> Float[Tensor, "patches dim"]:
    """Compute sine positions: half the numbers from the column, half from the row, wavelengths 2 pi to 20000 pi."""
    rates = 10000.0 ** -(torch.arange(dim // 4, dtype=torch.float64) / (dim // 4))
    row, col = torch.meshgrid(torch.arange(rows), torch.arange(cols), indexing="ij")
    angles = [place.flatten()[:, None] * rates for place in (col, row)]
    return torch.cat([part for angle in angles for part in (angle.sin(), angle.cos())], 1).float()


def encode_visible(
    encoder: VisionTransformer,
    images: Float[Tensor, "batch channels height width"],
    visible: Int[Tensor, "batch visible"],
) -> Float[Tensor, "batch tokens encoder_dim"]:
    """Encode the class token and the visible patches alone."""
    tokens = encoder._pos_embed(encoder.patch_embed(images))  # adds the positions while all patches are present
    chosen = tokens[:, 1:].gather(1, visible[..., None].expand(-1, -1, tokens.shape[-1]))
    return encoder.norm(encoder.blocks(encoder.norm_pre(torch.cat([tokens[:, :1], chosen], 1))))


def to_patches(
    images: Float[Tensor, "batch channels height width"], patch_size: int
) -> Float[Tensor, "batch patches pixels"]:
    """Cut images into patches in the decoder's layout, each patch row by row with its colours last."""
    pattern = "batch channels (rows y) (cols x) -> batch (rows cols) (y x channels)"
    return rearrange(images, pattern, y=patch_size, x=patch_size)


def to_images(
    patches: Float[Tensor, "batch patches pixels"], grid: tuple[int, int], patch_size: int
) -> Float[Tensor, "batch channels height width"]:
    """Invert `to_patches`."""
    pattern = "batch (rows cols) (y x channels) -> batch channels (rows y) (cols x)"
    return rearrange(patches, pattern, rows=grid[0], cols=grid[1], y=patch_size, x=patch_size)


def choose_visible(patches: int, hidden_share: float, generator: torch.Generator, batch: int = 1) -> Tensor:
    """Draw the indices (batch, visible) of each image's visible patches; their count is rounded down, at least 1."""
    count = max(1, int(patches * (1 - hidden_share)))
    return torch.rand(batch, patches, generator=generator).argsort(1)[:, :count]


def decoder_from(tensors: Mapping[str, Tensor], encoder: nn.Module) -> MaeDecoder | None:
    """Load the decoder of a checkpoint; None if there is none that fits the encoder."""
    stored = {name: tensor for name, tensor in tensors.items() if name.startswith(_PARTS)}
    embed = stored.get("decoder_embed.weight")
    if embed is None or embed.ndim != 2 or not isinstance(encoder, VisionTransformer):
        return None
    if embed.shape[1] != encoder.embed_dim or embed.shape[0] % HEAD_DIM or encoder.num_prefix_tokens != 1:
        return None
    blocks = {name.split(".")[1] for name in stored if name.startswith("decoder_blocks.")}
    grid, patch_size = encoder.patch_embed.grid_size, encoder.patch_embed.patch_size[0]
    decoder = MaeDecoder(encoder.embed_dim, embed.shape[0], len(blocks), grid, patch_size)
    own = decoder.state_dict()
    if own.keys() != stored.keys() or any(own[name].shape != tensor.shape for name, tensor in stored.items()):
        return None
    decoder.load_state_dict(stored)
    return decoder.eval()


def without_decoder(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors without the decoder's."""
    return {name: tensor for name, tensor in tensors.items() if not name.startswith(_PARTS)}
