"""Download of timm's pretrained weights from the Hugging Face Hub, with progress in bytes and readable errors.

The address is timm's (`pretrained_cfg.hf_hub_id`, safetensors first). huggingface_hub downloads, resumes broken
connections and caches, so timm finds the file afterwards and both honour HF_HOME, HF_ENDPOINT and HF_HUB_OFFLINE.
huggingface_hub checks the size of a plain download; the SHA-256 is checked here.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import timm
from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download, hf_hub_url, try_to_load_from_cache
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import HfFileMetadata, repo_folder_name

from vitexplorer.core.text import ExplainedError, Progress, Text
from vitexplorer.models.catalog import find
from vitexplorer.storage.atomic_writes import is_full

_NO_ADDRESS = Text("timm has no weights on the Hub for {name}.", "timm 在 Hub 上没有 {name} 的权重。")
_NO_FILE = Text("The Hub has no weight file for {name} in {page}.", "Hub 的 {page} 中没有 {name} 的权重文件。")
_FULL = Text(
    "There is no room for the weights of {name} ({size:.0f} MB) in {folder}; make room, or set HF_HOME to another"
    " disk.",
    "{folder} 没有足够空间存放 {name} 的权重（{size:.0f} MB）；请清理空间，或将 HF_HOME 指向其他磁盘。",
)
_DAMAGED = Text(
    "The weights of {name} arrived damaged (their SHA-256 is not the published one); try again.",
    "{name} 的权重在传输中损坏（SHA-256 与公布的不符）；请重试。",
)


class DownloadError(ExplainedError):
    """Raised when weights cannot be fetched; the message says why and what to do, `text` has both languages."""


@dataclass(frozen=True)
class PretrainedState:
    """Availability of a model's pretrained weights: on this machine, on the Hub, or nowhere."""

    kind: Literal["cached", "download", "none"]
    megabytes: float | None
    """File size in 10^6 bytes, from the catalog until the file is here; None if unknown"""


class _Address(NamedTuple):
    """Location of timm's weights: repository, revision, and file names in order of preference."""

    repository: str
    revision: str | None
    files: tuple[str, ...]


def pretrained_state(name: str) -> PretrainedState:
    """Return the availability of the pretrained weights of a timm name, without using the network."""
    address = _address(name)
    if address is None:
        return PretrainedState("none", None)
    if path := _cached(address):
        return PretrainedState("cached", path.stat().st_size / 1e6)
    entry = find(name)
    return PretrainedState("download", entry.megabytes if entry else None)


def download_pretrained(name: str, *, progress: Progress | None = None) -> Path:
    """Return the weight file of a timm name in the Hub's cache, downloading it if it is not there.

    A broken connection is resumed. An error raised by `progress` ends the download and reaches the caller; the part
    that was downloaded is not kept.

    Raises:
        DownloadError: no network or HF_HUB_OFFLINE, no weights for this name, a licence not accepted, an error of
            the Hub, a full disk, or a file that differs from what the Hub announced.
    """
    address = _address(name)
    if address is None:
        raise DownloadError(_NO_ADDRESS.format(name=name))
    if path := _cached(address):
        return path
    file, metadata = _locate(name, address)
    _check_disk(name, metadata)
    raised: list[Exception] = []

    def report(done: int, total: int) -> None:
        try:
            if progress is not None:
                progress(done, total)
        except Exception as error:  # a chunked transfer calls from its own thread, which would swallow the error
            raised.append(error)
            raise

    try:
        path = hf_hub_download(
            address.repository,
            file,
            revision=address.revision,
            library_name="timm",
            library_version=timm.__version__,
            tqdm_class=_reporter(report),
        )
    except Exception as error:  # a chunked transfer has error types of its own
        if not raised and is_full(error):
            raise _disk_full(name, metadata) from error
        if not raised:
            raise _explained(error, name, address) from error
    if raised:
        raise raised[0]
    return _verified(Path(path), name, metadata)


@cache
def _address(name: str) -> _Address | None:
    try:
        config = timm.get_pretrained_cfg(name)
    except RuntimeError:  # a tag that the architecture does not have
        return None
    if config is None or not config.hf_hub_id:
        return None
    repository, _, revision = config.hf_hub_id.partition("@")
    file = config.hf_hub_filename or "pytorch_model.bin"
    if file == "pytorch_model.bin":
        files = ("model.safetensors", file)
    else:
        files = tuple(dict.fromkeys((re.sub(r"(pytorch_model)?\.bin$", r"model.safetensors", file), file)))
    return _Address(repository, revision or None, files)


