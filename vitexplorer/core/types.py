"""The nouns of the project and the glossary of its axes.

Axis words, used in every shape of every signature and in no other meaning:

==========  =====================================================================================
batch       images; a capture holds one and its tensors have no batch axis
heads       attention heads of one block
queries     tokens that look, the rows of an attention matrix
keys        tokens that are looked at, the columns
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
kinds       what is multiplied: projections, attention, MLP
sizes       of images
filters     kernels, or what they are composed of
row_offsets col_offsets  distance between two tokens in cells, with its sign
height width  pixels
methods     ways to explain a class, compared with each other
curves      deletion and insertion
protocols   ways to hold maps against a known truth, each with a number
groups      of patches of like salience
entries     of a list
steps       points of a curve
images      of a validation set, or that share something
figures     numbers that say how good predictions are
trainings   runs of fine-tuning that are compared
sides       left and right of a comparison
quantities  numbers of one thing, each in a unit of its own
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
from vitexplorer.core.text import Text

Query = Literal["cls", "dist", "mean"] | tuple[int, int]
Reading = Literal["cls", "dist", "mean", "own"]
"""how the last tokens become the logits: one token, the mean over patches, or the model's own pooling"""
Fit = Literal["crop", "squash", "pad", "native"]
Size = tuple[int, int]
"""height, width in pixels"""
Weights = Literal["pretrained", "bundled", "random", "file", "fine-tuned"]


@dataclass(frozen=True)
class Stream:
    """How a block reads and gives tokens, where that is not (batch, tokens, dim) and the last of its sums."""

    reads_tokens_first: bool = False
    """whether its first operation reads (tokens, batch, dim), as `nn.MultiheadAttention` does"""
    gives_tokens_first: bool = False
    """whether its norms and its sums give (tokens, batch, dim)"""
    ends_with_norm: bool = False
    """whether what it gives is the norm of its last sum: post-norm, Vaswani et al. 2017 (arXiv 1706.03762)"""


@dataclass(frozen=True)
class BlockSite:
    """One block: its place in the timm module and the places of its tokens in the image."""

    name: str
    """the block's module, `blocks.3`: its parameters announce that the pass is inside it"""
    grid: PatchGrid
    """of the queries, and of the keys unless there is a layout"""
    windows: WindowLayout | None = None
    """None where every token attends to every other"""
    layout: TokenLayout | None = None
    """instead of `windows`, where those cannot say it"""
    arrange: Callable[[Any], Any] | None = None
    """from the axes of the module's own tensors to (windows, heads, tokens, dim); None where they are these"""
    flat: bool = False
    """whether its scores have three axes, because there is one head or because heads lie beside the windows"""
    heads_apart: bool = False
    """whether the module computes one head after the other, in an attention call each"""
    stream: Stream = Stream()
    mixes: bool = False
    """whether the module changes the weights between softmax and values: shown is what multiplies the values"""
    formula: str = "softmax(q kᵀ / √d + bias)"
    """of the weights that are shown"""
    notes: tuple[Text, ...] = ()
    """what a person must know to read its maps"""


@dataclass(frozen=True)
class Provenance:
    """What a figure is a figure of. It travels from the model to every result, caption and file."""

    model: str
    weights: Weights
    weights_source: str
    """seed, hub id, file name or recipe"""
    image_hash: str = ""
    fit: str = ""
    input_size: Size = (0, 0)
    resized: bool = False
    """whether that was asked for instead of the model's own"""
    changes: tuple[Text, ...] = ()
    """what was changed in this run; empty for the plain one"""
    beside: Provenance | None = None
    """of the right side, where this is the left one of a comparison"""

    @property
    def is_random(self) -> bool:
        """True when nothing was ever learned, on either side: such a picture needs a visible warning."""
        return self.weights == "random" or (self.beside is not None and self.beside.is_random)

    @property
    def weights_text(self) -> Text:
        """The weights in words, for captions."""
        words = {
            "pretrained": Text("pretrained weights ({source})", "预训练权重（{source}）"),
            "bundled": Text("bundled weights, trained on drawn pictures", "内置权重（在绘制图像上训练）"),
            "random": Text("RANDOM weights ({source}), nothing learned", "随机权重（{source}），未经训练"),
            "file": Text("weights from {source}", "权重来自 {source}"),
            "fine-tuned": Text("fine-tuned weights ({source})", "微调权重（{source}）"),
        }
        return words[self.weights].format(source=Text(of := self.weights_source, of.replace("seed ", "种子 ")))


