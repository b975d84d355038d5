"""What is explained: a class, one class rather than another, or a similarity, which needs no classifier."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vitexplorer.controls.explained import Alike, Patch, PatchAlike, RatherThan, Target
from vitexplorer.controls.query import no_such_patch
from vitexplorer.controls.sharpest import sharpest_patch
from vitexplorer.controls.spec import Spec
from vitexplorer.controls.target import TargetControl
from vitexplorer.errors import SettingError
from vitexplorer.explored import Explored
from vitexplorer.types import Result, query_text
from vitexplorer.words import Text, same

_PATCHES = re.compile(r"patch\s+(\d+)\s*,\s*(\d+)(?:\s+vs\s+(\d+)\s*,\s*(\d+))?")
_VERSUS = re.compile(r"\s+vs\s+")


@dataclass(frozen=True)
class AnyTargetControl(TargetControl):
    """What is explained; the model's first choice when nobody says, or without classes the sharpest patch.

    `7` or a class's name; `7 vs 3`, one logit minus another; `patch 2,5`, how alike the patch in row 2 and column 5 is
    to the whole image, `patch 2,5 vs 0,1` to another patch. In Python also a capture, or the numbers of an embedding:
    how alike the image is to that.
    """

    label: Text = Text("Target", "解释目标")

    def default(self, capture: Explored) -> Target:
        """The class with the highest logit; without a classifier how alike the sharpest patch is to the image."""
        if capture.logits is not None:
            return super().default(capture)
        return PatchAlike(sharpest_patch(capture.input.pixels, capture.grid(capture.depth - 1)))

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> Target:
        """A class, a pair of classes, a patch or two, or what the image is compared with."""
        if isinstance(value, str) and (found := _PATCHES.fullmatch(value.strip())):
            row, col, *other = (int(number) if number else None for number in found.groups())
            value = PatchAlike((row, col), None if other[0] is None else (other[0], other[1]))
        elif isinstance(value, str) and len(pair := _VERSUS.split(value.strip())) == 2:
            value = RatherThan(*(super(AnyTargetControl, self).parse(one, capture, settings) for one in pair))
        if isinstance(value, PatchAlike):
            return self._on_the_grid(value, capture)
        if isinstance(value, RatherThan):
            return self._of_two(value, capture, settings)
        if hasattr(value, "embedding"):
            name = value.name if isinstance(value, Alike) else value.input.image_hash[:8]
            return self._as_wide(Alike(name, _numbers(value.embedding)), capture)
        if getattr(value, "ndim", 0) == 1:
            numbers = _numbers(value)
            return self._as_wide(Alike(hashlib.sha256(numbers.tobytes()).hexdigest()[:8], numbers), capture)
        return super().parse(value, capture, settings)

    def say(self, value: Target, capture: Explored) -> Text:
        """The class with its name, or what is compared."""
        if isinstance(value, RatherThan):
            pair = {"one": super().say(value.index, capture), "other": super().say(value.other, capture)}
            return Text("{one} rather than {other}", "{one}，而非 {other}").format(**pair)
        if isinstance(value, Alike):
            return Text("similarity to the image {name}", "与图像 {name} 的相似度").format(name=value.name)
        if isinstance(value, PatchAlike):
            other = Text("whole image", "整幅图像") if value.other is None else query_text(value.other)
            return Text("similarity of the {patch} to the {other}", "{patch}与{other}的相似度").format(
                patch=query_text(value.patch), other=other
            )
        return super().say(value, capture)

    def spec(
        self, capture: Explored | None = None, settings: Mapping[str, Any] | None = None, result: Result | None = None
    ) -> Spec:
        """Likely classes, the first of them rather than each of the next two, the sharpest patch, what is chosen."""
        classless = capture is not None and capture.logits is None
        spec = (
            super(TargetControl, self).spec(capture, settings, result)
            if classless
            else self._classes(capture, settings, result)
        )
        if capture is None:
            return replace(spec, takes=TAKES)
        offered: list[Target] = [PatchAlike(sharpest_patch(capture.input.pixels, capture.grid(capture.depth - 1)))]
        if not classless:
            first, *others = self._logits(capture).argsort(descending=True)[:3].tolist()
            offered = [*(RatherThan(first, other) for other in others), *offered]
        options = dict(spec.options) | {str(one): self.say(one, capture) for one in offered}
        return replace(spec, takes=TAKES, options=tuple(options.items()))

    def _classes(self, capture: Explored | None, settings: Mapping[str, Any] | None, result: Result | None) -> Spec:
        """Those that are likely, with a chosen target that is none kept beside them."""
        chosen = (settings or {}).get(self.name)
        if chosen is None or isinstance(chosen, int):
            return super().spec(capture, settings, result)
        plain = super().spec(capture, {}, result)
        written = str(chosen)
        return replace(plain, value=written, options=(*plain.options, (written, self.say(chosen, capture))))

    def _on_the_grid(self, target: PatchAlike, capture: Explored) -> PatchAlike:
        grid = capture.grid(capture.depth - 1)
        for row, col in _patches(target):
            if not (0 <= row < grid.rows and 0 <= col < grid.cols):
                raise no_such_patch(row, col, grid)
        return target

    def _of_two(self, target: RatherThan, capture: Explored, settings: Mapping[str, Any]) -> RatherThan:
        one, other = (super(AnyTargetControl, self).parse(n, capture, settings) for n in (target.index, target.other))
        if one == other:
            raise SettingError(
                Text("A class is compared with another, not with itself.", "一个类别要与另一个类别比较，而不是与自身。")
            )
        return RatherThan(one, other)

    def _as_wide(self, target: Alike, capture: Explored) -> Alike:
        width = len(capture.embedding)
        if target.embedding.shape != (width,):
            raise SettingError(
                Text(
                    "The embedding has {found} numbers and {model} makes {width}: both must come from the same model.",
                    "该嵌入有 {found} 个数，而 {model} 的嵌入有 {width} 个：两者必须来自同一个模型。",
                ).format(found=target.embedding.size, model=capture.model.name, width=width)
            )
        return target


TAKES = same("CLASS | CLASS vs CLASS | patch ROW,COL | patch ROW,COL vs ROW,COL")


def _patches(target: PatchAlike) -> tuple[Patch, ...]:
    return (target.patch,) if target.other is None else (target.patch, target.other)


def _numbers(embedding: Any) -> np.ndarray:
    """A tensor's or an array's numbers, float32."""
    on_cpu = embedding.detach().cpu() if hasattr(embedding, "detach") else embedding
    return np.asarray(on_cpu, dtype=np.float32)
