"""What a browser may send with an event: every field that a component of ours puts into one, and what it can be.

Handlers see what has passed here, and need not ask again whether a text is a text.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Number = Annotated[int, Field(ge=-(2**53), le=2**53)]
"""that JavaScript can count"""
Word = Annotated[str, Field(max_length=20_000)]
Settings = Annotated[dict[Word, Word], Field(max_length=200)]
"""as controls write them: name -> text"""


class _Read(BaseModel):
    model_config = ConfigDict(strict=True)


class MethodSent(_Read):
    """A method to train, with its settings."""

    key: Word
    settings: Settings
    rate: Word = ""


class Sent(_Read):
    """What components send; each sends some of it."""

    asked: Number = 0
    """number of the question, which the answer repeats"""
    block: Number | None = None
    to: Number | None = None
    """the block to go to"""
    row: Number = 0
    col: Number = 0
    index: Number | None = None
    """of an image"""
    head: Number | Word | None = None
    """of the network; or how the head of a training begins"""
    pinned: bool = False
    query: Word | None = None
    """of a map; or of an address"""
    view: Word | None = None
    settings: Settings = {}
    theme: Word = ""
    room: Word = ""
    image: Word = ""
    """a picture; or a column"""
    target: Word = ""
    task: Word = ""
    model: Word = ""
    weights: Word = ""
    fit: Word = ""
    size: Word = ""
    text: Word = ""
    """of changes, or of a design"""
    run: Word = ""
    """a training, or one method of it"""
    step: Word = ""
    """of the guided path"""
    what: Word = ""
    """a file to take home"""
    methods: Annotated[list[MethodSent], Field(max_length=50)] = []
    epochs: Word = ""
    seed: Word = ""
    augmentation: Word = ""
    class_weights: Word = ""
    backbone: Word = ""


class FileSent(_Read):
    """A file that was uploaded before."""

    path: Word
    meta: dict[Literal["_type"], Literal["gradio.FileData"]]


class EventSent(_Read):
    """An event as gradio's scripts send it."""

    fn_index: Number
    session_hash: Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,64}$")]
    data: Annotated[list[Any], Field(max_length=100)]
    event_data: dict[str, Any] | None = None
    trigger_id: Number | None = None
    event_id: Word | None = None
    batched: bool | None = None
