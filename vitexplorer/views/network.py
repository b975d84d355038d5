"""What does the whole network do with this image? Tokens, attention, read-out and share of the answer, block by block.

Colours: three principal components of the patch tokens of all blocks (`stream_colours`). Links: where each head of each
block reads for the followed token, the strongest entries of its row of attention (Vaswani et al. 2017, arXiv
1706.03762). Answers: the logit lens in the model's own reading (Belrose et al. 2023, arXiv 2303.08112). Bars: the exact
direct contributions of attention and MLP of each block to the target's logit (Elhage et al. 2021,
https://transformer-circuits.pub/2021/framework, "Zero-Layer Transformers"): start + adds + bias are the logit. Every
number is that of the view it comes from: `attention_map`, `logit_lens`, `logit_attribution`. Without a classifier there
is the cosine of each patch to the class token instead.
Misleading: links are attention, not importance, and leave out the share that `rest` gives; a bar is a direct effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Number, QueryControl, TargetControl
from vitexplorer.core.capture_protocol import NO_TOKENS, CaptureProtocol, refuse_if
from vitexplorer.core.format import counted, percent, signed
from vitexplorer.core.network_result import LensAnswer, NetworkResult
from vitexplorer.core.stacking import stacked
from vitexplorer.core.text import SPACE, Text, present, same
from vitexplorer.core.types import Output, Query, prefix_text, query_text
from vitexplorer.quantities.hidden_patches import hidden_patches
from vitexplorer.quantities.logit_contributions import contributions, is_no_sum
from vitexplorer.quantities.places import placed
from vitexplorer.quantities.read_out import answers_after_blocks, class_text, top_classes
from vitexplorer.quantities.reads import reads_of, window_of
from vitexplorer.quantities.stream_colours import stream_colours
from vitexplorer.quantities.targets import explained, target_text
from vitexplorer.quantities.whole_similarity import whole_similarity
from vitexplorer.views.record import View

FEWER = Text(
    "Later stages have fewer patches; the rest of their rows is empty (NaN). Each stage has a basis of its own.",
    "靠后的阶段图块较少，各行其余留空（NaN）；每个阶段使用各自的一组基。",
)
HIDDEN = Text(
    "{hidden} of {patches:patch} {hidden:~is/are} hidden: no other token reads them, so the rest is what a masked "
    "autoencoder's encoder computes from the visible ones. Their colours and numbers are left out (NaN).",
    "{patches} 个图块中有 {hidden} 个被隐藏：其他标记都不读取它们，因此其余部分就是掩码自编码器的编码器由可见图块算出的"
    "结果。它们的颜色和数值留空（NaN）。",
)
MOST = 0.5
"""Share of everything that adds to a logit that the named blocks hold at least"""
FOLLOWED = QueryControl(label=Text("Followed token", "追踪的标记"), first=True)
LINKS = Number("links", Text("Links of a head", "每个头的连线数"), low=1, high=64, start=8, step=1, whole=True)


@dataclass(frozen=True)
class AnswerControl(TargetControl):
    """Target class; None for a model without a classifier, which has none to explain."""

    def default(self, capture: CaptureProtocol) -> int | None:
        """Return the class with the highest logit, or None."""
        return None if capture.logits is None else super().default(capture)

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> int | None:
        """Return the number of a class; None only without a classifier."""
        return None if value is None and capture.logits is None else super().parse(value, capture, settings)

    def say(self, value: int | None, capture: CaptureProtocol) -> Text:
        """Name the class by number and name."""
        return Text("none", "无") if value is None else super().say(value, capture)


def compute(capture: Capture, query: Query, target: int | None, links: int) -> NetworkResult:
    """Compute the figure of the pass; its fields are those of `NetworkResult`."""
    blocks = range(capture.depth)
    queries = queries_of(capture, query)
    reads = [reads_of(capture, queries[block], block, links) for block in blocks]
    adds = None if target is None else added_to(capture, target)
    attention_adds, mlp_adds, start, bias = adds or (None, None, None, None)
    values = stacked(stream_colours(capture)[0])
    has_classes = capture.logits is not None
    hidden = hidden_patches(capture)
    similarity = None if has_classes else stacked([whole_similarity(capture, block) for block in blocks])
    if similarity is not None and hidden.any():
        similarity[:, hidden] = np.nan
    return NetworkResult(
        values=values,
        axes=("blocks", "patches", "channels"),
        unit=Text("components 1, 2, 3 as red, green, blue", "第 1、2、3 主成分作为红、绿、蓝"),
        formula=Text("(x − mean) / RMS · component, one basis", "（x − 均值）/ 均方根 · 主成分，共用一组基"),
        notes=present(
            FEWER if len({grid.num_patches for grid in map(capture.grid, blocks)}) > 1 else None,
            HIDDEN.format(hidden=int(hidden.sum()), patches=len(hidden)) if hidden.any() else None,
            is_no_sum(capture) if has_classes and adds is None else None,
        ),
        target=None if target is None else explained(capture, target),
        query=query,
        queries=queries,
        grids=(capture.grid(0), *map(capture.grid, blocks)),
        key_grids=tuple(map(capture.key_grid, blocks)),
        prefix_names=tuple(capture.prefix_tokens),
        links=tuple(read.links for read in reads),
        heads=tuple(read.maps for read in reads),
        rest=stacked([read.rest for read in reads]),
        windows=tuple(window_of(queries[block], capture.grid(block), capture.site(block).windows) for block in blocks),
        lens=answers(capture) if has_classes else None,
        attention_adds=attention_adds,
        mlp_adds=mlp_adds,
        start=start,
        bias=bias,
        similarity=similarity,
        top=top_classes(capture.logits, capture.model.class_texts) if has_classes else (),
        class_names=capture.model.class_texts,
        image=capture.input.pixels,
        hidden=hidden,
    )


def queries_of(capture: Capture, query: Query) -> tuple[Query, ...]:
    """Return the query in each block: a patch becomes the one at the same place of the block's grid."""
    return tuple(placed(query, (capture, 0), (capture, block)) for block in range(capture.depth))


