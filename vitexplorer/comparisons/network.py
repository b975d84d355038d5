"""What do two networks do with the image? The whole pass of each, one above the other.

Each pass is the view `network` of its own model, for its own answer; a followed patch is matched by its place in the
image, a token that the right model lacks becomes the mean over its patches. Two runs of one model, be it with other
images, sizes, weights or changes, have their colours from one basis, as in `shared_pca`; different models share no
directions, so that each has a basis of its own. Blocks of networks of different depth are matched by their share of it.
Misleading: links are attention, not importance; answers for different classes are different sums.
"""

from __future__ import annotations

from dataclasses import replace

from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons.record import Comparison
from vitexplorer.comparisons.relevance import same_class
from vitexplorer.comparisons.sides import names_of
from vitexplorer.core.format import signed
from vitexplorer.core.network_result import LensAnswer, NetworkPairResult, NetworkResult
from vitexplorer.core.stacking import stacked
from vitexplorer.core.text import SPACE, Text, UnsupportedError, present
from vitexplorer.core.types import Answer, Query
from vitexplorer.quantities.places import matched, placed
from vitexplorer.quantities.read_out import answer_text
from vitexplorer.quantities.stream_colours import has_one_basis, stream_colours
from vitexplorer.views.network import FOLLOWED, LINKS, VIEW, decided_in, most_read

SIDES = (Text("left", "左侧"), Text("right", "右侧"))
ONE_BASIS = Text(
    "The colours of both have one basis: where they differ, the tokens differ.",
    "两侧的颜色共用一组基：颜色不同之处，标记也不同。",
)
OWN_BASES = Text(
    "The colours of each have a basis of their own: those of one model say nothing about those of the other.",
    "两侧的颜色各有一组基：一个模型的颜色与另一个模型的颜色无关。",
)
OTHER_WEIGHTS = Text(
    "The weights differ: the colours can be compared only if one was tuned from the other.",
    "两侧权重不同：只有一个由另一个微调而来时，颜色才能相互比较。",
)
BY_DEPTH = Text(
    "Blocks are matched by their share of the depth: {left} on the left, {right} on the right.",
    "块按所处深度的比例对应：左侧共 {left} 块，右侧共 {right} 块。",
)


def compute(left: Capture, right: Capture, query: Query, links: int) -> NetworkPairResult:
    """Compute both passes; the values are their colours, (sides, blocks + 1, patches, 3) in 0-1."""
    from vitexplorer.views import compute as compute_view

    shares = has_one_basis(left, right)
    one = compute_view("network", left, query=query, links=links)
    other = compute_view("network", right, query=placed(query, (left, 0), (right, 0)), links=links)
    if shares:
        colours = map(stacked, stream_colours(left, right))
        one, other = (replace(each, values=values) for each, values in zip((one, other), colours, strict=True))
    known = {note for side in (left, right) for note in (*side.model.notes, *side.input.notes)}
    own_notes = [note for each in (one, other) for note in each.notes if note not in known]
    notes = present(
        *notes_on_colours(left, right),
        None if left.depth == right.depth else BY_DEPTH.format(left=left.depth, right=right.depth),
        *own_notes,
    )
    return NetworkPairResult(
        values=stacked([one.values, other.values]),
        axes=("sides", *one.axes),
        unit=one.unit,
        formula=one.formula,
        title=VIEW.title,
        notes=tuple(dict.fromkeys(notes)),
        passes=(one, other),
        names=names_of(left, right),
        agree=agreement(left, right, one, other),
    )


def notes_on_colours(left: Capture, right: Capture) -> tuple[Text, ...]:
    """Say whether the colours of both sides can be compared."""
    if not has_one_basis(left, right):
        return (OWN_BASES,)
    weights = [(side.provenance.weights, side.provenance.weights_source) for side in (left, right)]
    return (ONE_BASIS,) if weights[0] == weights[1] else (ONE_BASIS, OTHER_WEIGHTS)


def agreement(
    left: Capture, right: Capture, one: NetworkResult, other: NetworkResult
) -> tuple[bool | None, ...] | None:
    """Return `NetworkPairResult.agree`."""
    if min(len(one.top), len(other.top)) < 2:
        return None

    def same(answer: LensAnswer | None, beside: LensAnswer | None) -> bool | None:
        if answer is None or beside is None:
            return None
        try:
            return same_class(left, right, answer.index) == beside.index
        except UnsupportedError:
            return False

    beside = [other.lens[matched(block, left.depth, right.depth)] for block in range(left.depth)]
    return tuple(map(same, one.lens, beside))


# ------------------------------------------------------------------------------------------ in words


