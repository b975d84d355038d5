"""Settings of an installation, validated; each is an environment variable with the prefix VIT_.

`VIT_PORT=8080 VIT_DOWNLOADS=0 python app.py`. A wrong value or a mistyped name stops the start with a message: whoever
writes VIT_DOWNLOAD=0 must not run a server with open downloads.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from vitexplorer.core.text import ExplainedError, Language, Text

_PACKAGE = Path(__file__).resolve().parents[1]
ASSETS = _PACKAGE / "assets" if (_PACKAGE / "assets").is_dir() else _PACKAGE.parent / "assets"
"""Folder of bundled models and examples: inside an installed package, beside the package in a checkout"""
PREFIX = "VIT_"

ON_SPACE = "SPACE_ID" in os.environ
Count = Annotated[int, Field(ge=0, le=10**9)]
"""Type of a count; the bound refuses numbers that would fail later, when they are used"""
PROGRAM_MEGABYTES = 1100
"""Memory of torch, timm, gradio and the page with empty caches"""
SMALL_CACHES_MEGABYTES = 400
"""Memory of caches that no setting bounds: uploads (128), folders and features to train on (176), thumbnails (32)"""


def _hosted(hosted: int, local: int) -> Callable[[dict[str, Any]], int]:
    """Make a default that depends on the earlier field `hosted`."""
    return lambda given: hosted if given.get("hosted") else local


class Settings(BaseSettings):
    """Settings that the owner of an installation may change."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True)

    host: str = Field("0.0.0.0" if ON_SPACE else "127.0.0.1", description="address to listen on")
    port: int = Field(7860, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    hosts: str = Field(
        os.environ.get("SPACE_HOST", ""),
        pattern=r"^[\w.*:\[\], -]*$",
        description="names of the page besides this machine's own, with commas; *.a.org for all below a.org",
    )
    origins: str = Field(
        "",
        pattern=r"^(https?://[\w.:\[\]-]+[, ]*)*$",
        description="other sites whose pages may ask this one, as https://a.org, with commas",
    )
    frames: str = Field(
        "'self' https://huggingface.co" if ON_SPACE else "'self'",
        pattern=r"^[^;,\s]+( [^;,\s]+)*$",
        description="sites that may show the page in a frame, with spaces, as in a Content-Security-Policy",
    )
    proxies: str = Field(
        "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16" if ON_SPACE else "",
        pattern=r"^[\da-fA-F.:/, ]*$",
        description="addresses or networks of proxies whose X-Forwarded-* headers are believed, with commas",
    )
    hosted: bool = Field(ON_SPACE, description="whether visitors see their own trainings only and name no folder")
    connections: Count = Field(800, gt=0, description="most connections at once")
    language: Language = Field("en", description="language of the command line and of notebooks: en or zh")
    first: str = Field(
        "",
        description="what the page shows first, as the address of a link has it; nothing: a photograph where the"
        " weights of DINO are on this machine, otherwise a drawn scene",
    )
    first_sharpens: bool = Field(
        True, description="whether an opening picture sharpens by itself while nothing waits for the model"
    )
    model: str = Field(
        "scenes_vit_patch16_192", description="model of the command line and of scripts where none is named"
    )
    log_requests: bool = Field(False, description="whether each request and event is told in a line of JSON")
    mcp: bool = Field(False, description="whether agents may use the endpoints as tools, at /gradio_api/mcp/")
    downloads: bool = Field(True, description="whether visitors may fetch pretrained weights")
    any_model: bool = Field(not ON_SPACE, description="whether visitors may load timm names outside the catalogue")
    max_megapixels: float = Field(40, gt=0, le=400, description="largest image accepted")
    max_upload_megabytes: Count = Field(
        200 if ON_SPACE else 4096, gt=0, description="largest file accepted, zips of images included"
    )
    sent_megabytes: Count = Field(
        default_factory=_hosted(400, 0), description="most that one address may send in an hour; 0: as much as it likes"
    )
    cache_folder: str = Field(
        "", description="where sent files and drawn figures lie; nothing: in the system's folder for temporary files"
    )
    cache_megabytes: Count = Field(
        default_factory=_hosted(2048, 16384),
        gt=0,
        description="disk for these; the oldest make room, and all go after two hours",
    )
    data_files: Count = Field(100_000, gt=0, description="most files in a folder or zip of images to fine-tune on")
    data_megabytes: Count = Field(4096, gt=0, description="largest zip of images, unpacked")
    zip_ratio: float = Field(100, ge=1, le=10**6, description="most that a zip may unpack to, in times its own size")
    data_cache_megabytes: Count = Field(2048, description="disk for shrunk copies of the images of one training")
    feature_cache_megabytes: Count = Field(4096, description="disk for what frozen blocks make of images, a job")
    runs_folder: str = Field("runs", description="where trainings and the images they are given are kept")
    keep_days: Count = Field(
        default_factory=_hosted(14, 0), description="days after which what visitors keep there is removed; 0: never"
    )
    visitor_megabytes: Count = Field(
        default_factory=_hosted(2048, 0), description="most that one visitor may keep there; 0: no bound"
    )
    runs_megabytes: Count = Field(
        default_factory=_hosted(20480, 0),
        description="most that all may keep there: the oldest make room, if a day old; 0: no bound",
    )
    trainings: Count = Field(1 if ON_SPACE else 4, description="most trainings at once; 0: no fine-tuning here")
    training_epochs: Count = Field(20 if ON_SPACE else 1000, gt=0, description="most epochs of a training")
    training_hours: float = Field(
        2 if ON_SPACE else 1000, gt=0, le=10**6, description="most hours of a training, by its estimate"
    )
    surveys: Count = Field(1 if ON_SPACE else 2, description="most surveys of folders at once; 0: none is begun here")
    survey_images: Count = Field(
        default_factory=_hosted(2000, 0), description="most images of a survey that a visitor begins; 0: no bound"
    )
    survey_hours: float = Field(
        1 if ON_SPACE else 1000, gt=0, le=10**6, description="hours after which a survey of the page is stopped"
    )
    capture_cache_megabytes: Count = Field(
        1024, description="memory for captures, for what is made of them, and for files on their way to browsers"
    )
    model_cache_megabytes: Count = Field(2048, description="memory for models kept loaded")
    size_megabytes: Count = Field(
        512 if ON_SPACE else 4096, gt=0, description="memory that one image at another input size may take"
    )
    sessions: Count = Field(150, gt=0, description="visitors whose state is kept at once")
    payload_megabytes: float = Field(24, gt=0, le=10**6, description="largest attention sent to a browser in one piece")

    @property
    def memory_megabytes(self) -> int:
        """Most memory of a server in megabytes, without the forward pass that is running."""
        return PROGRAM_MEGABYTES + SMALL_CACHES_MEGABYTES + self.model_cache_megabytes + self.capture_cache_megabytes


class WrongSettingError(ExplainedError):
    """Raised for an environment variable with the prefix VIT_ whose value is invalid or whose name is unknown."""


@cache
def settings() -> Settings:
    """Return the settings of this process, read once.

    Raises:
        WrongSettingError: a variable is invalid or unknown; the message names it.
    """
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    for name in os.environ:
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            raise _unknown(name, known)
    try:
        return Settings()
    except ValidationError as error:
        raise _wrong(error) from None


def _unknown(name: str, known: set[str]) -> WrongSettingError:
    near = difflib.get_close_matches(name.upper(), known, n=1) or sorted(known)
    return WrongSettingError(
        Text(
            "The environment variable {name} is not a setting. There is {near}.",
            "环境变量 {name} 不是有效的设置。可用的有 {near}。",
        ).format(name=name, near=", ".join(near))
    )


def _wrong(error: ValidationError) -> WrongSettingError:
    """Report pydantic's first error with the variable's name and description."""
    first = error.errors()[0]
    field = str(first["loc"][0])
    return WrongSettingError(
        Text(
            "{name}={value} is not possible ({description}): {rule}.", "{name}={value} 无效（{description}）：{rule}。"
        ).format(
            name=PREFIX + field.upper(),
            value=first["input"],
            description=Settings.model_fields[field].description,
            rule=first["msg"],
        )
    )
