"""Run a model once and keep what every view needs.

What is kept is O(blocks x tokens x dim); the attention itself, O(blocks x heads x tokens^2), is computed for one
block, or a few query rows, when somebody asks. It is exact: softmax(scale q k^T + bias) is what the kernel computed,
with every rotation, normalisation, bias and mask already in q, k and bias. `follow.py` says how it is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitexplorer.controls import no_such_block
from vitexplorer.core.capture_protocol import no_tokens
from vitexplorer.core.format import measured
from vitexplorer.core.notebook_display import NotebookDisplay
from vitexplorer.core.out_of_memory import explain_full_memory
from vitexplorer.core.result_summary import image_line, model_line
from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import SettingError, Text, UnsupportedError, same
from vitexplorer.core.types import (
    PADDING,
    Answer,
    BlockSite,
    Fit,
    Output,
    PatchGrid,
    Prediction,
    Provenance,
    Query,
    query_text,
)
from vitexplorer.models.images import AnyImage, OpenedImage
from vitexplorer.models.input_size import at_size
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.model_summary import blocks_text
from vitexplorer.models.photographs import photo_notes
from vitexplorer.models.preprocess import fit_image, normalise
from vitexplorer.tracing.attention_call import AttentionCall, as_shown, held_bytes
from vitexplorer.tracing.tap import AttentionTap

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
    """what a person should know of the image: what fitting did to it, and whether the model can know such images"""


def prepare(model: LoadedModel, image: AnyImage, fit: Fit = "crop") -> ModelInput:
    """Open an image and fit it to the model's input.

    Raises ImageError for what cannot be read, UnknownNameError or SettingError for a fit there is not.
    """
    opened = OpenedImage.of(image)
    wanted = model.preprocessing
    fitted = fit_image(
        opened.pixels,
        input_size=wanted.input_size,
        fit=fit,
        interpolation=wanted.interpolation,
        crop_pct=wanted.crop_pct,
        crop_mode=wanted.crop_mode,
        mean=wanted.mean,
        multiple_of=model.family.size_multiple(model.module),
    )
    tensor = normalise(fitted.pixels, wanted.mean, wanted.std).to(model.device)
    notes = (*fitted.notes, *photo_notes(model.provenance, opened.hash))
    return ModelInput(fitted.pixels, tensor, fitted.content_box, fit, opened.hash, notes)


# ------------------------------------------------------------------------------------------ the capture


@dataclass(frozen=True)
class Moved:
    """Patches that lie elsewhere than in the image they come from."""

    grid: PatchGrid
    order: Int[np.ndarray, " patches"]
    """which patch of the original lies at each place of `grid`, both counted row by row"""


@dataclass(frozen=True)
class Change:
    """What makes a run another than the plain one; `interventions` makes it."""

    original: Capture
    """the plain run of the same image and model"""
    texts: tuple[Text, ...]
    """what was changed, in words"""
    network: Callable[[Tensor], Tensor]
    """the changed network as a function of normalised images"""
    moved: Moved | None = None


@dataclass(frozen=True)
class Graph:
    """A pass that can be gone back through, any number of times: gradients with respect to what its tap saw."""

    tap: AttentionTap
    """has kept what norms and attention calls gave too"""
    input: Float[Tensor, "batch channels height width"]
    """where it began"""
    output: Tensor
    """what the module returned"""


@dataclass(frozen=True)
class Capture(Summarised, NotebookDisplay):
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
    change: Change | None = field(default=None, repr=False)
    """None for the plain run"""
    tables: dict[str, np.ndarray] = field(init=False, default_factory=dict, repr=False, compare=False)
    """small numbers that more than one view shows, once one of them has computed them"""
    graph: Graph | None = field(default=None, repr=False, compare=False)
    """of this very pass, where it was kept"""

    def _summary(self) -> Summary:
        return Summary(
            f"capture of {model_line(self.provenance)}",
            (
                ("image", image_line(self.provenance)),
                ("changed", self.provenance.changes),
                ("blocks", blocks_text(self.sites, self.prefix_tokens)),
                ("answer", self._answer()),
                ("memory", f"{measured(self.nbytes / 1e6)} MB"),
            ),
            "vx.compute(key, capture), keys: vx.views(); .logits, .attention(block), .residual(block), .input.pixels",
        )

    def _answer(self) -> Answer | None:
        """The likeliest class, or the one output; None without a classifier."""
        if self.logits is None:
            return None
        logits, names = self.logits.double(), self.model.class_texts
        index = int(logits.argmax())
        name, logit = names[index] if names else same(""), float(logits[index])
        if self.model.has_one_output:
            return Output(index, name, logit)
        return Prediction(index, name, logit, float(logits.softmax(0)[index]))

    def run(self, images: Float[Tensor, "batch channels height width"]) -> Tensor:
        """The network as it ran here, changes included, on normalised images of the same size."""
        return self.change.network(images) if self.change else self.model.module(images)

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
    def renewed_tokens(self) -> tuple[int, ...]:
        """Places of the prefix tokens that every block but the first replaces."""
        return self.model.family.renewed_tokens(self.model.module)

    @property
    def provenance(self) -> Provenance:
        """Model, weights, changes, image, fit and size: what every result of this capture is a result of."""
        height, width = self.input.pixels.shape[:2]
        return replace(
            self.model.provenance,
            image_hash=self.input.image_hash,
            fit=self.input.fit,
            input_size=(height, width),
            resized=self.model.unsized is not None,
            changes=self.change.texts if self.change else (),
        )

    def site(self, block: int) -> BlockSite:
        """Place, grid and windows of a block. Raises SettingError where there is no such block."""
        if not 0 <= block < self.depth:
            raise no_such_block(block, self.depth)
        return self.sites[block]

    def grid(self, block: int) -> PatchGrid:
        """Patch grid of a block; that of its queries where keys have another."""
        return self.site(block).grid

    def key_grid(self, block: int) -> PatchGrid:
        """Patch grid of the keys of a block: what its maps are drawn on."""
        site = self.site(block)
        return site.layout.key_grid if site.layout else site.grid

    def query_tokens(self, block: int) -> tuple[str, ...]:
        """Names of the prefix tokens that look in a block."""
        return self._named(self.query_positions(block))

    def key_tokens(self, block: int) -> tuple[str, ...]:
        """Names of the prefix tokens that are looked at in a block."""
        return self._named(self.positions(block))

    def _named(self, positions: np.ndarray) -> tuple[str, ...]:
        return tuple(name for i, name in enumerate(self.prefix_tokens) if -1 - i in positions)

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
        expected, found = self.positions(block).shape[1], calls[0].num_tokens
        if found != expected:
            raise UnsupportedError(
                Text(
                    "{model}: {module} attends to {keys} keys where its tokens are {tokens}, "
                    "so they cannot be placed in the image.",
                    "{model}：{module} 的键有 {keys} 个，而标记有 {tokens} 个，因此无法在图像中定位。",
                ).format(model=self.model.name, module=site.name, keys=found, tokens=expected)
            )
        return calls[0]

    def attention(
        self, block: int
    ) -> Float[Tensor, "heads queries keys"] | Float[Tensor, "windows heads queries keys"]:
        """Attention weights of a block, computed now: what its kernel used. Rows sum to 1."""
        weights = self.call(block).weights()
        site = self.site(block)
        return weights if site.windows or (site.layout and len(weights) > 1) else weights[0]

    def positions(self, block: int) -> np.ndarray:
        """Int (windows, tokens): where each token of a block lies; its keys, where queries are other tokens.

        An index into the block's patch grid, row by row; -1 - i for prefix token i; `PADDING` for a token that only
        fills a window. One window where attention is global.
        """
        site = self.site(block)
        if site.layout:
            return site.layout.keys
        if site.windows:
            return site.windows.positions(site.grid)
        prefix = -1 - np.arange(site.grid.num_prefix_tokens)
        return np.concatenate([prefix, np.arange(site.grid.num_patches)])[None]

    def query_positions(self, block: int) -> np.ndarray:
        """Int (windows, queries): where each query of a block lies, as in `positions`."""
        site = self.site(block)
        return site.layout.queries if site.layout else self.positions(block)

    def token(self, query: Query, block: int) -> int:
        """Index in the sequence of the token a query names. "mean" is no single token and has none."""
        if query in self.prefix_tokens:
            return self.prefix_tokens.index(query)
        row, col = query
        return len(self.prefix_tokens) + row * self.grid(block).cols + col

    def residual(self, block: int) -> Float[Tensor, "tokens dim"]:
        """The residual stream that enters a block (`resid_pre`): prefix tokens, then patches row by row."""
        self._refuse_stream()
        read = self.read[block]
        windows = self.site(block).windows
        if windows is None or read.ndim > 3:
            return read[0].flatten(0, -2)
        places = torch.from_numpy(self.positions(block)).to(read.device)  # cut into windows before it is read
        return read.new_empty(self.grid(block).num_patches, read.shape[-1]).index_copy_(
            0, places[places >= 0], read[places >= 0]
        )

    def residual_after(self, block: int) -> Float[Tensor, "tokens dim"]:
        """The residual stream that leaves a block (`resid_post`)."""
        self._refuse_stream()
        return self.made[block][0].flatten(0, -2)

    @property
    def embedding(self) -> Float[Tensor, " dim"]:
        """The pooled feature that the classifier reads, or would read if there were one."""
        last = self.residual_after(self.depth - 1)[None]
        with torch.no_grad():
            return self.model.family.embedding(self.model.module, last)[0]

    def patch_embedding(self, patch: tuple[int, int]) -> Float[Tensor, " dim"]:
        """A patch's token after the last block, through the final norm; row and column of the last block's grid."""
        last = self.residual_after(self.depth - 1)[None]
        with torch.no_grad():
            return self.model.family.final_norm(self.model.module, last)[0, self.token(patch, self.depth - 1)]

    def _refuse_stream(self) -> None:
        if not self.model.family.shows_stream:
            raise UnsupportedError(self.model.family.no_stream(self.model.name))
        if not self.model.family.shows_tokens:
            raise UnsupportedError(no_tokens(self.model.name))

    def attention_from(
        self, query: Query, block: int
    ) -> tuple[Float[Tensor, "heads patches"], Float[Tensor, "heads prefix"], Float[Tensor, " heads"]]:
        """What one query looks at, for each head: shares on the patches, on each prefix token, on padding.

        The three add up to 1. Only the rows asked for are computed; "mean" averages the rows of all patches.
        """
        call, device = self.call(block), self.input.tensor.device
        keys, queries = (torch.from_numpy(p).to(device) for p in (self.positions(block), self.query_positions(block)))
        wanted = queries >= 0 if query == "mean" else queries == self._code(query, block)
        if not wanted.any():
            raise SettingError(
                Text(
                    "{module} (block {block}) has no such query: its queries are the {queries}.",
                    "{module}（块 {block}）没有这样的查询：它的查询是{queries}。",
                ).format(module=self.site(block).name, block=block, queries=self._queries_text(block))
            )
        if query == "mean":
            rows = call.from_shares(wanted.to(call.query.dtype) / self.grid(block).num_patches)
        else:
            window, token = wanted.nonzero()[0]
            keys, rows = keys[window][None], call.weights(token[None])[window, :, 0][None]
        return self._placed(rows, keys, self.key_grid(block))

    def _code(self, query: Query, block: int) -> int:
        if isinstance(query, str):
            return -1 - self.prefix_tokens.index(query)
        return query[0] * self.grid(block).cols + query[1]

    def _queries_text(self, block: int) -> Text:
        names = self.query_tokens(block)
        return query_text(names[0]) if names else Text("patches", "图块")

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
        """Memory that this capture keeps alive, in bytes, without a graph; what several tensors share counts once."""
        more = self.change.original.nbytes if self.change else 0
        tensors = [self.output, self.input.tensor, *self.read.values(), *self.made.values()]
        tensors += [tensor for calls in self.calls for call in calls for tensor in call.tensors]
        return held_bytes(tensors) + self.input.pixels.nbytes + more


def capture(
    model: LoadedModel,
    image: AnyImage,
    fit: Fit = "crop",
    size: int | tuple[int, int] | str | None = None,
    differentiable: bool = False,
) -> Capture:
    """Run `model` once on `image` and keep what the views need.

    Args:
        model: from `load_model`.
        image: a path, a PIL image, a uint8 RGB array (height, width, 3), or an `OpenedImage`.
        fit: "crop" (timm's evaluation transform), "squash", "pad" or "native" (keep size and aspect).
        size: another input size in pixels, of a square or (height, width); None for the model's own. What has to be
            made for it is made anew each time: for many images ask `load_model` for it.
        differentiable: keep the graph of the pass too, several times the memory of all else: views of gradients then
            take no second pass forward, and go back no further than they have to.

    Raises ImageError, SettingError, UnsupportedError and NoMemoryError with a sentence.
    """
    if size is not None:
        if fit == "native":
            raise SettingError(TWO_SIZES)
        model = at_size(model, size)
    return capture_input(model, prepare(model, image, fit), differentiable=differentiable)


TWO_SIZES = Text(
    'fit "native" keeps the picture\'s own size. Choose "crop", "squash" or "pad" with a size, or leave the size out.',
    'fit "native" 保持图像自身的尺寸。指定尺寸时请用 "crop"、"squash" 或 "pad"，或者不指定尺寸。',
)


@contextmanager
def plain_numbers(device: torch.device) -> Iterator[None]:
    """Whatever the caller has switched on, inside are the tensors' own precision and, where asked for, gradients.

    Raises NoMemoryError where memory runs out.
    """
    with explain_full_memory(), torch.inference_mode(mode=False), torch.autocast(device.type, enabled=False):
        yield


def capture_input(
    model: LoadedModel, given: ModelInput, change: Change | None = None, differentiable: bool = False
) -> Capture:
    """`capture` for an image that is already prepared, and for a network that is changed."""
    sites = model.blocks(given.tensor.shape[-2:])
    network, tap = change.network if change else model.module, plain_tap(model, sites, differentiable)
    graph = with_graph(network, given.tensor, tap) if differentiable else None
    if graph is None:
        output = tapped(network, given.tensor, tap)
    else:
        tap, output = tap.without_graph(), graph.output.detach()
    calls = tuple(as_shown(tap.calls.get(block, ()), site) for block, site in enumerate(sites))
    return Capture(model, given, sites, calls, tap.read, tap.made, output, change, graph)


def plain_tap(model: LoadedModel, sites: tuple[BlockSite, ...], for_gradients: bool = False) -> AttentionTap:
    """What sees a pass of the model; `for_gradients` it keeps what norms and attention calls give too."""
    return AttentionTap(
        model.block_of_parameter,
        keep_norms=for_gradients,
        keep_stream=model.family.shows_stream,
        keep_outputs=for_gradients,
        sites=sites,
    )


def tapped(
    network: Callable[[Tensor], Tensor], images: Float[Tensor, "batch channels height width"], tap: AttentionTap
) -> Tensor:
    """The output of one pass of a network through a tap."""
    with plain_numbers(images.device), torch.no_grad(), tap:
        return network(images)


def with_graph(
    network: Callable[[Tensor], Tensor], images: Float[Tensor, "batch channels height width"], tap: AttentionTap
) -> Graph:
    """The same, its graph kept."""
    with plain_numbers(images.device), torch.enable_grad():
        given = images.clone() if images.is_inference() else images.detach()  # an inference tensor has no gradient
        given.requires_grad_()
        with tap:
            return Graph(tap, given, network(given))
