"""What does the captioner write, and where does each word come from? The readings are in `quantities/texts/captions`.

The sentence is greedy: at each step the likeliest next word (Vaswani et al. 2017, arXiv 1706.03762, has the decoder).
Misleading: much of a word follows from the words before it, and every reading makes a map for any word, also for "a"
and "of", which name nothing in the picture.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice
from vitexplorer.core.capture_protocol import refuse_if
from vitexplorer.core.format import percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Language, Text
from vitexplorer.core.text_results import CaptionResult
from vitexplorer.quantities.texts.captions import READINGS, caption_of
from vitexplorer.views.record import View

NO_CAPTIONER = Text(
    "{model} writes no captions. The bundled captioner does.", "{model} 不会写图像描述；内置的描述模型会写。"
)
LANGUAGES = {"en": Text("English", "英文"), "zh": Text("Chinese", "中文")}
NO_PLACE = Text("These words name nothing in the picture: {words}.", "这些词不指画面中的任何东西：{words}。")


def compute(capture: Capture, written_in: Language) -> CaptionResult:
    """Compute the words with their probabilities, and the maps of each word, (methods, words, rows, cols)."""
    caption = caption_of(capture, written_in)
    grid, words = capture.grid(capture.depth - 1), caption.words
    maps = np.zeros((len(READINGS), 0, grid.num_patches))
    if words:
        maps = np.stack([reading.maps(caption) for reading in READINGS.values()])
    has_place = np.array([word in placed_words() for word in words], dtype=bool)
    little = list(dict.fromkeys(word for word, placed in zip(words, has_place, strict=True) if not placed))
    quoted = [f"“{word}”" for word in little]
    return CaptionResult(
        values=maps.reshape(len(maps), len(words), grid.rows, grid.cols).astype(np.float32),
        axes=("methods", "words", "rows", "cols"),
        unit=Text("each reading's own", "各读法自身的单位"),
        formula=Text("argmax p(word | words before it, image)", "argmax p（词 | 前面的词，图像）"),
        notes=(NO_PLACE.format(words=Text(", ".join(quoted), "".join(quoted))),) if little else (),
        words=words,
        probabilities=caption.probabilities(),
        has_place=has_place,
        methods=tuple(READINGS),
        titles=tuple(reading.title for reading in READINGS.values()),
        units=tuple(reading.unit for reading in READINGS.values()),
        says=tuple(reading.says for reading in READINGS.values()),
        grid=grid,
        image=capture.input.pixels,
    )


def placed_words() -> frozenset[str]:
    """Return the words that name something in a picture: shapes, colours, patterns and sizes."""
    from vitexplorer.scenes.vocabulary import TABLES

    return frozenset(
        word for table in TABLES.values() for languages in table.values() for words in languages for word in words
    )


def reading(result: CaptionResult) -> Text:
    """Quote the caption, and name the word that the model was least sure of."""
    least = int(result.probabilities.argmin())
    return Text(
        "It writes “{sentence}”, and is least sure of “{word}” ({share}).",
        "模型写道“{sentence}”，其中最没有把握的词是“{word}”（{share}）。",
    ).format(sentence=result.sentence, word=result.words[least], share=percent(result.probabilities[least]))


VIEW = View(
    title=Text("Caption", "图像描述"),
    question=Text(
        "What does the model write about the image, and where does each word come from?",
        "模型怎样描述这幅图像？每个词来自哪里？",
    ),
    misleads=Text(
        "A map is made for any word, although much of a word follows from the words before it.",
        "任何词都会得到一幅图，而一个词在很大程度上由前面的词决定。",
    ),
    room="words",
    compute=compute,
    reads=("stream",),
    reading=reading,
    controls=(Choice("written_in", Text("Language of the caption", "描述的语言"), tuple(LANGUAGES.items())),),
    paper=Paper("Chefer et al. 2021", "https://arxiv.org/abs/2103.15679"),
    refuses=refuse_if(lambda capture: capture.model.captioner is None, NO_CAPTIONER),
)
