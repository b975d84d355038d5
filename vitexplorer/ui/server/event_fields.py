"""Schema of events: every field that a component sends, with its type and bounds.

Handlers get validated fields only and need not check types again.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Number = Annotated[int, Field(ge=-(2**53), le=2**53)]
"""Integer that JavaScript represents exactly"""
Word = Annotated[str, Field(max_length=20_000)]
Settings = Annotated[dict[Word, Word], Field(max_length=200)]
"""Settings as controls write them: name -> text"""


class _Read(BaseModel):
    model_config = ConfigDict(strict=True)


class MethodSent(_Read):
    """A method to train, with its settings and, among them, its learning rate."""

    key: Word
    settings: Settings


class Sent(_Read):
    """Fields that components send; each sends some of them."""

    asked: Number = 0
    """Number of the request, which the answer repeats"""
    block: Number | None = None
    to: Number | None = None
    """Block to go to"""
    row: Number = 0
    col: Number = 0
    index: Number | None = None
    """Index of an image"""
    head: Number | Word | None = None
    """Attention head; or the initial head of a training"""
    pinned: bool = False
    query: Word | None = None
    """Query of a map, or of an address"""
    view: Word | None = None
    settings: Settings = {}
    theme: Word = ""
    room: Word = ""
    image: Word = ""
    """Image id, or a column of a table"""
    target: Word = ""
    task: Word = ""
    model: Word = ""
    weights: Word = ""
    fit: Word = ""
    size: Word = ""
    text: Word = ""
    """Text of changes or of a design; a folder of this machine"""
    texts: Annotated[list[Word], Field(max_length=100)] = []
    """Sentences that an image is compared with"""
    files: Annotated[list[Word], Field(max_length=10_000)] = []
    """Files that were uploaded before"""
    run: Word = ""
    """Training, or one method of it"""
    step: Word = ""
    """Step of the guided path"""
    whole: bool = False
    """True where the answer may run the model"""
    what: Word = ""
    """File to download; method of a map"""
    methods: Annotated[list[MethodSent], Field(max_length=50)] = []
    epochs: Word = ""
    seed: Word = ""
    augmentation: Word = ""
    class_weights: Word = ""
    backbone: Word = ""


class EventSent(_Read):
    """An event as gradio's scripts send it."""

    fn_index: Number
    session_hash: Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,64}$")]
    data: Annotated[list[Any], Field(max_length=100)]
    event_data: dict[str, Any] | None = None
    trigger_id: Number | None = None
    event_id: Word | None = None
    batched: bool | None = None
