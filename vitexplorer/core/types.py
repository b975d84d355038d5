"""Records of results, and the glossary of axis words.

Axis words appear in every shape of every signature, always with the same meaning:

==========  =====================================================================================
batch       images; a capture holds one and its tensors have no batch axis
heads       attention heads of one block
queries     tokens that attend, the rows of an attention matrix
keys        tokens that are attended to, the columns
tokens      rows of the sequence, prefix tokens first
patches     tokens that have a place in the image, row by row
rows cols   the patch grid of one block
windows     windows of a windowed block (Swin), row by row
blocks      attention + MLP, counted from 0 over the whole network
classes     outputs of the classifier
dim         width of a token
parts       pieces of a model, in the order of the forward pass
modules     modules of a model, one inside the other
designs     ways to build the same blocks
kinds       kinds of multiplication: projections, attention, MLP
sizes       sizes of images
filters     kernels, or what they are composed of
row_offsets col_offsets  distance between two tokens in cells, with its sign
height width  pixels
methods     ways to explain a class or a word, compared with each other
words       words of a caption
curves      deletion and insertion
protocols   ways to compare maps with a known truth, each with a number
groups      groups of patches of similar salience
entries     entries of a list
steps       points of a curve
images      images of a validation set, or images that share something
figures     measures of the quality of predictions
trainings   runs of fine-tuning that are compared
sides       left and right of a comparison
quantities  several numbers of one object, each with its own unit
==========  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np

from vitexplorer.core.grids import PADDING as PADDING
from vitexplorer.core.grids import PatchGrid, TokenLayout, WindowLayout
from vitexplorer.core.notebook_display import NotebookDisplay
from vitexplorer.core.predictions import OUTPUT as OUTPUT
from vitexplorer.core.predictions import PROBABILITY as PROBABILITY
from vitexplorer.core.predictions import Answer as Answer
from vitexplorer.core.predictions import Output as Output
from vitexplorer.core.predictions import Prediction as Prediction
from vitexplorer.core.predictions import PredictionChange as PredictionChange
from vitexplorer.core.predictions import value_text as value_text
from vitexplorer.core.query_words import PREFIX_WORDS as PREFIX_WORDS
from vitexplorer.core.query_words import prefix_text as prefix_text
from vitexplorer.core.query_words import query_text as query_text
from vitexplorer.core.result_summary import result_summary
from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import Text, same

Query = Literal["cls", "dist", "mean"] | tuple[int, int]
Reading = Literal["cls", "dist", "mean", "own"]
"""Pooling of the last tokens before the logits: one token, the mean over patches, or the model's own pooling"""
Fit = Literal["crop", "squash", "pad", "native"]
Size = tuple[int, int]
"""Height, width in pixels"""
Weights = Literal["pretrained", "bundled", "random", "file", "fine-tuned"]


@dataclass(frozen=True)
class Stream:
    """Layout of the tokens that enter and leave a block, (batch, tokens, dim) unless stated here."""

    reads_tokens_first: bool = False
    """True if its first operation reads (tokens, batch, dim), as `nn.MultiheadAttention` does"""
    gives_tokens_first: bool = False
    """True if its norms and sums give (tokens, batch, dim)"""
    ends_with_norm: bool = False
    """True if its output is the norm of its last sum: post-norm, Vaswani et al. 2017 (arXiv 1706.03762)"""


@dataclass(frozen=True)
class BlockSite:
    """One block: its place in the timm module and the places of its tokens in the image."""

    name: str
    """Name of the block's module, `blocks.3`; use of its parameters shows that the forward pass is inside it"""
    grid: PatchGrid
    """Grid of the queries, and of the keys unless there is a layout"""
    windows: WindowLayout | None = None
    """None where every token attends to every other"""
    layout: TokenLayout | None = None
    """Places of queries and keys, in place of `windows` where plain windows do not describe them"""
    arrange: Callable[[Any], Any] | None = None
    """Function from the module's own axes to (windows, heads, tokens, dim); None where they are these"""
    flat: bool = False
    """True if its scores have three axes, because there is one head or because heads and windows share an axis"""
    heads_apart: bool = False
    """True if the module computes one head after the other, in an attention call each"""
    stream: Stream = Stream()
    mixes: bool = False
    """True if the module changes the weights after the softmax; the weights that multiply the values are shown"""
    formula: str = "softmax(q kᵀ / √d + bias)"
    """Formula of the weights that are shown"""
    notes: tuple[Text, ...] = ()
    """Warnings for readers of its maps"""