def answers(capture: Capture) -> tuple[LensAnswer | None, ...]:
    """Return the answer after each block, see `answers_after_blocks`."""
    return tuple(answer and LensAnswer(answer.index, answer.value) for answer in answers_after_blocks(capture))


def added_to(
    capture: Capture, target: int
) -> tuple[Float[np.ndarray, " blocks"], Float[np.ndarray, " blocks"], float, float] | None:
    """Return what attention, MLPs, start and biases add to a logit; None where it is no such sum."""
    if is_no_sum(capture):
        return None
    terms = contributions(capture, target)
    attention, mlp = np.zeros(capture.depth), np.zeros(capture.depth)
    for block in range(capture.depth):
        attention[block] = terms.get(f"block {block} attn", 0.0) + terms.get(f"block {block} attn + mlp", 0.0)
        mlp[block] = terms.get(f"block {block} mlp", 0.0)
    return attention, mlp, terms["embedding"], terms["constant"]


# ------------------------------------------------------------------------------------------ in words


def reading(result: NetworkResult) -> Text:
    """Say in which blocks the answer is made, mostly by what, and where the followed token looks in the last block."""
    return SPACE.join(present(_made(result), _looks(result)))


def _made(result: NetworkResult) -> Text | None:
    if result.attention_adds is not None:
        return _made_by(result)
    if result.lens is not None:
        return _decided(result)
    return _alike(result)


def _made_by(result: NetworkResult) -> Text:
    """Name the fewest blocks that hold half of all that adds to the logit, and the branch that adds more in them."""
    together = result.attention_adds + result.mlp_adds
    positive = together.clip(0)
    if not positive.any():
        return Text(
            "{Whole} comes from the input and the biases: no block adds to it.",
            "{Whole}来自输入和偏置：没有任何块使它增加。",
        ).format(Whole=_sum_text(result))
    order = np.argsort(-positive, kind="stable")
    needed = int(np.searchsorted(positive[order].cumsum(), MOST * positive.sum())) + 1
    named = sorted(order[:needed].tolist())
    attention, mlp = (float(adds[named].sum()) for adds in (result.attention_adds, result.mlp_adds))
    branch = {
        (True, True): Text("by its MLP", "来自 MLP"),
        (True, False): Text("by their MLPs", "来自 MLP"),
        (False, True): Text("by its attention", "来自注意力"),
        (False, False): Text("by their attention", "来自注意力"),
    }[mlp > attention, needed == 1]
    return Text(
        "{Whole} is made mainly in {blocks} ({sum}), mostly {branch} ({more}).",
        "{Whole}主要在{blocks}中形成（{sum}），其中主要{branch}（{more}）。",
    ).format(
        Whole=_sum_text(result),
        blocks=_block_list(named),
        sum=signed(float(together[named].sum())),
        branch=branch,
        more=signed(max(attention, mlp)),
    )


def _sum_text(result: NetworkResult) -> Text:
    if isinstance(result.target, Output):
        return Text("The output", "输出值")
    return Text("The logit of {name}", "{name}的 logit ").format(name=target_text(result))