def _cached(address: _Address) -> Path | None:
    folder = _folder_name(address.repository)
    if not os.path.isdir(os.path.join(constants.HF_HUB_CACHE, folder)):  # quick exit for long model lists
        return None
    for file in address.files:
        path = try_to_load_from_cache(address.repository, file, revision=address.revision)
        if isinstance(path, str):
            return Path(path)
    return None


@cache
def _folder_name(repository: str) -> str:
    return repo_folder_name(repo_id=repository, repo_type="model")


def _locate(name: str, address: _Address) -> tuple[str, HfFileMetadata]:
    """Return the first file that the Hub has, with its metadata; no retries, so being offline fails at once."""
    for file in address.files:
        url = hf_hub_url(address.repository, file, revision=address.revision)
        try:
            return file, get_hf_file_metadata(url)
        except EntryNotFoundError:
            continue
        except (OSError, HTTPError) as error:
            raise _explained(error, name, address) from error
    raise DownloadError(_NO_FILE.format(name=name, page=_page(address)))


def _page(address: _Address) -> str:
    return f"{constants.ENDPOINT}/{address.repository}"


def _explained(error: Exception, name: str, address: _Address) -> DownloadError:
    """Turn an error of huggingface_hub or its HTTP client into one sentence."""
    page = _page(address)
    if isinstance(error, GatedRepoError):
        text = Text(
            "The weights of {name} are behind a licence: accept it at {page} and sign in with `hf auth login`.",
            "使用 {name} 的权重须先同意其许可协议：请在 {page} 同意，再用 `hf auth login` 登录。",
        )
    elif isinstance(error, (RepositoryNotFoundError, RevisionNotFoundError)):
        text = Text(
            "The Hub has no public weights for {name} at {page}; use a bundled model or another one.",
            "Hub 的 {page} 没有 {name} 的公开权重；请改用内置模型或其他模型。",
        )
    elif isinstance(error, HfHubHTTPError):
        text = Text(
            "The Hub answered with error {status} for {name}; try again later, or use a bundled model.",
            "获取 {name} 时 Hub 返回错误 {status}；请稍后重试，或使用内置模型。",
        )
    elif isinstance(error, OfflineModeIsEnabled):
        text = Text(
            "The weights of {name} are not on this machine and HF_HUB_OFFLINE forbids fetching them; use a bundled"
            " model, or download {file} from {page} elsewhere and choose it as a weight file.",
            "本机没有 {name} 的权重，而 HF_HUB_OFFLINE 禁止联网获取；请使用内置模型，"
            "或在别处从 {page} 下载 {file} 并选择该权重文件。",
        )
    else:
        text = Text(
            "The weights of {name} could not be downloaded from {page} ({reason}). Use a bundled model, or download "
            "{file} there on another machine and open it as a weight file.",
            "无法从 {page} 获取 {name} 的权重（{reason}）。请使用内置模型，"
            "或在其他机器上从该页面下载 {file} 并选择该权重文件。",
        )
    reason = (str(error) or type(error).__name__).splitlines()[0]
    status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
    return DownloadError(text.format(name=name, page=page, file=address.files[0], reason=reason, status=status))


def _check_disk(name: str, metadata: HfFileMetadata) -> None:
    folder = Path(constants.HF_HUB_CACHE)
    while not folder.exists():
        folder = folder.parent
    if metadata.size is not None and shutil.disk_usage(folder).free < metadata.size:
        raise _disk_full(name, metadata)


def _disk_full(name: str, metadata: HfFileMetadata) -> DownloadError:
    megabytes = (metadata.size or 0) / 1e6
    return DownloadError(_FULL.format(name=name, size=megabytes, folder=constants.HF_HUB_CACHE))


def _verified(path: Path, name: str, metadata: HfFileMetadata) -> Path:
    """Check the SHA-256 announced in the ETag of a large file; delete a file that differs from the cache."""
    if metadata.etag is None or not re.fullmatch("[0-9a-f]{64}", metadata.etag):
        return path
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != metadata.etag:
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        raise DownloadError(_DAMAGED.format(name=name))
    return path


def _reporter(report: Progress) -> type:
    """Make a class that huggingface_hub uses as a progress bar, one instance for each transfer."""

    class Reporter:
        def __init__(self, *, total: int | None = None, initial: int = 0, **appearance: object):
            self.n, self.total = initial, total
            report(self.n, self.total or 0)

        def update(self, count: int) -> None:
            self.n += count
            report(self.n, self.total or 0)

        def update_transfer(self, count: int) -> None:
            """Ignore bytes over the wire, which a chunked transfer counts apart from the bytes of the file."""

        def set_postfix_str(self, *text: str, refresh: bool = True) -> None:
            """Ignore the speed."""

        set_transfer_postfix_str = set_postfix_str

        def __enter__(self) -> Reporter:
            return self

        def __exit__(self, *error: object) -> None:
            pass

    return Reporter
