"""Rules for every reading: two sentences at most, whole in both languages, with the same numbers."""

from __future__ import annotations

import re

import vitexplorer as vx

NUMBER = r"[+−]?\d+(?:,\d{3})*(?:\.\d+)?(?: × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
BROKEN = re.compile(r"nan|inf\b|None|[{}]|  | [,.;:]|\.\.|，，|。。|True|False|array")
TIGHT = re.compile(r"[\u4e00-\u9fff][0-9A-Za-z+−<]|[0-9A-Za-z%][\u4e00-\u9fff]")
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff”）][,:;?!(]|[,:;?!)][\u4e00-\u9fff“（]")


def checked_reading(result) -> tuple[str, str]:
    """Give a reading in both languages, after checking it against the rules; with plain spaces before percent signs."""
    english, chinese = (vx.reading(result, language) for language in ("en", "zh"))
    assert english.endswith(".")
    assert chinese.endswith("。")
    assert not english[0].islower()
    assert len(re.findall(r"\. [A-Z]", english)) <= 1, "two sentences at most"
    for text in (english, chinese):
        assert not BROKEN.search(text), text
        assert " %" not in text, "a percent sign may not leave its number"
    assert sorted(re.findall(NUMBER, english)) == sorted(re.findall(NUMBER, chinese)), (english, chinese)
    assert not TIGHT.search(chinese), chinese
    assert not HALF_WIDTH.search(chinese), chinese
    return english.replace("\u00a0%", " %"), chinese.replace("\u00a0%", " %")
