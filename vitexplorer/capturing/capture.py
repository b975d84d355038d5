"""Captures: one forward pass of a model on an image, with everything that the views need.

A capture takes O(blocks x tokens x dim); the attention itself, O(blocks x heads x tokens^2), is computed for one
block, or a few query rows, on request. It is exact: softmax(scale q k^T + bias) is what the kernel computed, with
every rotation, normalisation, bias and mask already in q, k and bias. `tracing/follow.py` explains how.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitexplorer.controls import no_such_block, no_such_query
from vitexplorer.core.capture_protocol import NO_TOKENS, PARTS, Keep, Part, parts_of, require_part
from vitexplorer.core.format import measured
from vitexplorer.core.notebook_display import NotebookDisplay
from vitexplorer.core.out_of_memory import explain_full_memory
from vitexplorer.core.result_summary import image_line, model_line
from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import SettingError, Text, UnsupportedError, same
from vitexplorer.core.types import PADDING, Answer, BlockSite, Fit, Output, PatchGrid, Prediction, Provenance, Query
from vitexplorer.models.images import AnyImage, OpenedImage
from vitexplorer.models.input_size import at_size
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.model_summary import blocks_text
from vitexplorer.models.photographs import photo_notes
from vitexplorer.models.preprocess import fit_image, normalise
from vitexplorer.tracing.attention_call import AttentionCall, held_bytes, view_layout
from vitexplorer.tracing.tap import AttentionTap

# ------------------------------------------------------------------------------------------ the input


@dataclass(frozen=True)
class ModelInput:
    """An image as the model reads it."""

    pixels: np.ndarray
    """(height, width, 3) uint8 after fitting; overlays are drawn on these"""
    tensor: Float[Tensor, "batch channels height width"]
    content_box: tuple[int, int, int, int]
    """Left, top, right, bottom of the picture inside `pixels`; smaller than they are where `fit` padded"""
    fit: Fit
    image_hash: str
    notes: tuple[Text, ...] = ()
    """Notes on what fitting did to the image, and on images unlike the model's training data"""


def prepare(model: LoadedModel, image: AnyImage, fit: Fit = "crop") -> ModelInput:
    """Open an image, fit it to the model's input and normalise it; arguments and errors are those of `capture`."""
    opened = OpenedImage.of(image)
    preprocessing = model.preprocessing
    fitted = fit_image(
        opened.pixels,
        input_size=preprocessing.input_size,
        fit=fit,
        interpolation=preprocessing.interpolation,
        crop_pct=preprocessing.crop_pct,
        crop_mode=preprocessing.crop_mode,
        mean=preprocessing.mean,
        multiple_of=model.family.size_multiple(model.module),
    )
    tensor = normalise(fitted.pixels, preprocessing.mean, preprocessing.std).to(model.device)
    notes = (*fitted.notes, *photo_notes(model.provenance, opened.hash))
    return ModelInput(fitted.pixels, tensor, fitted.content_box, fit, opened.hash, notes)


# ------------------------------------------------------------------------------------------ the capture


@dataclass(frozen=True)
class Moved:
    """Patches that were moved within the image."""

    grid: PatchGrid
    order: Int[np.ndarray, " patches"]
    """Index of the original patch at each place of `grid`, both counted row by row"""


@dataclass(frozen=True)
class Change:
    """The change that sets a run apart from the plain one; `interventions` makes it."""

    original: Capture
    """Capture of the plain run, same image and model"""
    texts: tuple[Text, ...]
    """Description of the change"""
    network: Callable[[Tensor], Tensor]
    """The changed network as a function of normalised images"""
    moved: Moved | None = None


@dataclass(frozen=True)
class Graph:
    """A pass with its autograd graph, for any number of gradients with respect to what its tap kept."""

    tap: AttentionTap
    """Has also kept the outputs of norms and attention calls"""
    input: Float[Tensor, "batch channels height width"]
    """Input of the pass"""
    output: Tensor
    """Output of the module"""


