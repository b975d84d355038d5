"""Closed formulas for the number of parameters, term by term, exact for ViT (DeiT, DINO, CLIP, ...) and Swin.

A formula is a tuple of `Term`s whose counts add up to what timm builds: ViT of Dosovitskiy et al. 2021 (arXiv
2010.11929, table 1), the distillation token of DeiT (arXiv 2012.12877), registers (arXiv 2309.16588), LayerScale
(arXiv 2103.17239), Swin (arXiv 2103.14030) and Swin V2 (arXiv 2111.09883). No torch: the page's sliders use it too.

Letters: H, W image in pixels; P patch; C colour channels; N = (H/P)(W/P) patches; D width; L blocks; M MLP width;
h heads; d = D/h; R registers; K classes. In Swin every stage s has its own L_s, D_s, M_s, h_s and window w_s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import Term

PATCH_WEIGHTS = Text("Patch projection: weights", "图块投影：权重")
PATCH_BIAS = Text("Patch projection: biases", "图块投影：偏置")
PATCH_NORM = Text("LayerNorm of the patches", "图块的层归一化")
CLASS_TOKEN = Text("Class token", "类别标记")
DISTILLATION_TOKEN = Text("Distillation token", "蒸馏标记")
REGISTERS = Text("Register tokens", "寄存器标记")
POSITIONS = Text("Position embeddings", "位置编码")
PRE_NORM = Text("LayerNorm before the blocks", "各块之前的层归一化")
QKV_WEIGHTS = Text("Queries, keys, values: weights", "查询、键、值：权重")
QKV_BIAS = Text("Queries, keys, values: biases", "查询、键、值：偏置")
QV_BIAS = Text("Queries, values: biases", "查询、值：偏置")
QK_NORM = Text("LayerNorms of queries and keys", "查询与键的层归一化")
OUTPUT_WEIGHTS = Text("Attention output: weights", "注意力输出：权重")
OUTPUT_BIAS = Text("Attention output: biases", "注意力输出：偏置")
BIAS_TABLE = Text("Relative position bias tables", "相对位置偏置表")
BIAS_MLP = Text("Relative position bias networks", "相对位置偏置网络")
TEMPERATURES = Text("Temperatures of the heads", "各注意力头的温度")
MLP_WEIGHTS = Text("MLP: weights", "MLP：权重")
MLP_BIAS = Text("MLP: biases", "MLP：偏置")
BLOCK_NORMS = Text("LayerNorms of the blocks", "各块的层归一化")
LAYER_SCALE = same("LayerScale")
MERGING_WEIGHTS = Text("Patch merging: weights", "图块合并：权重")
MERGING_NORMS = Text("Patch merging: LayerNorms", "图块合并：层归一化")
FINAL_NORM = Text("Final LayerNorm", "最后的层归一化")
POOLING = Text("Attention pooling", "注意力池化")
HEAD_WEIGHTS = Text("Classifier: weights", "分类头：权重")
HEAD_BIAS = Text("Classifier: biases", "分类头：偏置")
SECOND_HEAD = Text("Classifier of the distillation token", "蒸馏标记的分类头")

SWIN_WEIGHTS = (PATCH_WEIGHTS, QKV_WEIGHTS, OUTPUT_WEIGHTS, MLP_WEIGHTS, MERGING_WEIGHTS, HEAD_WEIGHTS)
_BIAS_MLP_WIDTH = 512  # Swin V2, section 3.3 and its code


@dataclass(frozen=True, kw_only=True)
class ViTShape:
    """Shape of a ViT; the defaults are ViT-B/16."""

    image_size: tuple[int, int] = (224, 224)
    patch_size: int = 16
    channels: int = 3
    dim: int = 768
    depth: int = 12
    num_heads: int = 12
    """Without influence on the count, but for `qk_norm`"""
    hidden: int = 3072
    """Width of the MLP, usually 4 x dim"""
    classes: int = 1000
    """0: no classifier"""
    class_token: bool = True
    distillation: bool = False
    """DeiT's second token and its classifier"""
    registers: int = 0
    positions: bool = True
    """False: rotary or none"""
    prefix_positions: bool = True
    """True if prefix tokens have a position embedding (not in DeiT III and in DINOv2 with registers)"""
    patch_bias: bool = True
    qkv_bias: bool = True
    qk_norm: bool = False
    layer_scale: bool = False
    pre_norm: bool = False
    """CLIP's LayerNorm before the blocks"""
    final_norm: bool = True
    """Norm before or after pooling; the count is the same"""
    attention_pool: bool = False
    """SigLIP's pooling by one learned query and an MLP"""

    @property
    def num_patches(self) -> int:
        """Number N of whole patches in the image."""
        return (self.image_size[0] // self.patch_size) * (self.image_size[1] // self.patch_size)

    @property
    def num_prefix_tokens(self) -> int:
        """Number of class, distillation and register tokens."""
        return self.class_token + self.distillation + self.registers


@dataclass(frozen=True, kw_only=True)
class SwinShape:
    """Shape of a Swin transformer; the defaults are Swin-T."""

    patch_size: int = 4
    channels: int = 3
    dim: int = 96
    """Width of the first stage; it doubles from stage to stage"""
    depths: tuple[int, ...] = (2, 2, 6, 2)
    num_heads: tuple[int, ...] = (3, 6, 12, 24)
    windows: tuple[tuple[int, int], ...] = ((7, 7),) * 4
    """Window of each stage; timm cuts one that is larger than the grid. Without influence in version 2"""
    mlp_ratio: float = 4
    classes: int = 1000
    qkv_bias: bool = True
    patch_norm: bool = True
    version: Literal[1, 2] = 1

    @property
    def dims(self) -> tuple[int, ...]:
        """Width of each stage."""
        return tuple(self.dim * 2**stage for stage in range(len(self.depths)))


# ---------------------------------------------------------------------------------------------- writing terms


class Factor(NamedTuple):
    """A factor of a term, in symbols and in numbers."""

    symbol: str
    number: str
    value: int


def letter(symbol: str, value: int) -> Factor:
    """Make a factor that is one letter."""
    return Factor(symbol, str(value), value)


def squared(symbol: str, value: int) -> Factor:
    """Make a factor that is the square of a letter."""
    return Factor(f"{symbol}²", f"{value}²", value**2)


def times(count: int) -> Factor:
    """Make a factor that is a plain number, such as the 3 of queries, keys and values."""
    return Factor(str(count), str(count), count)


def sum_term(name: Text, *products: tuple[Factor, ...]) -> Term:
    """Make a term from a sum of products."""
    return Term(
        name,
        " + ".join(" · ".join(factor.symbol for factor in product) for product in products),
        " + ".join(" · ".join(factor.number for factor in product) for product in products),
        sum(math.prod(factor.value for factor in product) for product in products),
    )


def stage_term(name: Text, *products: tuple[Factor, ...]) -> Term:
    """Make a term from one product for each stage."""
    symbols = " · ".join(factor.symbol for factor in products[0])
    return replace(sum_term(name, *products), symbols=f"Σ {symbols}")


def total(terms: tuple[Term, ...]) -> int:
    """Sum all terms."""
    return sum(term.count for term in terms)


def symbolic(terms: tuple[Term, ...]) -> str:
    """Write the whole formula in letters."""
    return " + ".join(term.symbols for term in terms)


# ---------------------------------------------------------------------------------------------- ViT


def vit_terms(shape: ViTShape) -> tuple[Term, ...]:
    """Count every parameter of a ViT as timm builds it; terms that the model does not have are left out."""
    return (*_vit_embedding(shape), *_vit_blocks(shape), *_vit_head(shape))


def _present(*terms: tuple[bool, Term]) -> list[Term]:
    return [term for is_present, term in terms if is_present]


def _vit_embedding(shape: ViTShape) -> list[Term]:
    D = letter("D", shape.dim)
    prefix = shape.num_prefix_tokens if shape.prefix_positions else 0
    return _present(
        (True, sum_term(PATCH_WEIGHTS, (squared("P", shape.patch_size), letter("C", shape.channels), D))),
        (shape.patch_bias, sum_term(PATCH_BIAS, (D,))),
        (shape.class_token, sum_term(CLASS_TOKEN, (D,))),
        (shape.distillation, sum_term(DISTILLATION_TOKEN, (D,))),
        (shape.registers > 0, sum_term(REGISTERS, (letter("R", shape.registers), D))),
        (shape.positions, sum_term(POSITIONS, (_tokens(shape.num_patches, prefix), D))),
        (shape.pre_norm, sum_term(PRE_NORM, (times(2), D))),
    )


def _tokens(patches: int, prefix: int) -> Factor:
    if not prefix:
        return letter("N", patches)
    return Factor(f"(N + {prefix})", f"({patches} + {prefix})", patches + prefix)


def _vit_blocks(shape: ViTShape) -> list[Term]:
    L, D, M = letter("L", shape.depth), letter("D", shape.dim), letter("M", shape.hidden)
    D2 = squared("D", shape.dim)
    d = letter("d", shape.dim // shape.num_heads)
    return _present(
        (True, sum_term(QKV_WEIGHTS, (L, times(3), D2))),
        (shape.qkv_bias, sum_term(QKV_BIAS, (L, times(3), D))),
        (shape.qk_norm, sum_term(QK_NORM, (L, times(4), d))),
        (True, sum_term(OUTPUT_WEIGHTS, (L, D2))),
        (True, sum_term(OUTPUT_BIAS, (L, D))),
        (True, sum_term(MLP_WEIGHTS, (L, times(2), D, M))),
        (True, sum_term(MLP_BIAS, (L, M), (L, D))),
        (True, sum_term(BLOCK_NORMS, (L, times(4), D))),
        (shape.layer_scale, sum_term(LAYER_SCALE, (L, times(2), D))),
    )


def _vit_head(shape: ViTShape) -> list[Term]:
    D, K, M = letter("D", shape.dim), letter("K", shape.classes), letter("M", shape.hidden)
    query_biases_norm = (times(1 + 4 + 2 + 1), D)  # a query; q, k, v, output and their biases; a LayerNorm and an MLP
    pooling = sum_term(POOLING, (times(4), squared("D", shape.dim)), (times(2), D, M), query_biases_norm, (M,))
    has_classes = shape.classes > 0
    return _present(
        (shape.final_norm, sum_term(FINAL_NORM, (times(2), D))),
        (shape.attention_pool, pooling),
        (has_classes, sum_term(HEAD_WEIGHTS, (K, D))),
        (has_classes, sum_term(HEAD_BIAS, (K,))),
        (has_classes and shape.distillation, sum_term(SECOND_HEAD, (K, D), (K,))),
    )


def vit_rough(shape: ViTShape) -> tuple[Term, ...]:
    """Count by lecture notes' rough formula, P²CD + (N + 1)D + L(4D² + 2DM) + KD: no biases, norms or tokens.

    86,489,856 for ViT-B/16 at 256 pixels, where it has 257 positions.
    """
    D = letter("D", shape.dim)
    exact = {term.name: term for term in vit_terms(shape)}
    weights = (PATCH_WEIGHTS, QKV_WEIGHTS, OUTPUT_WEIGHTS, MLP_WEIGHTS, HEAD_WEIGHTS)
    patch, *rest = (exact[name] for name in weights if name in exact)
    return (patch, sum_term(POSITIONS, (_tokens(shape.num_patches, 1), D)), *rest)


def differences(exact: tuple[Term, ...], rough: tuple[Term, ...]) -> tuple[Term, ...]:
    """Subtract rough from exact terms where they differ; the counts add up to the difference of the totals."""
    mine, theirs = ({term.name: term for term in terms} for terms in (exact, rough))
    rows = []
    for name in {**mine, **theirs}:
        left, right = mine.get(name), theirs.get(name)
        count = (left.count if left else 0) - (right.count if right else 0)
        if count:
            sides = [(term.symbols, term.numbers) if term else ("0", "0") for term in (left, right)]
            symbols, numbers = (f"{a} − ({b})" if b != "0" else a for a, b in zip(*sides, strict=True))
            rows.append(Term(name, symbols, numbers, count))
    return tuple(rows)


# ---------------------------------------------------------------------------------------------- Swin


def swin_terms(shape: SwinShape) -> tuple[Term, ...]:
    """Count every parameter of a Swin transformer, version 1 or 2, as timm builds it."""
    D, last, K = letter("D", shape.dim), letter("D_S", shape.dims[-1]), letter("K", shape.classes)
    patches = _present(
        (True, sum_term(PATCH_WEIGHTS, (squared("P", shape.patch_size), letter("C", shape.channels), D))),
        (True, sum_term(PATCH_BIAS, (D,))),
        (shape.patch_norm, sum_term(PATCH_NORM, (times(2), D))),
    )
    blocks = (*_swin_attention(shape), *_swin_positions(shape), *_swin_rest(shape), *_swin_merging(shape))
    head = _present(
        (True, sum_term(FINAL_NORM, (times(2), last))),
        (shape.classes > 0, sum_term(HEAD_WEIGHTS, (K, last))),
        (shape.classes > 0, sum_term(HEAD_BIAS, (K,))),
    )
    return (*patches, *blocks, *head)


def _stages(shape: SwinShape) -> list[tuple[Factor, Factor, Factor]]:
    """Make the factors of each stage: blocks, width and squared width."""
    return [
        (letter("L_s", depth), letter("D_s", dim), squared("D_s", dim))
        for depth, dim in zip(shape.depths, shape.dims, strict=True)
    ]


def _swin_attention(shape: SwinShape) -> list[Term]:
    stages = _stages(shape)
    qkv_bias = stage_term(QKV_BIAS, *((L, times(3), D) for L, D, _ in stages))
    if shape.version == 2:  # cosine attention: a bias of the keys would be divided away
        qkv_bias = stage_term(QV_BIAS, *((L, times(2), D) for L, D, _ in stages))
    return _present(
        (True, stage_term(QKV_WEIGHTS, *((L, times(3), D2) for L, _, D2 in stages))),
        (shape.qkv_bias, qkv_bias),
        (True, stage_term(OUTPUT_WEIGHTS, *((L, D2) for L, _, D2 in stages))),
        (True, stage_term(OUTPUT_BIAS, *((L, D) for L, D, _ in stages))),
    )


def _swin_positions(shape: SwinShape) -> list[Term]:
    blocks = [
        (letter("L_s", depth), letter("h_s", heads)) for depth, heads in zip(shape.depths, shape.num_heads, strict=True)
    ]
    if shape.version == 1:
        tables = [_bias_table(window) for window in shape.windows]
        return [stage_term(BIAS_TABLE, *((L, table, h) for (L, h), table in zip(blocks, tables, strict=True)))]
    networks = [  # two coordinates -> 512, with bias; 512 -> one number for each head
        (L, Factor(f"{_BIAS_MLP_WIDTH}", f"{_BIAS_MLP_WIDTH}", _BIAS_MLP_WIDTH), _plus_three(h)) for L, h in blocks
    ]
    return [stage_term(TEMPERATURES, *blocks), stage_term(BIAS_MLP, *networks)]


def _plus_three(heads: Factor) -> Factor:
    return Factor(f"(3 + {heads.symbol})", f"(3 + {heads.number})", 3 + heads.value)


def _bias_table(window: tuple[int, int]) -> Factor:
    """Make the factor of the offsets between two tokens of a window."""
    rows, cols = (2 * side - 1 for side in window)
    return Factor("(2w_s − 1)²", f"{rows}²" if rows == cols else f"{rows} · {cols}", rows * cols)


def _swin_rest(shape: SwinShape) -> list[Term]:
    stages = [(L, D, letter("M_s", int(D.value * shape.mlp_ratio))) for L, D, _ in _stages(shape)]
    return [
        stage_term(MLP_WEIGHTS, *((L, times(2), D, M) for L, D, M in stages)),
        stage_term(
            MLP_BIAS,
            *((L, Factor("(M_s + D_s)", f"({M.number} + {D.number})", M.value + D.value)) for L, D, M in stages),
        ),
        stage_term(BLOCK_NORMS, *((L, times(4), D) for L, D, _ in stages)),
    ]


def _swin_merging(shape: SwinShape) -> list[Term]:
    """Count patch merging: four neighbours of width D_s become one of width 2 D_s; version 2 normalises afterwards."""
    before = _stages(shape)[:-1]
    if not before:
        return []
    norm = times(8 if shape.version == 1 else 4)
    return [
        stage_term(MERGING_WEIGHTS, *((times(8), D2) for _, _, D2 in before)),
        stage_term(MERGING_NORMS, *((norm, D) for _, D, _ in before)),
    ]


def swin_rough(shape: SwinShape) -> tuple[Term, ...]:
    """Count the matrices alone, as the rough formula of a ViT does: no biases, tables or LayerNorms."""
    return tuple(term for term in swin_terms(shape) if term.name in SWIN_WEIGHTS)


# ---------------------------------------------------------------------------------------------- either of them


def exact_terms(shape: ViTShape | SwinShape) -> tuple[Term, ...]:
    """Count every parameter, term by term."""
    return vit_terms(shape) if isinstance(shape, ViTShape) else swin_terms(shape)


def rough_terms(shape: ViTShape | SwinShape) -> tuple[Term, ...]:
    """Count by the rough formula of lecture notes."""
    return vit_rough(shape) if isinstance(shape, ViTShape) else swin_rough(shape)
