"""Texts in two languages."""

from __future__ import annotations

import pytest

from vitexplorer.core.format import counted
from vitexplorer.core.text import Text, same

ZERO_ONE_TWO = (0, 1, 2)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{n:patch}", ("0 patches", "1 patch", "2 patches")),
        ("{n:class}, {n:box}", ("0 classes, 0 boxes", "1 class, 1 box", "2 classes, 2 boxes")),
        ("{n:validation image}", ("0 validation images", "1 validation image", "2 validation images")),
        ("{n:image is/images are} in both.", ("0 images are in both.", "1 image is in both.", "2 images are in both.")),
        (
            "{n} of {m:patch} {n:~says/say} {a}",
            ("0 of 9 patches say b", "1 of 9 patches says b", "2 of 9 patches say b"),
        ),
    ],
)
@pytest.mark.parametrize("write", [int, counted], ids=["number", "written"])
def test_a_counted_word_agrees_with_its_number(template: str, expected: tuple[str, ...], write) -> None:
    sentences = [Text(template, "{n}").format(n=write(n), m=9, a=same("b")).en for n in ZERO_ONE_TWO]
    assert tuple(sentences) == expected


def test_a_large_count_has_separators_and_other_formats_stay() -> None:
    text = Text("{n:token} · {n:,} · {share:.1%} · {size:g}", "{n} 个标记")
    assert text.format(n=12345, share=0.5, size=1.5).en == "12,345 tokens · 12,345 · 50.0% · 1.5"
    assert text.format(n=12345, share=0.5, size=1.5).zh == "12345 个标记"


def test_no_space_follows_a_chinese_mark() -> None:
    says = Text("{model} says: {answer}", "{model} 认为：{answer}")
    drawn = Text("ViT (drawn scenes)", "ViT（合成场景）")
    assert says.format(model=drawn, answer="gear").in_("zh") == "ViT（合成场景）认为：gear"
    assert says.format(model="ViT", answer="gear").in_("zh") == "ViT 认为：gear"
    assert Text("DINO (scenes) · 384", "DINO（场景） · 384").in_("zh") == "DINO（场景） · 384"
