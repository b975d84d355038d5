"""Run a model once and keep what every view needs.

timm computes attention with `F.scaled_dot_product_attention`, which never shows its weights, or with an explicit
softmax. `AttentionTap` is a `TorchFunctionMode` around one ordinary forward pass: it sees every torch function the
pass calls, keeps the arguments of each attention call, and touches neither the module nor any global flag. Being a
mode it is local to its thread, so that many threads can share one module.

What is kept is O(blocks x tokens x dim); the attention itself, O(blocks x heads x tokens^2), is computed for one
block, or a few query rows, when somebody asks. It is exact: softmax(scale q k^T + bias) is what the kernel computed,
with every rotation, normalisation, bias and mask already in q, k and bias.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import PIL.Image
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from torch.overrides import TorchFunctionMode

from vitexplorer.callable_module import call_module_as
from vitexplorer.interfaces import BlockSite, UnsupportedError, no_such_block
from vitexplorer.models.images import image_hash, open_image
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.preprocess import fit_image, normalise
from vitexplorer.types import PADDING, Fit, PatchGrid, Provenance, Query
from vitexplorer.words import Text

WEIGHTS_AT_ONCE = 1 << 24
"""attention weights computed in one piece, 64 MiB of float32"""

# ------------------------------------------------------------------------------------------ one attention call


@dataclass
class AttentionCall:
    """The arguments and the output of one attention call, axes (batch or windows, heads, tokens, head dim)."""

    query: Tensor
    key: Tensor
    value: Tensor | None = None
    output: Tensor | None = None
    bias: Tensor | None = None
    """added to the scaled scores: mask, relative positions"""
    scale: float = 1.0
    scores: Tensor | None = None
    """what an explicit softmax read: scale, bias and mask are already in it, and `query` may hold the scale"""

    @property
    def num_heads(self) -> int:
        """Attention heads."""
        return self.query.shape[1]

    @property
    def num_tokens(self) -> int:
        """Keys of each query."""
        return self.key.shape[-2] if self.scores is None else self.scores.shape[-1]

    def weights(self, queries: slice | Tensor = slice(None)) -> Float[Tensor, "windows heads queries keys"]:
        """Attention of the chosen query rows; every row sums to 1."""
        if self.scores is not None:
            return self.scores[:, :, queries].softmax(-1)
        scores = self.query[:, :, queries] @ self.key.transpose(-2, -1) * self.scale
        if self.bias is not None:
            rows = self.bias if self.bias.shape[-2] == 1 else self.bias[..., queries, :]
            scores = scores + rows
        return scores.softmax(-1)

    def in_pieces(self) -> Iterator[tuple[slice, Float[Tensor, "windows heads queries keys"]]]:
        """All weights, a few query rows at a time, so that the whole matrix never has to be in memory."""
        windows, heads, queries = (self.query if self.scores is None else self.scores).shape[:3]
        step = max(1, WEIGHTS_AT_ONCE // (windows * heads * self.num_tokens))
        for start in range(0, queries, step):
            rows = slice(start, start + step)
            yield rows, self.weights(rows)

    def from_shares(self, shares: Float[Tensor, "windows queries"]) -> Float[Tensor, "windows heads keys"]:
        """shares @ attention for each head: where a mixture of queries looks."""
        return sum(torch.einsum("wq,whqk->whk", shares[:, rows], weights) for rows, weights in self.in_pieces())


def _of_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> AttentionCall:
    """A call from the arguments of `F.scaled_dot_product_attention`, in its own signature."""
    bias = attn_mask
    if is_causal:
        bias = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
    if bias is not None and bias.dtype == torch.bool:
        bias = torch.zeros_like(bias, dtype=query.dtype).masked_fill(~bias, float("-inf"))
    if enable_gqa:
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    return AttentionCall(query, key, value, bias=bias, scale=query.shape[-1] ** -0.5 if scale is None else scale)


# ------------------------------------------------------------------------------------------ the tap

_PARAMETER_AT = {F.linear: 1, F.conv2d: 1, F.layer_norm: 2, F.rms_norm: 2}
"""operations whose weight tells where the pass is, and which argument it is"""
_NORMS = {F.layer_norm, F.rms_norm}
_SUMS = {torch.add, Tensor.add, Tensor.add_, Tensor.__add__, Tensor.__iadd__, Tensor.__radd__}
_SOFTMAXES = {F.softmax, torch.softmax, Tensor.softmax}
_PRODUCTS = {torch.matmul, torch.bmm, Tensor.matmul, Tensor.__matmul__, Tensor.bmm}

OUTSIDE = -1
"""in place of a block's number: before, between and after the blocks"""


