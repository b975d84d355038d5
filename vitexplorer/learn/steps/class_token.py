"""Step: the class token answers for the whole image; what if the object is hidden?"""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.learn.step import Numbers, Seen, Step, check_classes

HIDDEN = 4
"""Divisor for the number of hidden patches: one in four"""


def numbers(seen: Seen) -> Numbers:
    """Return the answers of both readings, and the class's probability without its most and least relevant patches.

    Raises UnsupportedError for a model without a classifier, or with one output.
    """
    check_classes(seen)
    by_class, by_mean = (reading.top[0] for reading in seen.compute("pooling").readings[:2])
    relevance = seen.compute("generic_relevance")
    ranked = np.argsort(relevance.values, axis=None)
    hidden = len(ranked) // HIDDEN
    without_most, without_least = (
        _probability_without(seen, chosen, relevance.grid.cols, by_class.index)
        for chosen in (ranked[-hidden:], ranked[:hidden])
    )
    return {
        "name": by_class.name,
        "share": by_class.probability,
        "mean_name": by_mean.name,
        "mean_share": by_mean.probability,
        "hidden": hidden,
        "patches": len(ranked),
        "without_most": without_most,
        "without_least": without_least,
    }


def _probability_without(seen: Seen, patches: np.ndarray, cols: int, target: int) -> float:
    from vitexplorer.quantities.read_out import displayed_values  # here: it takes seconds to import

    cells = "+".join(f"{patch // cols}.{patch % cols}" for patch in sorted(patches))
    run = seen.changed(f"mask_patches:patches={cells},how=paint")
    return float(displayed_values(run.logits)[target])


STEP = Step(
    key="class_token",
    title=Text("One token for the whole image", "一个标记代表整幅图像"),
    state={"model": "scenes_vit_patch16_192", "room": "what_if", "change": "nothing"},
    light="changes",
    says=Text(
        "The class token has no pixels of its own: it begins as the same vector for every image and gathers, block by "
        "block, what it reads from the patches. In the end the classifier reads it alone. "
        "Read through the mean over patches instead, this classifier, never trained for that, says {mean_name}.",
        "类别标记自己没有像素：对每幅图像，它都从同一个向量开始，逐块从图块收集信息，最后分类头只读取它。"
        "若改为读取图块的平均，这个从未为此训练过的分类头会说“{mean_name}”。",
    ),
    formula=Text(
        "p({name}) = softmax(W · norm(x_cls) + b) = {share:.1%}; through the mean p({mean_name}) = {mean_share:.1%}",
        "p({name}) = softmax(W · norm(x_cls) + b) = {share:.1%}；用图块平均读出则 p({mean_name}) = {mean_share:.1%}",
    ),
    numbers=numbers,
    asks=Text(
        "Of the {patches} patches, paint over the {hidden} that matter most for “{name}”. What becomes of it?",
        "把 {patches} 个图块中对“{name}”最重要的 {hidden} 个涂掉，它的概率会怎样？",
    ),
    choices=(
        Text("It keeps more than half of its probability", "还剩一半以上"),
        Text("It loses more than half", "失去一半以上"),
    ),
    right=lambda values: int(values["without_most"] < values["share"] / 2),
    reveal=Text(
        "{share:.1%} become {without_most:.1%}. Painting over as many patches that matter least leaves "
        "{without_least:.1%}: what counts is which patches the token gathers from.",
        "{share:.1%} 变为 {without_most:.1%}。若涂掉同样多个最不重要的图块，则还剩 {without_least:.1%}："
        "关键在于该标记从哪些图块收集信息。",
    ),
    action=Text(
        "Hide the object yourself: switch on “Patches hidden” and paint over it on the picture.",
        "请您自己把物体藏起来：打开“遮住图块”，在图上把物体涂掉。",
    ),
    becomes={"change": r".*mask_patches.*\+.*"},
    printed=("generic_relevance", {}),
)