@dataclass(frozen=True, kw_only=True)
class Result(Summarised, NotebookDisplay):
    """What a view returns: numbers, how to read them and where they come from. No torch, no drawing."""

    view: str
    title: Text
    values: np.ndarray
    axes: tuple[str, ...]
    """one word of the glossary for each axis of `values`"""
    unit: Text
    formula: str | Text
    """a `Text` where words stand in it"""
    provenance: Provenance
    settings: Mapping[str, object] = field(default_factory=dict)
    """the controls' values that gave this result"""
    settings_said: Mapping[str, tuple[Text, Text]] = field(default_factory=dict)
    """the same in words: label and value of each"""
    notes: tuple[Text, ...] = ()
    """what was dropped, normalised or approximated"""
    target: Answer | None = None
    """the class that the numbers are about, where they are about one, as the model answers it; or its one output"""

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
    """share on tokens that only fill a window"""
    identity_mass: float = 0.0
    """left out of the values: what the patches hold of the identity, from residual connections alone"""
    window: tuple[int, int, int, int] | None = None
    """top, left, height, width in cells: where a windowed query can look; wraps around the grid when it is shifted"""

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
    """bool, shape of `values`: the entries that the view points out"""
    relative: np.ndarray | None = None
    """shape of `values`: each as a share of the largest it could be"""
    low: np.ndarray | None = None
    """shape of `values`, of means over images: lower end of the 95 % interval"""
    high: np.ndarray | None = None
    """upper end"""
    counts: np.ndarray | None = None
    """int, shape of `values`: images that each mean rests on"""


@dataclass(frozen=True, kw_only=True)
class AlikeResult(MatrixResult):
    """How alike the tokens of two captures are, values (blocks, blocks): rows are blocks of the left one."""

    axis_names: tuple[Text, Text]
    """of rows and columns"""


@dataclass(frozen=True, kw_only=True)
class PairResult(Result):
    """A picture of each of two captures by place, values (sides, rows, cols) or (sides, rows, cols, 3) colours in 0-1.

    They lie on the left one's grid: the right one is read where the middles of the left one's patches lie.
    """

    grid: PatchGrid
    image: np.ndarray
    """(height, width, 3) uint8: what the left one saw"""
    other_grid: PatchGrid
    other_image: np.ndarray
    other: np.ndarray
    """the right one on its own grid"""
    names: tuple[Text, Text]
    agree: bool
    """whether both saw the same image in the same way, on grids of the same shape"""

    @property
    def difference(self) -> np.ndarray | None:
        """(rows, cols) right minus left; None where places or colours cannot be taken from each other."""
        return self.values[1] - self.values[0] if self.agree and self.values.ndim == 3 else None


@dataclass(frozen=True, kw_only=True)
class SidesResult(Result):
    """The same numbers of two captures, values (classes, sides) or (quantities, sides); NaN where one has none."""

    entries: tuple[Text, ...]
    """names of the rows"""
    units: tuple[Text, ...]
    """of the rows"""
    names: tuple[Text, Text]
    """of the sides"""


@dataclass(frozen=True, kw_only=True)
class OffsetsResult(Result):
    """A number for each offset between two tokens, values (heads, row_offsets, col_offsets); zero is in the middle."""

    row_offsets: tuple[int, ...]
    """query row minus key row, in cells"""
    col_offsets: tuple[int, ...]
    """query column minus key column, in cells"""


