"""Step: position vectors, and the answer without them."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.core.types import BoardResult
from vitexplorer.learn.step import Numbers, Seen, Step, check_classes

SHUFFLED = "shuffle_patches:seed=0"
OFF = "positions:how=off"


def numbers(seen: Seen) -> Numbers:
    """Return cosines of two corners and two neighbours, and the top class's probability in four runs.

    Raises UnsupportedError for a model without classes, or with one output.
    """
    from vitexplorer.quantities.read_out import displayed_values  # here: it takes seconds to import

    check_classes(seen)
    board: BoardResult = seen.compute("position_similarity")
    plain, shuffled, off, both = (
        displayed_values(run.logits.double())
        for run in (seen.capture, seen.changed(SHUFFLED), seen.changed(OFF), seen.changed(f"{SHUFFLED};{OFF}"))
    )
    first = int(plain.argmax())
    return {
        "patches": board.grid.num_patches,
        "beside": float(board.values[0, 0, 0, 1]),
        "corners": float(board.values[0, 0, -1, -1]),
        "plain": float(plain[first]),
        "shuffled": float(shuffled[first]),
        "off": float(off[first]),
        "both": float(both[first]),
        "rival": float(shuffled.max()),
    }


def right(values: Numbers) -> int:
    """Return 2 for another answer, 1 for the same with less than nine tenths of its probability, else 0."""
    if values["shuffled"] < values["rival"]:
        return 2
    return int(values["shuffled"] < 0.9 * values["plain"])


STEP = Step(
    key="position",
    title=Text("Where a patch lies", "图块在哪里"),
    state={"model": "scenes_vit_patch16_192", "room": "positions"},
    light="panel",
    says=Text(
        "Attention alone cannot tell the order of its tokens, so a learned vector for each of the {patches} places is "
        "added. Each small map compares one place with all of them. In the top left corner the cosine with the next "
        "place is {beside:.2f}, with the opposite corner {corners:.2f}.",
        "注意力本身分不出标记的顺序，所以给 {patches} 个位置各加上一个学到的向量。每幅小图把一个位置与所有位置相比："
        "左上角与右邻位置的余弦为 {beside:.2f}，与右下角的余弦为 {corners:.2f}。",
    ),
    formula=Text(
        "z_p = W x_p + b + e_p; p(answer) = {plain:.1%}, patches shuffled {shuffled:.1%}, e off {off:.1%}, "
        "both {both:.1%}",
        "z_p = W x_p + b + e_p；p(答案) = {plain:.1%}，打乱图块 {shuffled:.1%}，关闭 e 为 {off:.1%}，"
        "两者同时 {both:.1%}",
    ),
    numbers=numbers,
    asks=Text(
        "The model gives its first answer {plain:.1%}. Shuffle the patches like a puzzle: what becomes of it?",
        "模型给首选答案的概率为 {plain:.1%}。像拼图一样把图块打乱，它会怎样？",
    ),
    choices=(
        Text("It keeps at least nine tenths of that", "至少保住原来的九成"),
        Text("It stays first, but with less", "仍是首选，但概率更低"),
        Text("Another answer takes its place", "被另一个答案取代"),
    ),
    right=right,
    reveal=Text(
        "{shuffled:.1%} are left, and the first of the answers now has {rival:.1%}. With the vectors for "
        "the places off it has {off:.1%}; then shuffling changes "
        "nothing more: {both:.1%}, for without them the model sees a bag of patches.",
        "原答案还剩 {shuffled:.1%}，此时首选答案的概率为 {rival:.1%}。关闭位置向量后，原答案为 {off:.1%}；"
        "再打乱图块也不会有变化，仍是 {both:.1%}，因为没有位置向量，模型看到的只是一袋图块。",
    ),
    action=Text(
        "Switch on “Patches shuffled” in the room What if, and compare both runs.",
        "在“假如改变”页面打开“打乱图块”，比较两次运行。",
    ),
    becomes={"change": r"(.*;)?shuffle_patches(:.*)?"},
    leads={"room": "what_if", "change": "nothing"},
    printed=("position_similarity", {}),
)