@dataclass(frozen=True)
class Capture(Summarised, NotebookDisplay):
    """One forward pass of one image; everything else is computed from it, without the network."""

    model: LoadedModel
    input: ModelInput
    sites: tuple[BlockSite, ...]
    calls: tuple[tuple[AttentionCall, ...], ...]
    """Attention calls of each block; a block that can be shown has exactly one"""
    read: dict[int, Tensor] = field(repr=False)
    """Input of each block's first operation, in the module's layout"""
    made: dict[int, Tensor] = field(repr=False)
    """Residual stream after each block, in the module's layout"""
    output: Tensor = field(repr=False)
    """Output of the module: logits, or pooled features without a classifier"""
    change: Change | None = field(default=None, repr=False)
    """None for the plain run"""
    tables: dict[str, np.ndarray] = field(init=False, default_factory=dict, repr=False, compare=False)
    """Small tables that several views show, cached by the first"""
    graph: Graph | None = field(default=None, repr=False, compare=False)
    """Graph of this pass, if it was kept"""
    parts: frozenset[Part] = frozenset(PARTS)
    """Parts of the pass that it keeps; the others are refused"""

    def _summary(self) -> Summary:
        return Summary(
            f"capture of {model_line(self.provenance)}",
            (
                ("image", image_line(self.provenance)),
                ("changed", self.provenance.changes),
                ("blocks", blocks_text(self.sites, self.prefix_tokens)),
                ("answer", self._answer()),
                ("keeps", "" if len(self.parts) == len(PARTS) else ", ".join(sorted(self.parts)) or "the output alone"),
                ("memory", f"{measured(self.nbytes / 1e6)} MB"),
            ),
            "vx.compute(key, capture), keys: vx.views(); .logits, .attention(block), .residual(block), .input.pixels",
        )

    def _answer(self) -> Answer | None:
        """Return the likeliest class, or the one output; None without a classifier."""
        if self.logits is None:
            return None
        logits, names = self.logits.double(), self.model.class_texts
        index = int(logits.argmax())
        name, logit = names[index] if names else same(""), float(logits[index])
        if self.model.has_one_output:
            return Output(index, name, logit)
        return Prediction(index, name, logit, float(logits.softmax(0)[index]))

    def run(self, images: Float[Tensor, "batch channels height width"]) -> Tensor:
        """Run the network, changes included, on normalised images of the same size."""
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
        """Model, weights, changes, image, fit and size, for every result of this capture."""
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
        """Return place, grid and windows of a block; SettingError where there is no such block."""
        if not 0 <= block < self.depth:
            raise no_such_block(block, self.depth)
        return self.sites[block]

    def grid(self, block: int) -> PatchGrid:
        """Return the patch grid of a block's queries, usually also of its keys."""
        return self.site(block).grid

    def key_grid(self, block: int) -> PatchGrid:
        """Return the patch grid of a block's keys, on which its maps are drawn."""
        site = self.site(block)
        return site.layout.key_grid if site.layout else site.grid

    def queries(self, block: int) -> tuple[str, ...]:
        """Name the prefix tokens that are queries in a block, and "mean" if the patches are."""
        positions = self.query_positions(block)
        return (*self._token_names(positions), *(("mean",) if (positions >= 0).any() else ()))

    def key_tokens(self, block: int) -> tuple[str, ...]:
        """Name the prefix tokens that are keys in a block."""
        return self._token_names(self.positions(block))

    def _token_names(self, positions: np.ndarray) -> tuple[str, ...]:
        return tuple(name for i, name in enumerate(self.prefix_tokens) if -1 - i in positions)

    def num_heads(self, block: int) -> int:
        """Return the number of attention heads of a block."""
        return self.call(block).num_heads

    def call(self, block: int) -> AttentionCall:
        """Return the attention call of a block; UnsupportedError, naming the module, where it cannot be shown."""
        require_part(self, "attention")
        site, calls = self.site(block), self.calls[block]
        if len(calls) != 1:
            raise UnsupportedError(
                Text(
                    "{model}: {module} made {calls} attention calls where one was expected, "
                    "so its attention cannot be shown.",
                    "{model}：{module} 调用了 {calls} 次注意力，而预期是 1 次，因此无法显示其注意力。",
                ).format(model=self.model.title, module=site.name, calls=len(calls))
            )
        expected, num_tokens = self.positions(block).shape[1], calls[0].num_tokens
        if num_tokens != expected:
            raise UnsupportedError(
                Text(
                    "{model}: {module} attends to {keys} keys where its tokens are {tokens}, "
                    "so they cannot be placed in the image.",
                    "{model}：{module} 的键有 {keys} 个，而标记有 {tokens} 个，因此无法在图像中定位。",
                ).format(model=self.model.title, module=site.name, keys=num_tokens, tokens=expected)
            )
        return calls[0]

    def attention(
        self, block: int
    ) -> Float[Tensor, "heads queries keys"] | Float[Tensor, "windows heads queries keys"]:
        """Compute the attention weights of a block, as its kernel used them. Rows sum to 1."""
        weights = self.call(block).weights()
        site = self.site(block)
        return weights if site.windows or (site.layout and len(weights) > 1) else weights[0]

    def positions(self, block: int) -> np.ndarray:
        """Return the places of a block's tokens, int (windows, tokens): of its keys, where these are no queries.

        An index into the block's patch grid, row by row; -1 - i for prefix token i; `PADDING` for a token that only
        fills a window. One window where attention is global.
        """
        site = self.site(block)
        if site.layout:
            return site.layout.keys
        return site.windows.positions(site.grid) if site.windows else site.grid.positions

    def query_positions(self, block: int) -> np.ndarray:
        """Return the place of each query of a block, int (windows, queries), as in `positions`."""
        site = self.site(block)
        return site.layout.queries if site.layout else self.positions(block)

    def token(self, query: Query, block: int) -> int:
        """Return the index in the sequence of a query's token; "mean" is no single token and has none."""
        if query in self.prefix_tokens:
            return self.prefix_tokens.index(query)
        row, col = query
        return len(self.prefix_tokens) + row * self.grid(block).cols + col

    def residual(self, block: int) -> Float[Tensor, "tokens dim"]:
        """Return the residual stream that enters a block (`resid_pre`): prefix tokens, then patches row by row."""
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
        """Return the residual stream that leaves a block (`resid_post`)."""
        self._refuse_stream()
        return self.made[block][0].flatten(0, -2)

    @property
    def embedding(self) -> Float[Tensor, " dim"]:
        """Pooled feature that the classifier reads, or would read if there were one."""
        last = self.residual_after(self.depth - 1)[None]
        with torch.no_grad():
            return self.model.family.embedding(self.model.module, last)[0]

    @property
    def joint_embedding(self) -> Float[Tensor, " joint"]:
        """Feature in the joint space of images and texts; `embedding` for a model that has no projection."""
        return self.output[0] if self.model.projects else self.embedding

    def patch_embedding(self, patch: tuple[int, int]) -> Float[Tensor, " dim"]:
        """Return a patch's token after the last block and the final norm; row and column of the last block's grid."""
        last = self.residual_after(self.depth - 1)[None]
        with torch.no_grad():
            return self.model.family.final_norm(self.model.module, last)[0, self.token(patch, self.depth - 1)]

    def _refuse_stream(self) -> None:
        if not self.model.family.shows_stream:
            raise UnsupportedError(self.model.family.no_stream(self.model.title))
        if not self.model.family.shows_tokens:
            raise UnsupportedError(NO_TOKENS.format(model=self.model.title))
        require_part(self, "stream")

    def attention_from(
        self, query: Query, block: int
    ) -> tuple[Float[Tensor, "heads patches"], Float[Tensor, "heads prefix"], Float[Tensor, " heads"]]:
        """Compute one query's attention, for each head: shares on the patches, on each prefix token, on padding.

        The three add up to 1. Only the rows asked for are computed; "mean" averages the rows of all patches.
        """
        call, device = self.call(block), self.input.tensor.device
        keys, queries = (torch.from_numpy(p).to(device) for p in (self.positions(block), self.query_positions(block)))
        selected = queries >= 0 if query == "mean" else queries == self._code(query, block)
        if not selected.any():
            raise no_such_query(block, self.queries(block))
        if query == "mean":
            rows = call.from_shares(selected.to(call.rows.dtype) / self.grid(block).num_patches)
        else:
            window, token = selected.nonzero()[0]
            keys, rows = keys[window][None], call.weights(token[None])[window, :, 0][None]
        return self._placed(rows, keys, self.key_grid(block))

    def _code(self, query: Query, block: int) -> int:
        if isinstance(query, str):
            return -1 - self.prefix_tokens.index(query)
        return query[0] * self.grid(block).cols + query[1]

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
    keep: Keep = PARTS,
) -> Capture:
    """Run `model` once on `image` and keep what the views need.

    Args:
        model: from `load_model`.
        image: a path, a PIL image, a uint8 RGB array (height, width, 3), or an `OpenedImage`.
        fit: "crop" (timm's evaluation transform), "squash", "pad" or "native" (keep size and aspect).
        size: another input size in pixels, of a square or (height, width); None for the model's own. The model is
            resized at each call: for many images pass the size to `load_model` instead.
        differentiable: keep the graph of the pass too, at several times the memory; gradient views then need no
            second forward pass. Such a capture keeps all parts.
        keep: parts to keep of each block, for less memory: "attention", "values" or "stream", or several of them; ()
            keeps the output alone. `reads` of a view names the parts that it needs.

    Returns:
        The capture.

    Raises:
        ImageError: the image cannot be read.
        SettingError: fit or size are not possible.
        UnknownNameError: there is no such part.
        UnsupportedError: the model takes no other size.
        NoMemoryError: memory runs out.
    """
    parts = parts_of(keep)
    model = resized(model, fit, size)
    return capture_input(model, prepare(model, image, fit), differentiable=differentiable, parts=parts)