@dataclass(frozen=True, kw_only=True)
class BoardResult(Result):
    """A map for each patch, values (rows, cols, rows, cols): the first two say whose, the last two where."""

    grid: PatchGrid


@dataclass(frozen=True, kw_only=True)
class ColoursResult(Result):
    """A colour for each patch, values (rows, cols, 3) red, green, blue in 0-1."""

    grid: PatchGrid
    image: np.ndarray
    shown: np.ndarray
    """bool (rows, cols): False for what was left out and is black"""


@dataclass(frozen=True, kw_only=True)
class PicturesResult(Result):
    """A colour for each patch of several pictures, values (images, rows, cols, 3) in 0-1 on the first one's grid."""

    pictures: tuple[ColoursResult, ...]
    """each on its own grid; its title is what stands over it"""


@dataclass(frozen=True, kw_only=True)
class ReconstructionResult(Result):
    """A picture of which parts were hidden and drawn again, values (height, width, 3) uint8."""

    grid: PatchGrid
    image: np.ndarray
    """(height, width, 3) uint8: the whole picture, of which the model saw the patches that are not hidden"""
    hidden: np.ndarray
    """bool (rows, cols)"""
    error: float
    """mean squared error of the hidden patches as they were drawn, pixels in 0-1; NaN where none is hidden"""
    simplest_error: float
    """the same for filling each with the mean colour of the visible ones"""


@dataclass(frozen=True)
class TokenStep:
    """What a patch is at one point of its way to a token."""

    name: Text
    symbols: str
    """its shape in letters"""
    shape: tuple[int, ...]
    numbers: np.ndarray
    """(entries,) float; empty for image, patch and sequence"""


@dataclass(frozen=True, kw_only=True)
class TokenStepsResult(Result):
    """How a patch becomes a token; values (dim,) are the token as the first block reads it."""

    grid: PatchGrid
    image: np.ndarray
    place: tuple[int, int]
    """row and column of the patch"""
    patch: np.ndarray
    """(patch_size, patch_size, 3) uint8"""
    steps: tuple[TokenStep, ...]
    """image, patch, flattened row, vectors of the token's width, sequence"""
    prefix_names: tuple[str, ...]
    difference: float
    """largest between `values` and what the first block read in the captured pass"""


@dataclass(frozen=True, kw_only=True)
class FiltersResult(Result):
    """Small colour pictures, values (filters, height, width, 3) red, green, blue in 0-1."""

    shares: np.ndarray
    """(filters,) share of the variance that each stands for"""


@dataclass(frozen=True, kw_only=True)
class CurvesResult(Result):
    """Numbers along an axis, values (points,) or (curves, points)."""

    x: np.ndarray
    """(points,)"""
    x_name: Text
    curves: tuple[Text, ...]
    """a name for each curve"""


@dataclass(frozen=True)
class ReadOut:
    """What a model says when its last tokens are read in one way."""

    reading: Reading
    is_own: bool
    """whether the model was trained to be read like this"""
    top: tuple[Answer, ...]
    """likeliest first; of a model with one output that alone"""
    after_blocks: tuple[Answer, ...]
    """the likeliest class, or the output, if the residual stream were read so after each block"""


@dataclass(frozen=True, kw_only=True)
class PoolingResult(CurvesResult):
    """Class token against mean patch token, values (blocks,), and what each reading predicts."""

    readings: tuple[ReadOut, ...]
    """empty for a model without a classifier"""


@dataclass(frozen=True, kw_only=True)
class LensResult(Result):
    """What the classifier makes of each block's tokens.

    Values are logits (blocks, classes) of one reading, or the likeliest class of every patch, int (blocks, rows, cols).
    """

    blocks: tuple[int, ...]
    """the blocks that can be read; in Swin those of the last stage"""
    top: tuple[tuple[Prediction, ...], ...] = ()
    """for one reading: each block's likeliest classes"""
    probabilities: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """of `values`: for one reading of every class, for patches of the class that is shown"""
    class_names: tuple[Text, ...] = ()
    grid: PatchGrid
    image: np.ndarray


