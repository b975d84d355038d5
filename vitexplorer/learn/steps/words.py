"""Step: pictures and sentences in one space, and why a softmax over one text says nothing."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import percent
from vitexplorer.core.text import Text
from vitexplorer.learn.step import Numbers, Seen, Step
from vitexplorer.scenes.sentences import Phrase, with_article
from vitexplorer.scenes.shapes import LABEL_NAMES


def numbers(seen: Seen) -> Numbers:
    """Compare the image with a sentence for each shape, in both languages."""
    sentences = [with_article(Phrase(shape=shape)) for shape in LABEL_NAMES]
    each = [seen.compute("text_scores", texts=[sentence[at] for sentence in sentences]) for at in range(2)]
    best, worst = (
        Text(*(sentences[pick(result.values)][at] for at, result in enumerate(each))) for pick in (np.argmax, np.argmin)
    )
    return {
        "count": len(sentences),
        "best": best,
        "worst": worst,
        "best_share": Text(*(percent(result.answers.max()) for result in each)),
        "worst_share": Text(*(percent(result.answers.min()) for result in each)),
    }


STEP = Step(
    key="words",
    title=Text("Words and pixels", "文字与像素"),
    state={"model": "scenes_clip", "room": "words"},
    light="words",
    says=Text(
        "One network for pictures and one for sentences learned to put a picture and the sentences that are true of it "
        "at the same place of one space. So a sentence can be held against the picture, and against every patch of it. "
        "The stage shows the cosine of each patch and the text.",
        "一个看图像的网络和一个读句子的网络学会了把图像和与之相符的句子放到同一空间的同一位置。"
        "因此一句话可以与整幅图像比较，也可以与每个图块比较。主图显示各图块与文字的余弦。",
    ),
    formula=Text(
        "cosine = f · t / (|f| |t|); share of a text = softmax over the texts of scale × cosine",
        "余弦 = f · t / (|f| |t|)；文字的份额 = 对各文字的 缩放系数 × 余弦 做 softmax",
    ),
    numbers=numbers,
    asks=Text(
        "Of {count} sentences “{worst}” fits this picture least. How much would a softmax give it if it were the only "
        "text?",
        "{count} 句话中，“{worst}”与这幅图像最不相符。如果只有这一条文字，softmax 会给它多少？",
    ),
    choices=(
        Text("Almost nothing", "几乎为零"),
        Text("One part in {count}", "{count} 分之一"),
        Text("All of it", "全部"),
    ),
    right=lambda values: 2,
    reveal=Text(
        "All of it: a softmax shares out 1 among the texts that are there. Among all {count} it gets {worst_share}, "
        "and “{best}” gets {best_share}. So the room gives no share for one text alone.",
        "全部：softmax 把 1 分给现有的文字。在全部 {count} 句中它得到 {worst_share}，而“{best}”得到 {best_share}。"
        "因此只有一条文字时，这里不给出份额。",
    ),
    action=Text(
        "Write a colour in place of the first text: which patches does it mean?",
        "把第一条文字换成一种颜色：它指哪些图块？",
    ),
    becomes={"texts": ".+"},
    printed=("text_scores", {}),
)