@dataclass(frozen=True)
class Provenance:
    """Origin of a figure: model, weights, image, changes. Every result, caption and file carries it."""

    model: str
    weights: Weights
    weights_source: str
    """Seed, hub id, file name or recipe"""
    image_hash: str = ""
    fit: str = ""
    input_size: Size = (0, 0)
    resized: bool = False
    """True if `input_size` was chosen in place of the model's own"""
    changes: tuple[Text, ...] = ()
    """Interventions of this run, in words; empty for the plain one"""
    beside: Provenance | None = None
    """Provenance of the right side, where this is the left one of a comparison"""

    @property
    def is_random(self) -> bool:
        """True when nothing was ever learned, on either side: such a picture needs a visible warning."""
        return self.weights == "random" or (self.beside is not None and self.beside.is_random)

    @property
    def weights_text(self) -> Text:
        """The weights in words, for captions."""
        words = {
            "pretrained": Text("pretrained weights ({source})", "预训练权重（{source}）"),
            "bundled": Text("bundled weights, trained on drawn pictures", "内置权重（在合成图像上训练）"),
            "random": Text("RANDOM weights ({source}), nothing learned", "随机权重（{source}），未经训练"),
            "file": Text("weights from {source}", "权重来自 {source}"),
            "fine-tuned": Text("fine-tuned weights ({source})", "微调权重（{source}）"),
        }
        return words[self.weights].format(source=Text(of := self.weights_source, of.replace("seed ", "种子 ")))


UNKNOWN = Provenance("", "random", "")
"""Origin of a result until its own is filled in"""


@dataclass(frozen=True, kw_only=True)
class Result(Summarised, NotebookDisplay):
    """Result of a view: numbers, how to read them and where they come from. No torch, no drawing.

    `views.compute` fills in what a view leaves out: its own name and title, the capture's origin and the settings.
    """

    view: str = ""
    title: Text = same("")
    values: np.ndarray
    axes: tuple[str, ...]
    """One word of the glossary for each axis of `values`"""
    unit: Text
    formula: str | Text
    """A `Text` if it contains words"""
    provenance: Provenance = UNKNOWN
    settings: Mapping[str, object] = field(default_factory=dict)
    """Values of the controls that gave this result"""
    settings_said: Mapping[str, tuple[Text, Text]] = field(default_factory=dict)
    """Label and value of each setting in words"""
    notes: tuple[Text, ...] = ()
    """Notes on what was dropped, normalised or approximated"""
    target: Answer | None = None
    """Class, or the one output, that the numbers explain, with the model's answer; None where they explain none"""

    def _summary(self) -> Summary:
        return result_summary(self, fields(self)[len(fields(Result)) :])


@dataclass(frozen=True, kw_only=True)
class PatchesResult(Result):
    """Image patches, (patches, patch_size, patch_size, 3) uint8, and the grid they were cut from."""

    grid: PatchGrid
    image: np.ndarray


@dataclass(frozen=True, kw_only=True)
class MapResult(Result):
    """One map over the patch grid, values (rows, cols), and the mass that is not on patches."""

    grid: PatchGrid
    image: np.ndarray
    """(height, width, 3) uint8: the pixels the model saw"""
    query: Query | None = None
    prefix_names: tuple[str, ...] = ()
    prefix_weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(prefix tokens,) share of the query's attention on each prefix token"""
    padding_mass: float = 0.0
    """Share of the query's attention on tokens that only fill a window"""
    identity_mass: float = 0.0
    """Mass of the identity (residual connections alone) on the patches, which the values leave out"""
    window: tuple[int, int, int, int] | None = None
    """Window of the query in cells: top, left, height, width; a shifted one wraps around the grid"""

    @property
    def prefix_mass(self) -> float:
        """Share of the query's attention on all prefix tokens together, 0-1."""
        return float(self.prefix_weights.sum())