@dataclass(frozen=True, kw_only=True)
class DotProductResult(Result):
    """One query of one head step by step; values (keys,) are its attention weights."""

    query: Query
    keys: tuple[str, ...]
    """what each key is: "3,5" for the patch in row 3 and column 5, "padding", or the name of a prefix token"""
    scores: np.ndarray
    """(keys,) q . k"""
    scale: float
    """what the scores are multiplied by: 1 / sqrt(head dim), or a learned temperature"""
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
    """variance of q . k over all pairs of this head"""


@dataclass(frozen=True, kw_only=True)
class SequenceResult(Result):
    """One head in the order of its sequence, values (queries, keys): attention weights, the same tokens both ways."""

    query: Query
    at: int
    """its place in the sequence, counted from 0"""
    sequence: tuple[str | tuple[int, int], ...]
    """names of the prefix tokens, then row and column of each patch"""
    masked: bool
    """whether keys that come after their query are hidden; their weights then are exactly 0"""
    grid: PatchGrid
    image: np.ndarray
    """(height, width, 3) uint8: the pixels the model saw"""


@dataclass(frozen=True, kw_only=True)
class FaithfulnessResult(Result):
    """Probability of a class while patches go or come, values (methods, curves, steps); random order is last.

    Of a model with one output it is that number, and areas are in its unit.
    """

    methods: tuple[str, ...]
    titles: tuple[Text, ...]
    """of the methods"""
    curves: tuple[str, ...]
    """which way the patches go: deletion, insertion"""
    steps: tuple[float, ...]
    """share of the patches that are deleted or inserted at each point, 0-1"""
    areas: np.ndarray
    """(methods, curves): area under each curve, in the unit of `values`, of a probability 0-1; low for deletion and
    high for insertion where a map is right"""


@dataclass(frozen=True, kw_only=True)
class MethodsResult(Result):
    """The maps of several methods, values (methods, rows, cols), each in its own unit; random order is last.

    They share the finest grid among them: each cell of it has the number of the coarser cell that it lies in.
    """

    methods: tuple[str, ...]
    titles: tuple[Text, ...]
    """of the methods"""
    units: tuple[Text, ...]
    """of the methods"""
    grids: tuple[PatchGrid, ...]
    """of each method's own map"""
    grid: PatchGrid
    """the finest of them"""
    image: np.ndarray
    """(height, width, 3) uint8: the pixels the model saw"""
    curves: tuple[str, ...]
    """deletion, insertion"""
    areas: np.ndarray | None
    """(methods, curves): area under each curve, in the unit of `target`; None where it was not measured"""
    passes: int
    """images that measuring it takes at most"""
    others: tuple[tuple[str, Text], ...] = ()
    """names and titles of methods that take many passes and were not asked for"""

    def own_values(self, method: int) -> np.ndarray:
        """The map of one method on its own grid."""
        every = self.grids[method].patch_size // self.grid.patch_size
        return self.values[method, ::every, ::every]


@dataclass(frozen=True, kw_only=True)
class EvaluationResult(Result):
    """How good the maps of several methods are by several protocols, values (methods, protocols): means over cases.

    NaN where a protocol says nothing of a method. A random map and, where it is known, the truth are the last methods.
    """

    methods: tuple[str, ...]
    titles: tuple[Text, ...]
    """of the methods"""
    protocols: tuple[str, ...]
    names: tuple[Text, ...]
    """of the protocols"""
    better: tuple[Literal["high", "low"], ...]
    """of the protocols: which number is good"""
    low: np.ndarray
    """(methods, protocols) lower end of the 95 % interval"""
    high: np.ndarray
    """(methods, protocols) upper end"""
    counts: np.ndarray
    """(methods, protocols) int: cases that each number rests on"""