def _block_list(blocks: list[int]) -> Text:
    if len(blocks) == 1:
        return Text("block {block}", "块 {block} ").format(block=blocks[0])
    if len(blocks) > 2 and blocks == [*range(blocks[0], blocks[-1] + 1)]:
        return Text("blocks {first} to {last}", "块 {first} 至 {last} ").format(first=blocks[0], last=blocks[-1])
    english = ", ".join(map(str, blocks[:-1])) + f" and {blocks[-1]}"
    return Text(f"blocks {english}", f"块 {'、'.join(map(str, blocks))} ")


def _decided(result: NetworkResult) -> Text | None:
    """Name the first readable block from which on the answer is the last one."""
    if len(result.top) < 2:  # one output is no choice that could be made
        return None
    first, last = decided_in(result.lens)
    name = result.class_names[last.index] if result.class_names else same("")
    return Text(
        "Read out after each block, the answer is {name} from block {first} on, {value} at the end.",
        "逐块读出时，从块 {first} 起答案就是{name}，最后为 {value}。",
    ).format(name=class_text(last.index, name), first=first, value=percent(last.value))


def decided_in(lens: Sequence[LensAnswer | None]) -> tuple[int, LensAnswer]:
    """Return the first readable block from which on the answer is the last one, and that answer."""
    read = [(block, answer) for block, answer in enumerate(lens) if answer is not None]
    last = read[-1][1]
    first = next(block for at, (block, _) in enumerate(read) if all(a.index == last.index for _, a in read[at:]))
    return first, last


def _alike(result: NetworkResult) -> Text:
    """Say how many patches come close to the whole-image token after the last block."""
    last = result.similarity[-1][np.isfinite(result.similarity[-1])]
    whole = query_text("cls") if "cls" in result.prefix_names else query_text("mean")
    row, col = divmod(int(last.argmax()), result.grids[-1].cols)
    return Text(
        "After the last block the {whole} is most alike to the {patch} (cosine {most}), and {above} of {total:patch} "
        "{above:~is/are} above a cosine of 0.5.",
        "在最后一块之后，{whole}与{patch}最相似（余弦 {most}），{total} 个图块中有 {above} 个余弦超过 0.5。",
    ).format(
        whole=whole,
        patch=query_text((row, col)),
        most=f"{last.max():.2f}",
        above=counted(int((last > 0.5).sum())),
        total=counted(len(last)),
    )


class Read(NamedTuple):
    """The key that the followed token reads most in the last block in which it reads."""

    block: int
    query: Text
    key: Text
    """Name with its article"""
    head: int
    share: str


def most_read(result: NetworkResult) -> Read | None:
    """Return the key that is read most; None where the followed token asks for nothing in any block."""
    reads = [block for block, links in enumerate(result.links) if links.weights.size]
    if not reads:
        return None
    block = reads[-1]
    links = result.links[block]
    head = int(links.weights[:, 0].argmax())
    query, key = query_text(result.queries[block]), key_text(result, block, int(links.tokens[head, 0]))
    key = Text("itself", "它自己") if key == query else Text(f"the {key.en}", key.zh)
    return Read(block, query, key, head, percent(float(links.weights[head, 0])))


def _looks(result: NetworkResult) -> Text | None:
    read = most_read(result)
    if read is None:
        return None
    return Text(
        "In block {block} the {query} reads {key} most: head {head} gives it {share}.",
        "在块 {block} 中，{query}读取最多的是{key}：头 {head} 给它 {share}。",
    ).format(**read._asdict())


def key_text(result: NetworkResult, block: int, token: int) -> Text:
    """Name a key of a block by its index in the sequence."""
    prefix = len(result.prefix_names)
    if token < prefix:
        return prefix_text(result.prefix_names[token])
    return query_text(divmod(token - prefix, result.key_grids[block].cols))


VIEW = View(
    title=Text("The whole network", "整个网络"),
    question=Text("What does the network do with this image?", "网络对这幅图像做了什么？"),
    misleads=Text(
        "Lines are attention: where a head reads, not how much it matters. Only the strongest are drawn.",
        "连线表示注意力：头在读取哪里，而不是有多重要；图中只画出最强的几条。",
    ),
    room="network",
    compute=compute,
    reads=("attention", "stream"),
    reading=reading,
    controls=(FOLLOWED, AnswerControl(), LINKS),
    runs="once",
    refuses=refuse_if(lambda capture: not capture.model.family.shows_tokens, NO_TOKENS),
)
