"""Control for any target: a class, one class rather than another, or a similarity, which needs no classifier."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from vitexplorer.controls.explained import Alike, LikeText, Patch, PatchAlike, RatherThan, Region, Target
from vitexplorer.controls.patches import WORDS as PAINTING
from vitexplorer.controls.patches import cells_of
from vitexplorer.controls.query import check_patches
from vitexplorer.controls.sharpest import sharpest_patch
from vitexplorer.controls.spec import Board, Spec
from vitexplorer.controls.target import TargetControl
from vitexplorer.controls.texts import NO_DIRECTION, text_vectors
from vitexplorer.core.capture_protocol import CaptureProtocol, has_one_output
from vitexplorer.core.text import SettingError, Text, same
from vitexplorer.core.types import OUTPUT, Result, query_text

_PATCHES = re.compile(r"patch\s+(\d+)\s*,\s*(\d+)(?:\s+vs\s+(\d+)\s*,\s*(\d+))?")
_VERSUS = re.compile(r"\s+vs\s+")
_REGION = re.compile(r"region\b(.*)")
_TEXT = re.compile(r"text:\s*(.*)", re.DOTALL)
_LIKE = re.compile(r"like(?::\s*|\s+)(.+?)(?:\s+patch\s+(\d+)\s*,\s*(\d+))?")
TAKES = same(
    "CLASS | CLASS vs CLASS | region ROW.COL+ROW.COL | patch ROW,COL | patch ROW,COL vs ROW,COL | like:IMAGE | "
    "like:IMAGE patch ROW,COL | text: TEXT"
)
WORDS = {
    **PAINTING,
    "class": Text("a class", "一个类别"),
    "rather": Text("this class rather than that one", "是这个类别，而非那个"),
    "alike": Text("similarity of a patch to the whole image", "某个图块与整幅图像的相似度"),
    "region": Text("similarity of a region to the whole image", "某个区域与整幅图像的相似度"),
    "like": Text("similarity to another image or its patch", "与另一幅图像或其图块的相似度"),
    "rather_than": Text("rather than", "而非"),
    "image": Text("Other image", "另一幅图像"),
    "own_image": Text("an image of your own", "您自己的图像"),
    "choose_image": Text("Choose a file ...", "选择文件……"),
    "image_lost": Text("The file did not arrive; please try again.", "文件未能送达，请重试。"),
    "whole": Text("Take the whole image", "改用整幅图像"),
    "pick_other": Text(
        "Pick a patch of the other image: click, or move with the arrow keys",
        "在另一幅图像上选择图块：点击，或用方向键移动",
    ),
    "pick": Text("Pick a patch: click, or move with the arrow keys", "选择图块：点击，或用方向键移动"),
    "hidden": Text("in the region", "在区域内"),
    "visible": Text("outside it", "在区域外"),
    "count": Text("{hidden} of {all:patch}", "{all} 个图块中的 {hidden} 个"),
    "help": Text(
        "Drag over the patches of the region. Keyboard: arrow keys move, space marks.",
        "拖过图块以标出区域。键盘：方向键移动，空格键标记。",
    ),
}
_OF_TEXTS = {
    "text": Text("similarity to a text", "与一段文字的相似度"),
    "write": Text("Type a text, then Enter", "输入文字后按回车"),
}
"""Words of the kind of target that only models with a text tower have"""


@dataclass(frozen=True)
class AnyTargetControl(TargetControl):
    """Target of an explanation; defaults to the model's top class, without classes to the sharpest patch.

    - `7` or a class name: that class
    - `7 vs 3`: one logit minus another
    - `patch 2,5`: similarity of the patch in row 2, column 5 to the whole image; `patch 2,5 vs 0,1`: to another patch
    - `region 2.5+2.6`: similarity of these patches together to the whole image
    - `text: a red gear`: similarity of the image to a text, for a model that reads texts
    - in Python, a capture or an embedding: similarity of the image to it; a vector of the joint space of a model that
      has one counts as a text
    - on the page and the command line, `like:` and the name of an image, see `likeness`
    """

    label: Text = Text("Target", "解释目标")
    kind: ClassVar[str] = "target"
    takes: ClassVar[Text | None] = TAKES
    words: ClassVar[Mapping[str, Text]] = WORDS | _OF_TEXTS

    def default(self, capture: CaptureProtocol) -> Target:
        """Return the class with the highest logit; without a classifier, the similarity of the sharpest patch."""
        if capture.logits is not None:
            return super().default(capture)
        return PatchAlike(sharpest_patch(capture.input.pixels, capture.grid(capture.depth - 1)))

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Target:
        """Return the checked target: a class, a pair of classes, one or two patches, a region or an embedding."""
        written = value.strip() if isinstance(value, str) else ""
        if match := _TEXT.fullmatch(written):
            return LikeText(text_vectors([match[1]], capture)[0])
        if match := _PATCHES.fullmatch(written):
            row, col, *other = (int(number) if number else None for number in match.groups())
            value = PatchAlike((row, col), None if other[0] is None else (other[0], other[1]))
        elif match := _REGION.fullmatch(written):
            return self._region(match[1], capture)
        elif likeness(written):
            raise SettingError(NO_IMAGES)
        elif len(pair := _VERSUS.split(written)) == 2:
            return self._of_two(*pair, capture, settings)
        if isinstance(value, PatchAlike):
            check_patches(value.patches, capture.grid(capture.depth - 1))
            return value
        if isinstance(value, Region):
            return self._region("+".join(f"{row}.{col}" for row, col in value.patches), capture)
        if isinstance(value, RatherThan):
            return self._of_two(value.index, value.other, capture, settings)
        if hasattr(value, "embedding"):
            name = value.name if isinstance(value, Alike) else value.input.image_hash[:8]
            patch = value.patch if isinstance(value, Alike) else None
            return self._as_wide(Alike(name, _numbers(value.embedding), patch), capture)
        if isinstance(value, LikeText):
            return LikeText(text_vectors([value.described], capture)[0])
        if getattr(value, "ndim", 0) == 1 and capture.model.projects:
            return LikeText(text_vectors([value], capture)[0])
        if getattr(value, "ndim", 0) == 1:
            numbers = _numbers(value)
            return self._as_wide(Alike(hashlib.sha256(numbers.tobytes()).hexdigest()[:8], numbers), capture)
        return super().parse(value, capture, settings)

    def say(self, value: Target, capture: CaptureProtocol) -> Text:
        """Describe the class with its name, or the similarity."""
        if isinstance(value, RatherThan):
            pair = {"one": super().say(value.index, capture), "other": super().say(value.other, capture)}
            return Text("{one} rather than {other}", "{one}，而非 {other}").format(**pair)
        if isinstance(value, LikeText):
            return Text("similarity to the text “{text}”", "与文字“{text}”的相似度").format(text=value.described.text)
        if isinstance(value, Alike):
            image = Text("image {name}", "图像 {name}").format(name=value.name[:_LETTERS])
            if value.patch is None:
                return Text("similarity to the {image}", "与{image} 的相似度").format(image=image)
            return Text("similarity to the {patch} of the {image}", "与{image} {patch}的相似度").format(
                patch=query_text(value.patch), image=image
            )
        if isinstance(value, Region):
            return Text("similarity of {count:patch} to the whole image", "{count} 个图块与整幅图像的相似度").format(
                count=len(value.patches)
            )
        if isinstance(value, PatchAlike):
            other = Text("whole image", "整幅图像") if value.other is None else query_text(value.other)
            return Text("similarity of the {patch} to the {other}", "{patch}与{other}的相似度").format(
                patch=query_text(value.patch), other=other
            )
        return super().say(value, capture)

    def spec(
        self,
        capture: CaptureProtocol | None = None,
        settings: Mapping[str, Any] | None = None,
        result: Result | None = None,
    ) -> Spec:
        """Describe the control; it offers likely classes, the first versus the next two, and the sharpest patch."""
        spec = super().spec(capture, settings, result)
        if capture is None:
            return spec
        words = WORDS if capture.model.text is None else self.words
        if has_one_output(capture):
            words = {**words, "class": Text("the output", OUTPUT.zh)}
        grid = capture.grid(capture.depth - 1)
        offered: list[Target] = [PatchAlike(sharpest_patch(capture.input.pixels, grid))]
        if capture.logits is not None:
            first, *others = capture.logits.argsort(descending=True)[:3].tolist()
            offered = [*(RatherThan(first, other) for other in others), *offered]
        options = dict(spec.options) | {str(target): self.say(target, capture) for target in offered}
        board = Board.of(grid, capture.input.pixels.shape[:2])
        return replace(spec, options=tuple(options.items()), board=board, words=words)

    def _region(self, written: str, capture: CaptureProtocol) -> Region:
        grid = capture.grid(capture.depth - 1)
        try:
            patches = tuple(sorted(set(cells_of(written, grid))))
        except (TypeError, ValueError, OverflowError):
            patches = ()
        if not patches:
            raise SettingError(NO_REGION.format(value=repr(written.strip())))
        check_patches(patches, grid)
        return Region(patches)

    def _of_two(self, first: Any, second: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> RatherThan:
        if has_one_output(capture):
            raise SettingError(NO_OTHER.format(model=capture.model.title))
        one, other = (super(AnyTargetControl, self).parse(n, capture, settings) for n in (first, second))
        if one == other:
            raise SettingError(
                Text(
                    "A class is compared with another, not with itself.", "一个类别应与另一个类别比较，不能与自身比较。"
                )
            )
        return RatherThan(one, other)

    def _as_wide(self, target: Alike, capture: CaptureProtocol) -> Alike:
        width = len(capture.embedding)
        if target.embedding.shape != (width,):
            raise SettingError(
                Text(
                    "The embedding has {found} numbers and an image's {width} in {model}: take an image's by this "
                    "model.",
                    "该嵌入为 {found} 维，而 {model} 的图像嵌入为 {width} 维：请使用该模型得到的图像嵌入。",
                ).format(found=target.embedding.size, model=capture.model.title, width=width)
            )
        if not np.isfinite(target.embedding).all() or not target.embedding.any():
            raise SettingError(NO_DIRECTION)
        return target


NO_OTHER = Text(
    "{model} has one output, so there is no other class to compare it with. Explain the output itself.",
    "{model} 只有一个输出，因此没有可与之比较的另一个类别。请解释输出值本身。",
)
NO_REGION = Text(
    "A region is one or more patches, written row.col and joined by +, such as 3.4+3.5, not {value}.",
    "区域至少包含一个图块，写作“行.列”并用 + 连接，如 3.4+3.5，而不是 {value}。",
)
NO_IMAGES = Text(
    "No image can be named here: give the capture of the other image, or its embedding.",
    "此处不能按名称指定图像：请给出另一幅图像的前向传播记录或其嵌入。",
)
_LETTERS = 15
"""Letters of an image's id that a sentence quotes"""


def likeness(written: Any) -> tuple[str, Patch | None] | None:
    """Parse `like:IMAGE` or `like:IMAGE patch ROW,COL` into image and patch; None for any other target.

    The page writes a space in place of the colon.
    """
    match = _LIKE.fullmatch(written.strip()) if isinstance(written, str) else None
    if match is None:
        return None
    image, row, col = match.groups()
    return image, None if row is None else (int(row), int(col))


def like_capture(name: str, other: Any, patch: Patch | None = None) -> Alike:
    """Return the target "similarity to another image" (a capture by the same model) or to a patch of it.

    Raises SettingError if there is no such patch.
    """
    if patch is None:
        return Alike(name, _numbers(other.embedding))
    check_patches([patch], other.grid(other.depth - 1))
    return Alike(name, _numbers(other.patch_embedding(patch)), patch)


def _numbers(embedding: Any) -> np.ndarray:
    """Convert a tensor or an array to a float32 array."""
    on_cpu = embedding.detach().cpu() if hasattr(embedding, "detach") else embedding
    return np.asarray(on_cpu, dtype=np.float32)
