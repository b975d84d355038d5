"""Every setting of an installation, in one validated place; each is an environment variable with the prefix VIT_.

`VIT_PORT=8080 VIT_DOWNLOADS=0 python app.py`. A wrong value stops the start with a sentence.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

ASSETS = Path(__file__).resolve().parent.parent / "assets"

_ON_SPACE = "SPACE_ID" in os.environ


class Settings(BaseSettings):
    """What the owner of an installation may decide."""

    model_config = SettingsConfigDict(env_prefix="VIT_", frozen=True)

    host: str = Field("0.0.0.0" if _ON_SPACE else "127.0.0.1", description="address to listen on")
    port: int = Field(7860, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    downloads: bool = Field(True, description="whether visitors may fetch pretrained weights")
    any_model: bool = Field(not _ON_SPACE, description="whether visitors may load timm names outside the catalogue")
    max_megapixels: float = Field(40, gt=0, le=400, description="largest image accepted")
    max_upload_megabytes: int = Field(40, gt=0, description="largest file accepted")
    capture_cache_megabytes: int = Field(1024, ge=0, description="memory for captures kept to answer from")
    model_cache_megabytes: int = Field(2048, ge=0, description="memory for models kept loaded")
    sessions: int = Field(150, gt=0, description="visitors whose state is kept at once")
    payload_megabytes: float = Field(24, gt=0, description="largest attention sent to a browser in one piece")


@cache
def settings() -> Settings:
    """The settings of this process, read once."""
    return Settings()
