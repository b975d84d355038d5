"""Check of how weights were converted: positions, order of queries, keys and values, scale, number of heads.

Every alternative is tried on a copy of the module, first on a few pictures, and the promising ones on all.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.alternatives import Alternative, alternatives, changed_copy, run_with
from vitexplorer.diagnosis.answers import Judged, gain
from vitexplorer.diagnosis.examination import CLEAR, SUPPORTED, Examination, certainty_of
from vitexplorer.diagnosis.feeding import CAUSES as OF_FEED
from vitexplorer.diagnosis.feeds import AS_FED
from vitexplorer.diagnosis.positions import NEIGHBOURLY, RESAMPLED, SHUFFLED
from vitexplorer.diagnosis.sentences import MORE, NO_TIME, SAME
from vitexplorer.models.loading import LoadedModel

LAST_ROUND = 3
"""Alternatives that are tried on all pictures after the first trial"""
OF_ATTENTION = ("qkv_misordered", "scale_missing", "heads_miscounted")
LIKELY = 3.0
"""Standard errors of a gain from which attention is read wrongly, if more answers are right too. Four right models
lose 2.5 or more by any other reading of attention; positions in another order may be as good"""
PERFECT = 0.97
"""Accuracy from which nothing is left to gain"""
CAUSES = (
    "positions_transposed",
    "positions_shuffled",
    "positions_badly_resampled",
    "prefix_tokens_among_patches",
    *OF_ATTENTION,
)
_WHAT = {
    "positions_transposed": Text("Rows and columns of the position embedding are swapped", "位置编码的行与列互换"),
    "positions_shuffled": Text(
        "The position embedding does harm, and is better left out", "位置编码有害无益，去掉反而更好"
    ),
    "positions_badly_resampled": Text(
        "The position embedding was resampled as a sequence {name}, not as a grid",
        "位置编码按序列（{name}）而非按网格重采样",
    ),
    "prefix_tokens_among_patches": Text(
        "The position embedding is displaced by a prefix token ({name})", "位置编码因前缀标记而错位（{name}）"
    ),
    "qkv_misordered": Text(
        "Queries, keys and values are in the wrong order (read them as: {name})",
        "查询、键、值的顺序有误（应读作：{name}）",
    ),
    "scale_missing": Text("The scale of the attention scores is wrong ({name})", "注意力分数的缩放有误（{name}）"),
    "heads_miscounted": Text("The number of heads is wrong, and should be {name}", "注意力头数有误，应为 {name}"),
}

_HALF = Text(
    "A part of the weights was not loaded, so the answers do not show how the others are to be read.",
    "部分权重没有加载，因此从回答看不出其余权重应如何读取。",
)


def check_conversion(exam: Examination) -> None:
    """Try other readings of the weights, and keep the best that the answers speak for."""
    model = exam.subject.model
    shuffled = next((finding for finding in exam.findings if finding.cause == SHUFFLED), None)
    tried = [each for each in alternatives(model) if not shuffled or each.cause not in NEIGHBOURLY]
    causes = list(dict.fromkeys(each.cause for each in tried))
    if any(finding.cause == "half_loaded" for finding in exam.findings):
        return exam.cannot_tell(causes, _HALF)
    if exam.ran_out(OF_FEED):  # answers to pictures that are fed in a wrong way say nothing about the weights
        return exam.cannot_tell(causes, NO_TIME)
    if exam.labels is not None and exam.judged().value > PERFECT:
        return exam.cannot_tell(causes, SAME)
    exam.did_check(causes)
    rows = exam.fewest
    usual = exam.judged(rows=rows).scores.mean()
    promising: list[tuple[float, Alternative]] = []
    for place, each in enumerate(tried):
        if not exam.has_time(0.8):
            exam.cannot_tell((left.cause for left in tried[place:]), NO_TIME)
            break
        mean = float(exam.judged(rows=rows, run=run_with(model.module, each)).scores.mean())
        if mean > usual:
            promising.append((mean, each))
    if not promising:
        return None
    last = [each for _, each in sorted(promising, key=lambda pair: -pair[0])[:LAST_ROUND]]
    judged = [(exam.judged(run=run_with(model.module, each)), each) for each in last]
    before, (after, best) = exam.judged(), max(judged, key=lambda pair: pair[0].scores.mean())
    if shuffled and best.cause == RESAMPLED:
        off = next(each for each in tried if each.cause == SHUFFLED)
        without = exam.judged(run=run_with(model.module, off))
        if gain(without, after) < SUPPORTED:  # any smooth table does as well as none
            after, best = without, off
    rise = gain(before, after)
    is_supported = shuffled is not None and best.cause in (SHUFFLED, RESAMPLED)
    is_likely = best.cause in OF_ATTENTION and after.value > before.value
    least = SUPPORTED if is_supported else LIKELY if is_likely else CLEAR
    if rise < least or after.value < before.value:
        if rise > SUPPORTED:
            exam.cannot_tell(best.cause, MORE.format(rise=f"{rise:.1f}"))
        return None
    if exam.feed != AS_FED and _needs_no_feed(exam, best, after):
        exam.findings = [finding for finding in exam.findings if finding.cause not in OF_FEED]
        exam.feed = AS_FED
        before, after = exam.judged(), exam.judged(run=run_with(model.module, best))
        rise = gain(before, after)
    certainty = certainty_of(rise)
    if shuffled and is_supported:
        exam.findings.remove(shuffled)
        certainty = max(certainty, shuffled.certainty)
    exam.add_repair(
        best.cause,
        _WHAT[best.cause].format(name=best.name),
        before.value,
        after.value,
        certainty=certainty,
        repaired=_repaired(model, best),
        evidence={"reading": best.name, "standard_errors": rise, "pictures": len(before.scores)},
    )
    return None


def _needs_no_feed(exam: Examination, best: Alternative, mended: Judged) -> bool:
    """Return True if the right weights answer the pictures as fed as well as mended ones."""
    plain = exam.judged(AS_FED, run=run_with(exam.subject.model.module, best))
    return gain(plain, mended) < SUPPORTED


def _repaired(model: LoadedModel, best: Alternative) -> LoadedModel | dict[str, Tensor]:
    if best.set_up is not None:
        return replace(model, module=changed_copy(model.module, best))
    return {**model.module.state_dict(), **best.tensors}