@dataclass(frozen=True, kw_only=True)
class GalleryResult(Result):
    """The same map once for each head, values (heads, rows, cols)."""

    grid: PatchGrid
    image: np.ndarray
    query: Query | None = None
    prefix_names: tuple[str, ...] = ()
    prefix_weights: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(heads, prefix tokens)"""
    padding_mass: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(heads,)"""

    @property
    def prefix_mass(self) -> np.ndarray:
        """(heads,) share of each head's attention on all prefix tokens together, 0-1."""
        return self.prefix_weights.sum(-1)


@dataclass(frozen=True, kw_only=True)
class MatrixResult(Result):
    """A number for each head or token of each block, values (blocks, heads) or (blocks, tokens).

    NaN where a block has no such head or token: Swin's blocks differ.
    """

    marked: np.ndarray | None = None
    """Bool, shape of `values`: entries that the view highlights"""
    relative: np.ndarray | None = None
    """Shape of `values`: each value as a share of its largest possible value"""
    low: np.ndarray | None = None
    """Shape of `values`, of means over images: lower end of the 95 % interval"""
    high: np.ndarray | None = None
    """Upper end"""
    counts: np.ndarray | None = None
    """Int, shape of `values`: images that each mean rests on"""


@dataclass(frozen=True, kw_only=True)
class AlikeResult(MatrixResult):
    """Similarity of two captures' tokens, values (blocks, blocks): rows are blocks of the left one."""

    axis_names: tuple[Text, Text]
    """Names of rows and columns"""


@dataclass(frozen=True, kw_only=True)
class PairResult(Result):
    """A map of each of two captures, values (sides, rows, cols) or (sides, rows, cols, 3) colours in 0-1.

    Both are on the left one's grid: the right one is sampled at the centres of the left one's patches.
    """

    grid: PatchGrid
    image: np.ndarray
    """(height, width, 3) uint8: the pixels that the left capture's model saw"""
    other_grid: PatchGrid
    other_image: np.ndarray
    other: np.ndarray
    """Map of the right one on its own grid"""
    names: tuple[Text, Text]
    agree: bool
    """True if both saw the same image in the same way, on grids of the same shape"""

    @property
    def difference(self) -> np.ndarray | None:
        """(rows, cols) right minus left; None for colours, or where the sides do not agree."""
        return self.values[1] - self.values[0] if self.agree and self.values.ndim == 3 else None


@dataclass(frozen=True, kw_only=True)
class SidesResult(Result):
    """The same numbers of two captures, values (classes, sides) or (quantities, sides); NaN where one has none."""

    entries: tuple[Text, ...]
    """Names of the rows"""
    units: tuple[Text, ...]
    """Units of the rows"""
    names: tuple[Text, Text]
    """Names of the sides"""


@dataclass(frozen=True, kw_only=True)
class OffsetsResult(Result):
    """A number for each offset between two tokens, values (heads, row_offsets, col_offsets), 0 in the middle."""

    row_offsets: tuple[int, ...]
    """Query row minus key row, in cells"""
    col_offsets: tuple[int, ...]
    """Query column minus key column, in cells"""


@dataclass(frozen=True, kw_only=True)
class BoardResult(Result):
    """A map for each patch, values (rows, cols, rows, cols): first the patch, then the place in its map."""

    grid: PatchGrid


@dataclass(frozen=True, kw_only=True)
class ColoursResult(Result):
    """A colour for each patch, values (rows, cols, 3) red, green, blue in 0-1."""

    grid: PatchGrid
    image: np.ndarray
    shown: np.ndarray
    """Bool (rows, cols): False for patches that are left out and drawn black"""


@dataclass(frozen=True, kw_only=True)
class PicturesResult(Result):
    """A colour for each patch of several pictures, values (images, rows, cols, 3) in 0-1 on the first one's grid."""

    pictures: tuple[ColoursResult, ...]
    """Pictures on their own grids, each with its heading as title"""