def reading(result: NetworkPairResult) -> Text:
    """State both answers and where they are made, then what adds to them, or else what the followed token reads."""
    return SPACE.join(present(_answers(result), _added(result) or _looks(result)))


def _answers(result: NetworkPairResult) -> Text:
    tops = [each.top for each in result.passes]
    lacking = [side for side, top in enumerate(tops) if not top]
    if len(lacking) == 2:
        return Text(
            "Neither model has a classifier, so there are no answers to compare.",
            "两个模型都没有分类头，因此没有可比较的答案。",
        )
    if lacking:
        (side,) = lacking
        return Text(
            "The {side} model has no classifier, so answers cannot be compared; that of the {other} is {name} "
            "({value}).",
            "{side}的模型没有分类头，因此无法比较答案；{other}的答案是{name}（{value}）。",
        ).format(side=SIDES[side], other=SIDES[1 - side], **_values_of(tops[1 - side][0]))
    one, other = (top[0] for top in tops)
    if result.agree is not None:
        return _made(result, one, other)
    return Text(
        "On the left, {name} is {value}; on the right, {other_name} is {other}.",
        "左侧{name}为 {value}；右侧{other_name}为 {other}。",
    ).format(other_name=answer_text(other), other=other.display_value, **_values_of(one))


def _values_of(answer: Answer) -> dict[str, object]:
    return {"name": answer_text(answer), "value": answer.display_value}


def _made(result: NetworkPairResult, one: Answer, other: Answer) -> Text:
    """State both answers, from which block on each is read, and after how many blocks the two agree."""
    known = [agrees for agrees in result.agree if agrees is not None]
    (first, _), (other_first, _) = (decided_in(each.lens) for each in result.passes)
    if known[-1]:
        answers = Text(
            "The answer of both is {name}: {value} on the left, read from block {first} on, and {other} on the right, "
            "from block {other_first} on",
            "两侧的答案都是{name}：左侧 {value}，从块 {first} 起即可读出；右侧 {other}，从块 {other_first} 起",
        )
    else:
        answers = Text(
            "The answer is {name} ({value}) on the left, read from block {first} on, and {other_name} ({other}) on the "
            "right, from block {other_first} on",
            "左侧的答案是{name}（{value}），从块 {first} 起即可读出；右侧是{other_name}（{other}），"
            "从块 {other_first} 起",
        )
    answers = answers.format(
        first=first,
        other_first=other_first,
        other_name=answer_text(other),
        other=other.display_value,
        **_values_of(one),
    )
    return Text(
        "{answers}; the two agree after {same} of {all:readable block}.",
        "{answers}；可读出的 {all} 个块中有 {same} 个块之后两者一致。",
    ).format(answers=answers, same=sum(known), all=len(known))


def _added(result: NetworkPairResult) -> Text | None:
    """State what attention and MLPs add on each side; None unless both are known."""
    if any(each.attention_adds is None for each in result.passes):
        return None
    terms = {
        name: signed(adds.sum())
        for side, each in zip("lr", result.passes, strict=True)
        for name, adds in ((f"{side}_attention", each.attention_adds), (f"{side}_mlp", each.mlp_adds))
    }
    return Text(
        "Attention adds {l_attention} and MLPs {l_mlp} to its logit on the left, {r_attention} and {r_mlp} on the "
        "right.",
        "对其 logit，左侧注意力增加 {l_attention}，MLP 增加 {l_mlp}；右侧分别为 {r_attention} 和 {r_mlp}。",
    ).format(**terms)


def _looks(result: NetworkPairResult) -> Text | None:
    """State what the followed token reads most on each side where it reads anything."""
    reads = [(side, read) for side, each in zip(SIDES, result.passes, strict=True) if (read := most_read(each))]
    if not reads:
        return None
    clauses = [
        Text(
            "on the {side} the {query} reads {key} most (block {block}, head {head}: {share})",
            "{side}的{query}读取最多的是{key}（块 {block}，头 {head}：{share}）",
        ).format(side=side, **read._asdict())
        for side, read in reads
    ]
    english, chinese = Text(", ", "；").join(clauses)
    return Text(f"{english[0].upper()}{english[1:]}.", f"{chinese}。")


def refuses(left: Capture, right: Capture) -> Text | None:
    """Refuse models whose tokens cannot be shown."""
    return VIEW.refuses(left) or VIEW.refuses(right)


COMPARISON = Comparison(
    title=Text("Network", "全貌"),
    question=Text("What does the network do with the image on each side?", "两侧的网络各对图像做了什么？"),
    misleads=VIEW.misleads,
    compute=compute,
    reading=reading,
    refuses=refuses,
    runs="once",
    controls=(FOLLOWED, LINKS),
)
