"""A text taken apart: its words, the text in a template, and its denial, to compare their maps.

Negation is what models of images and texts are known to miss (Yuksekgonul et al. 2023, arXiv 2210.01936).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vitexplorer.core.text import Language
from vitexplorer.ui.rooms.words.text_maps import MOST, read_texts

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

_LITTLE = {
    *("a", "an", "the", "of", "and", "or", "in", "on", "at", "to", "with", "by", "for", "from", "is", "are", "this"),
    *("that", "there", "no", "not", "without", "but", "one", "its"),
}
"""English words that mean no patch"""
_ARTICLE = re.compile(r"^(?:(?:a|an|the|one)\s+|一[个颗朵条支只张])", re.IGNORECASE)
_TEMPLATES: dict[Language, str] = {"en": "a photo of {}", "zh": "一张照片：{}"}
_DENIALS: dict[Language, str] = {"en": "no {}", "zh": "没有{}"}


def taken_apart(text: str, capture: Capture) -> tuple[str, ...]:
    """Return a text, its words that can mean a patch, its denial and the text in a template; none that is refused."""
    language: Language = "zh" if re.search("[\u4e00-\u9fff]", text) else "en"
    bare = _ARTICLE.sub("", text)
    words = _chinese_words(text) if language == "zh" else re.findall(r"[^\W\d_]+", text.lower())
    parts = [word for word in words if word not in _LITTLE][: MOST - 3]
    texts = dict.fromkeys((text, *parts, _DENIALS[language].format(bare), _TEMPLATES[language].format(text)))
    return tuple(each for each in texts if not read_texts((each,), capture)[1])


def _chinese_words(text: str) -> list[str]:
    """Return the words of drawn scenes in a text, in its order; of two at one place the longer."""
    from vitexplorer.scenes.vocabulary import TABLES

    known = {word for table in TABLES.values() for _, words in table.values() for word in words}
    return re.findall("|".join(sorted(map(re.escape, known), key=len, reverse=True)), text)