@dataclass(frozen=True, kw_only=True)
class ReconstructionResult(Result):
    """A picture of which parts were hidden and drawn again, values (height, width, 3) uint8."""

    grid: PatchGrid
    image: np.ndarray
    """(height, width, 3) uint8: the whole picture; the model saw only the patches that are not hidden"""
    hidden: np.ndarray
    """Bool (rows, cols)"""
    error: float
    """Mean squared error of the reconstruction over hidden patches, pixels in 0-1; NaN where none is hidden"""
    simplest_error: float
    """Mean squared error if each hidden patch is filled with the mean colour of the visible ones"""


@dataclass(frozen=True)
class TokenStep:
    """A patch at one step of its way to a token."""

    name: Text
    symbols: str
    """Its shape in letters"""
    shape: tuple[int, ...]
    numbers: np.ndarray
    """(entries,) float; empty for image, patch and sequence"""


@dataclass(frozen=True, kw_only=True)
class TokenStepsResult(Result):
    """Steps from a patch to its token; values (dim,) are the token as the first block reads it."""

    grid: PatchGrid
    image: np.ndarray
    place: tuple[int, int]
    """Row and column of the patch"""
    patch: np.ndarray
    """(patch_size, patch_size, 3) uint8"""
    steps: tuple[TokenStep, ...]
    """Image, patch, flattened row, vectors of the token's width, sequence"""
    prefix_names: tuple[str, ...]
    difference: float
    """Largest absolute difference between `values` and the first block's input in the captured pass"""


@dataclass(frozen=True, kw_only=True)
class FiltersResult(Result):
    """Small colour pictures, values (filters, height, width, 3) red, green, blue in 0-1."""

    shares: np.ndarray
    """(filters,) share of the variance that each explains"""


@dataclass(frozen=True, kw_only=True)
class CurvesResult(Result):
    """Numbers along an axis, values (points,) or (curves, points)."""

    x: np.ndarray
    """(points,)"""
    x_name: Text
    curves: tuple[Text, ...]
    """A name for each curve"""


@dataclass(frozen=True)
class ReadOut:
    """Answer of a model when its last tokens are pooled in one way."""

    reading: Reading
    is_own: bool
    """True if the model was trained with this pooling"""
    top: tuple[Answer, ...]
    """Likeliest classes, the first the likeliest; or the one output"""
    after_blocks: tuple[Answer, ...]
    """Likeliest class, or the output, when the residual stream is read in this way after each block"""


@dataclass(frozen=True, kw_only=True)
class PoolingResult(CurvesResult):
    """Class token against mean patch token, values (blocks,), and the prediction of each reading."""

    readings: tuple[ReadOut, ...]
    """Empty for a model without a classifier"""


