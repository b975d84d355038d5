"""Effects of fine-tuning: weight change by block, movement of the readout token, attention on prompts.

Weights are compared with the base model's, after merging where the method merges. Adapters and prompts leave the
base's weights unchanged; look at the tokens then. `vx.compare` compares maps of both models.
Misleading: a large weight change may not matter, and a small one may decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import CurvesResult, MatrixResult, query_text
from vitexplorer.finetune.attaching import TunedModel, merge
from vitexplorer.finetune.methods import METHODS
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.outline import outline
from vitexplorer.quantities.two_runs import token_cosines

KINDS = {
    "attn": Text("attention", "注意力"),
    "mlp": Text("MLP", "MLP"),
    "": Text("norms and the rest", "归一化层及其他"),
}
_WEIGHTS = {
    "size": (
        Text("How much each block's weights changed", "各块权重的改变量"),
        Text("norm of the change / norm of the weights", "改变量范数 / 权重范数"),
        "‖W' − W‖ / ‖W‖",
    ),
    "rank": (
        Text("Rank of the change", "改变量的秩"),
        Text("effective rank of the change", "改变量的有效秩"),
        "exp(−Σ pᵢ ln pᵢ), pᵢ = σᵢ / Σ σ",
    ),
}
"""Title, unit and formula of what `weight_change` measures"""
BLOCK = Text("block (counted from 0)", "块（从 0 开始编号）")


# ---------------------------------------------------------------------------------------------- weights


def effective_rank(change: Float[Tensor, "rows cols"]) -> float:
    """Return exp(entropy of the singular values' shares), Roy & Vetterli 2007: 1 to the matrix rank; NaN for zero."""
    values = torch.linalg.svdvals(change.double())
    if not values.sum() > 0:
        return float("nan")
    shares = values / values.sum()
    shares = shares[shares > 0]
    return float(torch.exp(-(shares * shares.log()).sum()))


def relative_size(changes: list[Tensor], weights: list[Tensor]) -> float:
    """Return the norm of all changes together over the norm of all weights they changed."""
    changed = sum(float(change.double().square().sum()) for change in changes)
    whole = sum(float(weight.double().square().sum()) for weight in weights)
    return float(np.sqrt(changed / whole)) if whole else float("nan")


def _pairs(base: LoadedModel, tuned: TunedModel) -> Iterator[tuple[int, str, Tensor, Tensor]]:
    """Yield block, kind, weight before and weight after for every parameter that both models have in a block."""
    plain = merge(tuned).module if METHODS[tuned.method].merge else tuned.module
    after = dict(plain.named_parameters())
    blocks = outline(base.module).blocks
    for name, before in base.module.named_parameters():
        block = next((n for n, place in enumerate(blocks) if name.startswith(f"{place}.")), None)
        if block is None or name not in after or after[name].shape != before.shape:
            continue
        kind = name.removeprefix(f"{blocks[block]}.").split(".")[0]
        yield block, kind if kind in KINDS else "", before.detach().cpu(), after[name].detach().cpu()


def weight_change(base: LoadedModel, tuned: TunedModel, what: str) -> CurvesResult:
    """Measure the weight change of each block: its relative "size", or its effective "rank".

    The rank of a kind is the largest rank among its matrices.
    """
    sizes: dict[tuple[str, int], tuple[list[Tensor], list[Tensor]]] = defaultdict(lambda: ([], []))
    ranks: dict[tuple[str, int], float] = {}
    for block, kind, before, after in _pairs(base, tuned):
        change = after - before
        sizes[kind, block][0].append(change)
        sizes[kind, block][1].append(before)
        if what == "rank" and change.ndim == 2:
            ranks[kind, block] = float(np.fmax(ranks.get((kind, block), np.nan), effective_rank(change)))
    measured = ranks if what == "rank" else {place: relative_size(*tensors) for place, tensors in sizes.items()}
    depth = len(outline(base.module).blocks)
    kinds = [kind for kind in KINDS if any((kind, block) in measured for block in range(depth))]
    values = np.array([[measured.get((kind, block), np.nan) for block in range(depth)] for kind in kinds])
    values = values.reshape(len(kinds), depth)
    title, unit, formula = _WEIGHTS[what]
    return CurvesResult(
        view=f"weight_{what}",
        title=title,
        values=values,
        axes=("curves", "blocks"),
        unit=unit,
        formula=formula,
        provenance=tuned.provenance,
        notes=_untouched(tuned, values if what == "rank" else np.where(values > 0, values, np.nan)),
        x=np.arange(depth),
        x_name=BLOCK,
        curves=tuple(KINDS[kind] for kind in kinds),
    )


def _untouched(tuned: TunedModel, changed: np.ndarray) -> tuple[Text, ...]:
    if np.isfinite(changed).any():
        return ()
    return (
        Text(
            "{method} does not change any weight of the blocks: what it learned is stored outside them.",
            "{method} 没有改变各块的任何权重：学到的内容存放在这些权重之外。",
        ).format(method=METHODS[tuned.method].title),
    )


# ---------------------------------------------------------------------------------------------- tokens


def token_change(before: Capture, after: Capture) -> CurvesResult:
    """Compute the cosine between the class tokens (or patch means) of base and tuned model after each block, (blocks,).

    Both captures are of the same image.
    """
    token = "cls" if "cls" in before.prefix_tokens else "mean"
    return CurvesResult(
        view="token_change",
        title=Text("How far the token that is read moved", "用于读出的标记改变了多少"),
        values=token_cosines(before, after, token)[None],
        axes=("curves", "blocks"),
        unit=Text("cosine between base and tuned model", "基础模型与微调模型之间的余弦"),
        formula="x · x' / (‖x‖ ‖x'‖)",
        provenance=after.provenance,
        x=np.arange(before.depth),
        x_name=BLOCK,
        curves=(query_text(token),),
    )


# ---------------------------------------------------------------------------------------------- prompts


def prompt_attention(capture: Capture) -> MatrixResult:
    """Compute the share of the class token's attention (or the patch mean's) on all prompts, (blocks, heads).

    Raises UnsupportedError for a model without prompt tokens.
    """
    prompts = [n for n, name in enumerate(capture.prefix_tokens) if name.startswith("prompt")]
    if not prompts:
        raise UnsupportedError(
            Text("{model} has no prompt tokens.", "{model} 没有提示标记。").format(model=capture.provenance.model)
        )
    query = "cls" if "cls" in capture.prefix_tokens else "mean"
    rows = [capture.attention_from(query, block)[1][:, prompts].sum(1) for block in range(capture.depth)]
    values = np.full((capture.depth, max(len(row) for row in rows)), np.nan)
    for block, row in enumerate(rows):
        values[block, : len(row)] = row.double().cpu().numpy()
    return MatrixResult(
        view="prompt_attention",
        title=Text("How much attention the prompts attract", "提示标记吸引了多少注意力"),
        values=values,
        axes=("blocks", "heads"),
        unit=Text("share of attention on all prompts", "落在全部提示标记上的注意力份额"),
        formula="Σ_prompts softmax(q kᵀ / √d)",
        provenance=capture.provenance,
        notes=(
            Text("Looking: {query}.", "查询：{query}。").format(
                query=Text("class token", "类别标记") if query == "cls" else Text("mean over patches", "图块平均")
            ),
        ),
    )
