"""Description of a survey, `survey.json`: written once at the start and never changed.

It records the questions, the model and the images, so that a killed survey resumes with the same questions and every
answer can be interpreted without the model.
"""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import nn

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.core.types import Fit, Size, Weights
from vitexplorer.evaluation.methods import settings_of
from vitexplorer.models.loading import LoadedModel
from vitexplorer.storage.atomic_writes import replace_text
from vitexplorer.storage.checked_reading import Count, broken
from vitexplorer.survey.columns import Described
from vitexplorer.survey.schema import FILE_COLUMNS, Schema

CARD = "survey.json"
FORMAT = 1
Whole = Annotated[int, Field(gt=0, le=2**31)]


class SurveyError(ExplainedError):
    """Raised when a survey cannot begin, resume or be opened; the message gives the reason and a remedy."""


class Card(BaseModel):
    """Description of a survey."""

    model_config = ConfigDict(frozen=True)

    format: Literal[1]
    model: str
    weights: Weights
    weights_source: str
    """Source of the weights, see `Provenance`"""
    weights_hash: str
    """SHA-256 of the names and numbers of the module, 64 hexadecimal digits"""
    fit: Fit
    size: Size
    """Input (height, width) of the model in pixels; under fit "native" each image has its own"""
    resized: bool
    """True if the size was given instead of the model's own"""
    questions: dict[str, dict[str, str]]
    """Settings of each question, by its key"""
    left_out: dict[str, Text]
    """Questions that do not apply to the model, with the reason"""
    columns: tuple[Described, ...]
    """Columns of the rows, in their order"""
    heads: tuple[Count, ...]
    """Number of heads of each block; a column of heads has blocks x max(heads) numbers, block after block"""
    prefix_tokens: tuple[str, ...]
    class_names: tuple[Text, ...]
    """Names of the model's classes; empty if unknown"""
    labels: Literal["folders"] | None
    source: str
    """Absolute path of the folder or table; empty for a list of paths"""
    root: str
    """Folder that paths are relative to; paths outside it are absolute"""
    findings: tuple[Text, ...]
    """Notes from reading the source, above all on images left out"""
    rows_planned: Count
    rows_per_shard: Whole
    begun: datetime

    @property
    def is_of_folder(self) -> bool:
        """True if the images are those below a folder; a table or a list may name images anywhere."""
        return self.source == self.root

    @property
    def shards(self) -> int:
        """Number of files of rows in the finished survey."""
        return -(-self.rows_planned // self.rows_per_shard)

    def rows_of(self, shard: int) -> int:
        """Return the number of rows in a shard; the last one has the rest."""
        return min(self.rows_per_shard, self.rows_planned - shard * self.rows_per_shard)


def card_of(
    model: LoadedModel,
    schema: Schema,
    fit: Fit,
    *,
    labels: Literal["folders"] | None,
    source: str,
    root: Path,
    findings: tuple[Text, ...] = (),
    rows: int = 0,
    rows_per_shard: int = 1,
) -> Card:
    """Make the card of a survey that begins now."""
    return Card(
        format=FORMAT,
        model=model.provenance.model,
        weights=model.provenance.weights,
        weights_source=model.provenance.weights_source,
        weights_hash=weights_hash(model.module),
        fit=fit,
        size=schema.input_size,
        resized=model.unsized is not None,
        questions={question.key: settings_of(question.key) for question in schema.questions},
        left_out=schema.left_out,
        columns=(*FILE_COLUMNS, *schema.columns),
        heads=schema.heads,
        prefix_tokens=model.prefix_tokens,
        class_names=model.class_texts,
        labels=labels,
        source=source,
        root=str(root),
        findings=findings,
        rows_planned=rows,
        rows_per_shard=rows_per_shard,
        begun=datetime.now(UTC),
    )


def weights_hash(module: nn.Module) -> str:
    """Compute the SHA-256 of the names, types and values of a module's parameters and buffers."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


def write_card(folder: Path, card: Card) -> None:
    """Write the card into a survey's folder. Raises DiskFullError."""
    text = json.dumps(card.model_dump(mode="json"), ensure_ascii=False, indent=1)
    replace_text(folder / CARD, text)


def read_card(folder: str | os.PathLike) -> Card:
    """Read the card of a survey. Raises SurveyError if there is none, BrokenFileError if it is damaged."""
    path = Path(folder).expanduser() / CARD
    try:
        return Card.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise SurveyError(_NO_SURVEY.format(folder=path.parent.name)) from None
    except (OSError, ValidationError):
        raise broken(path, remedy=_REMEDY) from None


def check_same(old: Card, new: Card, folder: Path) -> None:
    """Raise SurveyError, naming the difference, if the survey in a folder is not the requested one."""
    for fields, sentence in _DIFFERENCES:
        if any(getattr(old, field) != getattr(new, field) for field in fields):
            before, now = (_field_text(card, fields[0]) for card in (old, new))
            difference = sentence.format(before=before, now=now)
            raise SurveyError(_ANOTHER.format(folder=folder.name, what=difference))


# ------------------------------------------------------------------------------------------------- the sentences

_NO_SURVEY = Text(
    "There is no survey in {folder}: `survey.json` is missing. Check the path.",
    "{folder} 中没有普查：缺少 `survey.json`。请检查路径。",
)
_REMEDY = Text("Choose another folder and run the survey again.", "请另选文件夹并重新运行普查。")
_ANOTHER = Text(
    "The folder {folder} holds another survey: {what}. Choose another folder for this one.",
    "文件夹 {folder} 中已有另一项普查：{what}。请为本次普查另选文件夹。",
)
_DIFFERENCES = (
    (("model",), Text("its model is {before}, not {now}", "其模型是 {before}，而不是 {now}")),
    (("weights_hash",), Text("its model has other weights", "其模型的权重不同")),
    (("fit",), Text("its images were fitted by {before}, not by {now}", "其图像的适配方式是 {before}，而不是 {now}")),
    (("size",), Text("its images were {before} pixels, not {now}", "其图像为 {before} 像素，而不是 {now}")),
    (("questions", "left_out"), Text("it was asked {before}, not {now}", "其问题是 {before}，而不是 {now}")),
    (("source", "root"), Text("its images are those of {before}, not of {now}", "其图像来自 {before}，而不是 {now}")),
    (("labels",), Text("its labels are {before}, not {now}", "其标签是 {before}，而不是 {now}")),
)


def _field_text(card: Card, field: str) -> Text:
    value = getattr(card, field)
    if field == "size":
        value = " × ".join(map(str, value))
    if field == "questions":
        value = ", ".join([*value, *card.left_out])
    if field == "source":
        value = Path(value).name if value else ""
        return Text(f'"{value}"', f"“{value}”") if value else _A_LIST
    return Text("none", "无") if value is None else Text(str(value), str(value))


_A_LIST = Text("a list of paths", "路径列表")