@dataclass(frozen=True, kw_only=True)
class LensResult(Result):
    """Logit lens: the classifier applied to each block's tokens.

    Values are logits (blocks, classes) of one reading, or the likeliest class of every patch, int (blocks, rows, cols).
    """

    blocks: tuple[int, ...]
    """The blocks that can be read; in Swin those of the last stage"""
    top: tuple[tuple[Prediction, ...], ...] = ()
    """Each block's likeliest classes, of one reading"""
    probabilities: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Softmax of `values`: of every class for one reading, of the class that is shown for patches"""
    class_names: tuple[Text, ...] = ()
    grid: PatchGrid
    image: np.ndarray


@dataclass(frozen=True, kw_only=True)
class DotProductResult(Result):
    """One query of one head step by step; values (keys,) are its attention weights."""

    query: Query
    keys: tuple[str, ...]
    """Name of each key: "3,5" for the patch in row 3 and column 5, "padding", or the name of a prefix token"""
    scores: np.ndarray
    """(keys,) q . k"""
    scale: float
    """Factor of the scores: 1 / sqrt(head dim), or a learned temperature"""
    scaled: np.ndarray
    """(keys,) scale * scores"""
    bias: np.ndarray
    """(keys,) added before the softmax: relative positions and masks; zero where there are none"""
    query_vector: np.ndarray
    """(head dim,)"""
    key_vectors: np.ndarray
    """(keys, head dim)"""
    value_vectors: np.ndarray
    """(keys, head dim)"""
    output: np.ndarray
    """(head dim,) the weighted sum of the values"""
    all_scores: np.ndarray
    """(bins,) histogram of q . k over all pairs of this head"""
    bin_edges: np.ndarray
    """(bins + 1,) in units of q . k; times `scale` they are those of the scaled scores"""
    score_variance: float
    """Variance of q . k over all pairs of this head"""


@dataclass(frozen=True, kw_only=True)
class SequenceResult(Result):
    """One head in the order of its sequence, values (queries, keys): attention weights, the same tokens both ways."""

    query: Query
    at: int
    """Place of the query in the sequence, counted from 0"""
    sequence: tuple[str | tuple[int, int], ...]
    """Names of the prefix tokens, then row and column of each patch"""
    masked: bool
    """True if keys that come after their query are hidden, with weights of exactly 0"""
    grid: PatchGrid
    image: np.ndarray
    """(height, width, 3) uint8: the pixels the model saw"""


@dataclass(frozen=True, kw_only=True)
class FaithfulnessResult(Result):
    """Probability of a class as patches are deleted or inserted, values (methods, curves, steps); random order is last.

    For a model with one output, values and areas are in the output's unit.
    """

    methods: tuple[str, ...]
    titles: tuple[Text, ...]
    """Display names of the methods"""
    curves: tuple[str, ...]
    """Order of the change: deletion, insertion"""
    steps: tuple[float, ...]
    """Share of the patches that are deleted or inserted at each point, 0-1"""
    areas: np.ndarray
    """(methods, curves): area under each curve in the unit of `values`, 0-1 for a probability; low for deletion and
    high for insertion if a map is right"""


@dataclass(frozen=True, kw_only=True)
class MethodsResult(Result):
    """The maps of several methods, values (methods, rows, cols), each in its own unit; random order is last.

    They share the finest grid among them: each of its cells has the value of the coarser cell around it.
    """

    methods: tuple[str, ...]
    titles: tuple[Text, ...]
    """Display names of the methods"""
    units: tuple[Text, ...]
    """Units of the methods"""
    grids: tuple[PatchGrid, ...]
    """Grid of each method's own map"""
    grid: PatchGrid
    """Finest of `grids`"""
    image: np.ndarray
    """(height, width, 3) uint8: the pixels the model saw"""
    curves: tuple[str, ...]
    """Deletion, insertion"""
    areas: np.ndarray | None
    """(methods, curves): area under each curve, in the unit of `target`; None where it was not measured"""
    passes: int
    """Largest number of images that measuring `areas` passes through the model"""
    others: tuple[tuple[str, Text], ...] = ()
    """Names and titles of methods that take many passes and were not requested"""
    uncertainties: np.ndarray | None = None
    """(methods,): half the 95 % interval of the area between both curves; None where it was not measured"""

    def own_values(self, method: int) -> np.ndarray:
        """Return the map of one method on its own grid."""
        every = self.grids[method].patch_size // self.grid.patch_size
        return self.values[method, ::every, ::every]


@dataclass(frozen=True, kw_only=True)
class EvaluationResult(Result):
    """Quality of several methods' maps by several protocols, values (methods, protocols): means over cases.

    NaN where a protocol says nothing of a method. A random map and, where it is known, the truth are the last methods.
    """

    methods: tuple[str, ...]
    titles: tuple[Text, ...]
    """Display names of the methods"""
    protocols: tuple[str, ...]
    names: tuple[Text, ...]
    """Names of the protocols"""
    better: tuple[Literal["high", "low"], ...]
    """Good end of each protocol's number"""
    low: np.ndarray
    """(methods, protocols) lower end of the 95 % interval"""
    high: np.ndarray
    """(methods, protocols) upper end"""
    counts: np.ndarray
    """(methods, protocols) int: cases that each number rests on"""


