"""Check of size and crop: the original pictures, cut in other ways, beside how they are fed.

It takes the original pictures; what was cut away is no longer in tensors. Every candidate is the model's own
preprocessing with another cut: the whole picture squashed or padded, and centre crops of usual shares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from PIL import Image
from torch import Tensor

from vitexplorer.capturing.capture import prepare
from vitexplorer.core.text import Text
from vitexplorer.core.types import Fit
from vitexplorer.diagnosis.answers import Judged, gain
from vitexplorer.diagnosis.examination import CLEAR, SUPPORTED, Examination, certainty_of
from vitexplorer.diagnosis.sentences import NO_TIME
from vitexplorer.models.images import AnyImage
from vitexplorer.models.loading import LoadedModel

_SHARES = (0.875, 0.95, 1.0)
_WHAT = Text("The pictures are cut or scaled in another way than {cut}", "图像的裁剪或缩放方式不是“{cut}”")
_ONLY_TENSORS = Text(
    "What was cut away is not in the tensors; give the pictures.", "被裁掉的部分不在张量中；请提供原图。"
)


@dataclass(frozen=True)
class Cut:
    """The model's own preprocessing with a way to cut; called with a picture, returns (3, height, width)."""

    model: LoadedModel
    fit: Fit
    share: float

    def __call__(self, image: Image.Image | AnyImage) -> Tensor:
        """Return the tensor of a picture."""
        preprocessing = replace(self.model.preprocessing, crop_pct=self.share, crop_mode="center")
        return prepare(replace(self.model, preprocessing=preprocessing), image, self.fit).tensor[0].float().cpu()

    @property
    def name(self) -> str:
        """Name for a sentence."""
        return f"crop {self.share:g}" if self.fit == "crop" else self.fit


def check_cropping(exam: Examination) -> None:
    """Judge the answers to other cuts of the original pictures."""
    subject = exam.subject
    if not subject.pictures:
        return exam.cannot_tell("wrong_size_or_crop", _ONLY_TENSORS)
    exam.did_check("wrong_size_or_crop")
    cuts: list[Cut] = [
        Cut(subject.model, "squash", 1.0),
        Cut(subject.model, "pad", 1.0),
        *(Cut(subject.model, "crop", share) for share in _SHARES),
    ]
    rows = exam.few
    usual = exam.feed(exam.fed[rows])
    candidates: list[tuple[Cut, Judged]] = []
    for cut in cuts:
        if not exam.has_time(0.7):
            exam.cannot_tell("wrong_size_or_crop", NO_TIME)
            break
        batch = torch.stack([cut(subject.pictures[row]) for row in rows])
        if not torch.equal(batch, usual):
            candidates.append((cut, exam.judged_batch(batch, rows)))
    if not candidates:
        return None
    before = exam.judged_batch(usual, rows)
    cut, after = max(candidates, key=lambda pair: pair[1].scores.mean())
    rise = gain(before, after)
    least = CLEAR if subject.preprocess is None else SUPPORTED + 1
    if rise < least or after.value <= before.value:
        return None
    exam.add_repair(
        "wrong_size_or_crop",
        _WHAT.format(cut=cut.name),
        before.value,
        after.value,
        certainty=certainty_of(rise),
        repaired=cut,
        evidence={"cut": cut.name, "standard_errors": rise, "pictures": len(rows)},
    )
    return None