class AttentionTap(TorchFunctionMode):
    """Keeps, for each block, its attention calls and the residual stream on both sides of it.

    No hook says where the pass is: the parameter that was used last does. The first operation in a block that uses a
    parameter reads the residual stream (in its norm, or in the projection to q, k and v where the norm comes last);
    the last sum in a block makes it.
    """

    def __init__(self, block_of: Mapping[int, int], keep_norms: bool = False):
        """Args: block_of: id of every parameter -> number of its block, or `OUTSIDE`; keep_norms: see `normed`."""
        super().__init__()
        self.calls: dict[int, list[AttentionCall]] = {}
        self.read: dict[int, Tensor] = {}
        """what the first operation of each block reads"""
        self.made: dict[int, Tensor] = {}
        """the last sum of each block"""
        self.normed: dict[int, Tensor] = {}
        """what the first norm of each block gives; kept only when asked for"""
        self._keep_norms = keep_norms
        self._block_of = block_of
        self._block = OUTSIDE
        self._product: tuple[Tensor, Tensor] | None = None  # the last q, k^T
        self._open: tuple[AttentionCall, Tensor] | None = None  # a softmax that has not met its values

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = function(*args, **kwargs)
        see = self._WATCHED.get(function)  # one look-up: a pass calls hundreds of functions that do not matter
        if see is not None:
            see(self, function, args, kwargs, out)
        return out

    def _see_parameter(self, function, args, kwargs, out: Tensor) -> None:
        place = _PARAMETER_AT[function]
        weight = args[place] if len(args) > place else kwargs.get("weight")
        self._block = self._block_of.get(id(weight), self._block)
        if self._block not in self.read:
            self.read[self._block] = args[0] if args else kwargs["input"]
        if self._keep_norms and function in _NORMS:
            self.normed.setdefault(self._block, out)

    def _see_sum(self, function, args, kwargs, out: Tensor) -> None:
        self.made[self._block] = out

    def _see_kernel(self, function, args, kwargs, out: Tensor) -> None:
        self._keep(replace(_of_kernel(*args, **kwargs), output=out))

    def _see_softmax(self, function, args, kwargs, out: Tensor) -> None:
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        if self._product is None or dim not in (-1, args[0].ndim - 1) or args[0].ndim != 4:
            return
        query, key = self._product
        call = AttentionCall(query, key.transpose(-2, -1), scores=args[0])
        self._keep(call)
        self._open = (call, out)

    def _see_dropout(self, function, args, kwargs, out: Tensor) -> None:
        if self._open and args[0] is self._open[1]:
            self._open = (self._open[0], out)

    def _see_product(self, function, args, kwargs, out: Tensor) -> None:
        if self._open and args[0] is self._open[1]:
            call, _ = self._open
            call.value, call.output, self._open = args[1], out, None
        else:
            self._product = (args[0], args[1])

    def _keep(self, call: AttentionCall) -> None:
        self.calls.setdefault(self._block, []).append(call)
        self._product = None

    _WATCHED: ClassVar[dict[Callable, Callable]] = {
        **dict.fromkeys(_PARAMETER_AT, _see_parameter),
        **dict.fromkeys(_SUMS, _see_sum),
        **dict.fromkeys(_SOFTMAXES, _see_softmax),
        **dict.fromkeys(_PRODUCTS, _see_product),
        F.scaled_dot_product_attention: _see_kernel,
        F.dropout: _see_dropout,
    }


# ------------------------------------------------------------------------------------------ the input


@dataclass(frozen=True)
class ModelInput:
    """An image as the model sees it."""

    pixels: np.ndarray
    """(height, width, 3) uint8 after fitting: overlays are drawn on these"""
    tensor: Float[Tensor, "batch channels height width"]
    content_box: tuple[int, int, int, int]
    """left, top, right, bottom of the picture inside `pixels`; smaller than they are where `fit` padded"""
    fit: Fit
    image_hash: str
    notes: tuple[Text, ...] = ()
    """what fitting did to the image that a person should know"""