def resized(model: LoadedModel, fit: Fit, size: int | tuple[int, int] | str | None) -> LoadedModel:
    """Return the model at another input size, if there is one; SettingError where `fit` sets the size."""
    if size is None:
        return model
    if fit == "native":
        raise SettingError(TWO_SIZES)
    return at_size(model, size)


TWO_SIZES = Text(
    'fit "native" keeps the size of the picture. With a size, choose "crop", "squash" or "pad"; otherwise leave the '
    "size out.",
    'fit "native" 保持图像自身的尺寸。指定尺寸时请用 "crop"、"squash" 或 "pad"，或者不指定尺寸。',
)


@contextmanager
def plain_numbers(device: torch.device) -> Iterator[None]:
    """Switch off the caller's inference mode and autocast, so that tensors keep their precision and gradients work.

    Raises NoMemoryError where memory runs out.
    """
    with explain_full_memory(), torch.inference_mode(mode=False), torch.autocast(device.type, enabled=False):
        yield


def capture_input(
    model: LoadedModel,
    prepared: ModelInput,
    change: Change | None = None,
    differentiable: bool = False,
    parts: frozenset[Part] = frozenset(PARTS),
) -> Capture:
    """Capture an image that is already prepared, with a changed network if there is a `change`."""
    sites = model.blocks(prepared.tensor.shape[-2:])
    network = change.network if change else model.module
    parts = frozenset(PARTS) if differentiable else parts
    tap = plain_tap(model, sites, differentiable, parts)
    graph = with_graph(network, prepared.tensor, tap) if differentiable else None
    if graph is None:
        output = tapped(network, prepared.tensor, tap)
    else:
        tap, output = tap.without_graph(), graph.output.detach()
    calls = tuple(view_layout(tap.calls.get(block, ()), site) for block, site in enumerate(sites))
    return Capture(model, prepared, sites, calls, tap.read, tap.made, output, change, graph, parts)


def plain_tap(
    model: LoadedModel, sites: tuple[BlockSite, ...], for_gradients: bool = False, parts: Collection[Part] = PARTS
) -> AttentionTap:
    """Make the tap for a pass; `for_gradients`, it also keeps the outputs of norms and attention calls."""
    return AttentionTap(
        model.block_of_parameter,
        keep_norms=for_gradients,
        keep_outputs=for_gradients,
        sites=sites,
        parts=[part for part in model.family.parts if part in parts],
    )


def tapped(
    network: Callable[[Tensor], Tensor], images: Float[Tensor, "batch channels height width"], tap: AttentionTap
) -> Tensor:
    """Run a network through a tap, without a graph."""
    with plain_numbers(images.device), torch.no_grad(), tap:
        return network(images)


def with_graph(
    network: Callable[[Tensor], Tensor], images: Float[Tensor, "batch channels height width"], tap: AttentionTap
) -> Graph:
    """Run a network through a tap and keep the graph."""
    with plain_numbers(images.device), torch.enable_grad():
        leaf = images.clone() if images.is_inference() else images.detach()  # an inference tensor has no gradient
        leaf.requires_grad_()
        with tap:
            return Graph(tap, leaf, network(leaf))