@dataclass(frozen=True, kw_only=True)
class BeforeAfterResult(Result):
    """A changed run beside the plain one; values (rows, cols) are its map minus the plain one's.

    Where patches were moved, `values` is on the places of the plain image: the map is put back first.
    """

    grid: PatchGrid
    before: np.ndarray
    """(rows, cols) the map of the plain run"""
    after: np.ndarray
    """(rows, cols) the map of the changed run, on the image that it saw"""
    image: np.ndarray
    """(height, width, 3) uint8: what the plain run saw"""
    changed_image: np.ndarray
    query: Query
    classes: tuple[PredictionChange, ...]
    """the likeliest classes of both runs, those of the plain one first; the one output; empty without a classifier"""
    cosines: np.ndarray
    """(blocks,) cosine between the two runs of one token after each block"""
    token: Query
    """whose cosine: the class token, or the mean over patches"""


@dataclass(frozen=True)
class Term:
    """One term of a closed formula: a name, its symbols, the same with numbers, the value."""

    name: Text
    symbols: str
    numbers: str
    count: int


@dataclass(frozen=True, kw_only=True)
class CountResult(Result):
    """A count for each part of a model, values (parts,) int, and the closed formula beside it."""

    parts: tuple[str, ...]
    terms: tuple[Term, ...] = ()
    """terms of the closed formula; empty where none is stated for the family"""
    total: int = 0


@dataclass(frozen=True, kw_only=True)
class ContributionsResult(Result):
    """What each part of a model adds to a logit, or to its one output, values (parts,); they sum to `logit`."""

    parts: tuple[str, ...]
    """embedding, `block 3 attn`, `block 3 mlp`, or `block 3 attn + mlp` where they are one sum, constant"""
    logit: float


@dataclass(frozen=True, kw_only=True)
class TreeResult(Result):
    """A count for each module, values (modules,) int, where a module counts what is inside it; parents come first."""

    modules: tuple[str, ...]
    """where each lies in the model, as torch names it"""
    names: tuple[str, ...]
    """what each is: `block 3`, `stage 1`, or the last word of torch's name"""
    parents: tuple[int, ...]
    """index of the module that each lies in; -1 for the model itself"""
    total: int = 0


@dataclass(frozen=True, kw_only=True)
class CostResult(CountResult):
    """Multiply-accumulates of each part for one image, values (parts,) int; `total` is their sum."""

    kinds: tuple[Text, ...]
    split: np.ndarray
    """int (parts, kinds): the same, split by what is multiplied; rows add up to `values`"""

    @property
    def total_macs(self) -> int:
        """All multiply-accumulates of one forward pass of one image."""
        return self.total


@dataclass(frozen=True, kw_only=True)
class GrowthResult(Result):
    """What the blocks cost for images of growing size, values (designs, kinds, sizes) int."""

    designs: tuple[str, ...]
    """global, windowed"""
    kinds: tuple[str, ...]
    kind_texts: tuple[Text, ...]
    """the same in words"""
    sizes: tuple[int, ...]
    """side of a square image in pixels"""


# ------------------------------------------------------------------------------------------ fine-tuning


@dataclass(frozen=True, kw_only=True)
class ConfusionResult(Result):
    """How often each true class was taken for each, values (classes, classes) int; rows are true, columns predicted."""

    classes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PerClassResult(Result):
    """Figures of each class of a validation set, values (classes, figures) in 0-1."""

    classes: tuple[str, ...]
    figures: tuple[Text, ...]
    """names: precision, recall, F1"""
    support: np.ndarray
    """int (classes,): its images in the validation set"""


@dataclass(frozen=True, kw_only=True)
class ResidualsResult(Result):
    """Predicted minus true number of each validation image, values (images,)."""

    targets: np.ndarray
    """(images,) the true numbers"""


@dataclass(frozen=True, kw_only=True)
class ParetoResult(Result):
    """A figure for each training, values (trainings,), against what it costs."""

    trainings: tuple[str, ...]
    """their names"""
    costs: np.ndarray
    """(trainings,) above 0"""
    cost_name: Text
    front: np.ndarray
    """bool (trainings,): those that no other beats in figure and cost"""
    baseline: float | None
    """figure of the linear model on frozen features"""