def prepare(
    model: LoadedModel, image: str | os.PathLike | PIL.Image.Image | np.ndarray, fit: Fit = "crop"
) -> ModelInput:
    """Open an image and fit it to the model's input.

    Raises ImageError for what cannot be read, UnknownNameError or SettingError for a fit there is not.
    """
    opened = open_image(image)
    wanted = model.preprocessing
    fitted = fit_image(
        opened,
        input_size=wanted.input_size,
        fit=fit,
        interpolation=wanted.interpolation,
        crop_pct=wanted.crop_pct,
        crop_mode=wanted.crop_mode,
        mean=wanted.mean,
        multiple_of=model.family.size_multiple(model.module),
    )
    tensor = normalise(fitted.pixels, wanted.mean, wanted.std).to(model.device)
    return ModelInput(fitted.pixels, tensor, fitted.content_box, fit, image_hash(opened), fitted.notes)


# ------------------------------------------------------------------------------------------ the capture


@dataclass(frozen=True)
class Capture:
    """One forward pass of one image: everything else is computed from here, without the network."""

    model: LoadedModel
    input: ModelInput
    sites: tuple[BlockSite, ...]
    calls: tuple[tuple[AttentionCall, ...], ...]
    """attention calls of each block; a block that can be shown has exactly one"""
    read: dict[int, Tensor] = field(repr=False)
    """by block: what its first operation reads, as the module lays it out"""
    made: dict[int, Tensor] = field(repr=False)
    """by block: the residual stream it leaves, as the module lays it out"""
    output: Tensor = field(repr=False)
    """what the module returned: logits, or pooled features where there is no classifier"""

    @property
    def logits(self) -> Float[Tensor, " classes"] | None:
        """The classifier's outputs before softmax; None for a model without a classifier."""
        return self.output[0] if self.model.num_classes else None

    @property
    def depth(self) -> int:
        """Number of blocks."""
        return len(self.sites)

    @property
    def prefix_tokens(self) -> tuple[str, ...]:
        """Names of the tokens before the patches."""
        return self.model.prefix_tokens

    @property
    def provenance(self) -> Provenance:
        """Model, weights, image, fit and size: what every result of this capture is a result of."""
        height, width = self.input.pixels.shape[:2]
        return replace(
            self.model.provenance, image_hash=self.input.image_hash, fit=self.input.fit, input_size=(height, width)
        )

    def site(self, block: int) -> BlockSite:
        """Place, grid and windows of a block. Raises SettingError where there is no such block."""
        if not 0 <= block < self.depth:
            raise no_such_block(block, self.depth)
        return self.sites[block]

    def grid(self, block: int) -> PatchGrid:
        """Patch grid of a block."""
        return self.site(block).grid

    def num_heads(self, block: int) -> int:
        """Attention heads of a block."""
        return self.call(block).num_heads

    def call(self, block: int) -> AttentionCall:
        """The attention call of a block. Raises UnsupportedError, naming the module, where it cannot be shown."""
        site, calls = self.site(block), self.calls[block]
        if len(calls) != 1:
            raise UnsupportedError(
                Text(
                    "{model}: {module} made {calls} attention calls where one was expected, "
                    "so its attention cannot be shown.",
                    "{model}：{module} 调用了 {calls} 次注意力，而预期是 1 次，因此无法显示。",
                ).format(model=self.model.name, module=site.name, calls=len(calls))
            )
        expected = self.positions(block).shape[1]
        if calls[0].num_tokens != expected:
            raise UnsupportedError(
                Text(
                    "{model}: {module} attends to {keys} keys where its tokens are {tokens}, "
                    "so they cannot be placed in the image.",
                    "{model}：{module} 的键有 {keys} 个，而标记有 {tokens} 个，因此无法在图像中定位。",
                ).format(model=self.model.name, module=site.name, keys=calls[0].num_tokens, tokens=expected)
            )
        return calls[0]

    def attention(
        self, block: int
    ) -> Float[Tensor, "heads queries keys"] | Float[Tensor, "windows heads queries keys"]:
        """Attention weights of a block, computed now: what its kernel used. Rows sum to 1."""
        weights = self.call(block).weights()
        return weights if self.site(block).windows else weights[0]

    def positions(self, block: int) -> np.ndarray:
        """Int (windows, tokens): where each token of a block lies.

        An index into the block's patch grid, row by row; -1 - i for prefix token i; `PADDING` for a token that only
        fills a window. One window where attention is global.
        """
        site = self.site(block)
        if site.windows:
            return site.windows.positions(site.grid)
        prefix = -1 - np.arange(site.grid.num_prefix_tokens)
        return np.concatenate([prefix, np.arange(site.grid.num_patches)])[None]

    def token(self, query: Query, block: int) -> int:
        """Index in the sequence of the token a query names. "mean" is no single token and has none."""
        if query in self.prefix_tokens:
            return self.prefix_tokens.index(query)
        row, col = query
        return len(self.prefix_tokens) + row * self.grid(block).cols + col

    def residual(self, block: int) -> Float[Tensor, "tokens dim"]:
        """The residual stream that enters a block (`resid_pre`): prefix tokens, then patches row by row."""
        read = self.read[block]
        windows = self.site(block).windows
        if windows is None or read.shape[0] == 1:
            return read[0].flatten(0, -2)
        places = torch.from_numpy(self.positions(block)).to(read.device)  # cut into windows before it is read
        return read.new_empty(self.grid(block).num_patches, read.shape[-1]).index_copy_(
            0, places[places >= 0], read[places >= 0]
        )

    def residual_after(self, block: int) -> Float[Tensor, "tokens dim"]:
        """The residual stream that leaves a block (`resid_post`)."""
        return self.made[block][0].flatten(0, -2)

    def attention_from(
        self, query: Query, block: int
    ) -> tuple[Float[Tensor, "heads patches"], Float[Tensor, "heads prefix"], Float[Tensor, " heads"]]:
        """What one query looks at, for each head: shares on the patches, on each prefix token, on padding.

        The three add up to 1. Only the rows asked for are computed; "mean" averages the rows of all patches.
        """
        call, positions = self.call(block), torch.from_numpy(self.positions(block)).to(self.input.tensor.device)
        if query == "mean":
            rows = call.from_shares((positions >= 0).to(call.query.dtype) / self.grid(block).num_patches)
        elif self.site(block).windows:
            row, col = query
            window, token = (positions == row * self.grid(block).cols + col).nonzero()[0]
            rows = call.weights(token[None])[window, :, 0]
            positions, rows = positions[window][None], rows[None]
        else:
            token = torch.tensor([self.token(query, block)], device=positions.device)
            rows = call.weights(token)[:, :, 0]
        return self._placed(rows, positions, self.grid(block))

    def _placed(
        self, rows: Float[Tensor, "windows heads keys"], positions: Int[Tensor, "windows keys"], grid: PatchGrid
    ) -> tuple[Tensor, Tensor, Tensor]:
        flat, at = rows.transpose(0, 1).flatten(1), positions.flatten()
        patches = flat.new_zeros(len(flat), grid.num_patches)
        patches.index_add_(1, at[at >= 0], flat[:, at >= 0])
        prefix = flat[:, (at < 0) & (at > PADDING)]
        return patches, prefix, flat[:, at == PADDING].sum(1)

    @property
    def nbytes(self) -> int:
        """Memory that this capture keeps alive, in bytes; storage shared by several tensors counts once."""
        tensors = [self.output, self.input.tensor, *self.read.values(), *self.made.values()]
        for calls in self.calls:
            for call in calls:
                tensors += [call.query, call.key, call.value, call.output, call.bias, call.scores]
        storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors if t is not None}
        return sum(storages.values()) + self.input.pixels.nbytes


def capture(model: LoadedModel, image: str | os.PathLike | PIL.Image.Image | np.ndarray, fit: Fit = "crop") -> Capture:
    """Run `model` once on `image` and keep what the views need.

    Args:
        model: from `load_model`.
        image: a path, a PIL image or a uint8 RGB array (height, width, 3).
        fit: "crop" (timm's evaluation transform), "squash", "pad" or "native" (keep size and aspect).

    Raises ImageError and SettingError with a sentence.
    """
    return capture_input(model, prepare(model, image, fit))


def capture_input(model: LoadedModel, given: ModelInput) -> Capture:
    """`capture` for an image that is already prepared."""
    height, width = given.tensor.shape[-2:]
    sites = model.blocks((height, width))
    with torch.no_grad(), AttentionTap(model.block_of_parameter) as tap:
        output = model.module(given.tensor)
    calls = tuple(tuple(tap.calls.get(block, ())) for block in range(len(sites)))
    return Capture(model, given, sites, calls, tap.read, tap.made, output)


call_module_as(capture)