@dataclass(frozen=True, kw_only=True)
class BeforeAfterResult(Result):
    """A changed run beside the plain one; values (rows, cols) are its map minus the plain one's.

    If the change moved patches, the changed map is moved back first, so that `values` fits the plain image.
    """

    grid: PatchGrid
    before: np.ndarray
    """(rows, cols) the map of the plain run"""
    after: np.ndarray
    """(rows, cols) the map of the changed run, on the image that it saw"""
    image: np.ndarray
    """(height, width, 3) uint8: the pixels the plain run saw"""
    changed_image: np.ndarray
    query: Query
    classes: tuple[PredictionChange, ...]
    """Likeliest classes of both runs, the plain run's first; or the one output; empty without a classifier"""
    cosines: np.ndarray
    """(blocks,) cosine between the two runs of one token after each block"""
    token: Query
    """Token of `cosines`: the class token, or the mean over patches"""


@dataclass(frozen=True)
class Term:
    """One term of a closed formula: its name, in symbols, with numbers, and its value."""

    name: Text
    symbols: str
    numbers: str
    count: int


@dataclass(frozen=True, kw_only=True)
class CountResult(Result):
    """A count for each part of a model, values (parts,) int, and the closed formula beside it."""

    parts: tuple[str, ...]
    terms: tuple[Term, ...] = ()
    """Terms of the closed formula; empty where none is stated for the family"""
    total: int = 0


@dataclass(frozen=True, kw_only=True)
class ContributionsResult(Result):
    """Contribution of each part of a model to a logit, or to its one output, values (parts,); they sum to `logit`."""

    parts: tuple[str, ...]
    """Embedding, `block 3 attn`, `block 3 mlp`, or `block 3 attn + mlp` where they are one sum, constant"""
    logit: float


@dataclass(frozen=True, kw_only=True)
class TreeResult(Result):
    """A count for each module, values (modules,) int, where a module counts what is inside it; parents come first."""

    modules: tuple[str, ...]
    """Torch's names of the modules, their paths in the model"""
    names: tuple[str, ...]
    """Display names: `block 3`, `stage 1`, or the last word of torch's name"""
    parents: tuple[int, ...]
    """Index of each module's parent; -1 for the model itself"""
    total: int = 0


@dataclass(frozen=True, kw_only=True)
class CostResult(CountResult):
    """Multiply-accumulates of each part for one image, values (parts,) int; `total` is all of one forward pass."""

    kinds: tuple[Text, ...]
    split: np.ndarray
    """Int (parts, kinds): multiply-accumulates by kind of multiplication; rows add up to `values`"""


@dataclass(frozen=True, kw_only=True)
class GrowthResult(Result):
    """Cost of the blocks for images of growing size, values (designs, kinds, sizes) int."""

    designs: tuple[str, ...]
    """Global, windowed"""
    kinds: tuple[str, ...]
    kind_texts: tuple[Text, ...]
    """Display names of `kinds`"""
    sizes: tuple[int, ...]
    """Side of a square image in pixels"""


# ------------------------------------------------------------------------------------------ fine-tuning


@dataclass(frozen=True, kw_only=True)
class ConfusionResult(Result):
    """Confusion matrix of a validation set, values (classes, classes) int; rows are true, columns predicted."""

    classes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PerClassResult(Result):
    """Figures of each class of a validation set, values (classes, figures) in 0-1."""

    classes: tuple[str, ...]
    figures: tuple[Text, ...]
    """Names: precision, recall, F1"""
    support: np.ndarray
    """Int (classes,): number of each class's images in the validation set"""


@dataclass(frozen=True, kw_only=True)
class ResidualsResult(Result):
    """Predicted minus true number of each validation image, values (images,)."""

    targets: np.ndarray
    """(images,) the true numbers"""


@dataclass(frozen=True, kw_only=True)
class ParetoResult(Result):
    """A figure for each training, values (trainings,), against what it costs."""

    trainings: tuple[Text, ...]
    """Names of the trainings"""
    costs: np.ndarray
    """(trainings,) above 0"""
    cost_name: Text
    front: np.ndarray
    """Bool (trainings,): trainings that no other beats in both figure and cost"""
    baseline: float | None
    """Figure of the linear model on frozen features"""
