"""Pretrained weights from the Hub: progress, resumption, full disks, and refusals in a sentence."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub.constants
import huggingface_hub.file_download
import pytest
import safetensors.torch
import timm

from tests.helpers.thorough import later
from tests.helpers.tree import ROOT
from tests.helpers.weight_files import same_weights
from vitexplorer.models.hub import DownloadError, PretrainedState, download_pretrained, pretrained_state

NAME = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"
COMMIT = "c" * 40


class FakeHub(BaseHTTPRequestHandler):
    """Server of one file by HEAD and GET as the Hub does; `self.server.hub` sets its behaviour."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass

    def _answer(self, with_body: bool) -> None:
        hub = self.server.hub
        hub.requests.append((self.command, self.path, self.headers.get("Range")))
        if hub.status != 200:
            self.send_response(hub.status)
            self.send_header("X-Error-Code", hub.error_code)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if not self.path.endswith("/" + hub.file):
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start = int(self.headers["Range"].split("=")[1].split("-")[0]) if self.headers.get("Range") else 0
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{hub.etag}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(hub.data) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(hub.data) - 1}/{len(hub.data)}")
        self.end_headers()
        if with_body:
            stop = len(hub.data) if hub.breaks == 0 else min(len(hub.data), start + hub.breaks_after)
            self.wfile.write(hub.data[start:stop])
            if stop < len(hub.data):
                hub.breaks -= 1
                self.close_connection = True

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)


def look_at(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the server at an address for the Hub."""
    constants, path = huggingface_hub.constants, "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + path)


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Iterator[SimpleNamespace]:
    """Hub on this machine, with an empty cache."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeHub)
    data = os.urandom(300_000)
    server.hub = SimpleNamespace(
        data=data,
        etag=hashlib.sha256(data).hexdigest(),
        file="model.safetensors",
        status=200,
        error_code="",
        breaks=0,
        breaks_after=100_000,
        requests=[],
        url=f"http://127.0.0.1:{server.server_port}",
        cache=tmp_path / "hub",
    )
    constants = huggingface_hub.constants
    look_at(server.hub.url, monkeypatch)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(server.hub.cache))
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 10_000)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.file_download.time, "sleep", lambda seconds: None)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server.hub
    server.shutdown()
    server.server_close()
    thread.join()


def test_download_reports_bytes_and_is_cached(hub):
    assert pretrained_state(NAME) == PretrainedState("download", 5_717_416 * 4 / 1e6)
    seen = []
    path = download_pretrained(NAME, progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == hub.data
    assert path.is_relative_to(hub.cache)
    assert seen[0] == (0, 300_000)
    assert seen[-1] == (300_000, 300_000)
    assert len(seen) > 10
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert pretrained_state(NAME) == PretrainedState("cached", 0.3)
    hub.requests.clear()
    assert download_pretrained(NAME) == path
    assert hub.requests == []  # what is cached needs no network


def test_timm_itself_finds_the_file_afterwards(hub, monkeypatch, tmp_path):
    source = timm.create_model("vit_tiny_patch16_224", depth=12)
    hub.data = safetensors.torch.save(source.state_dict())
    hub.etag = hashlib.sha256(hub.data).hexdigest()
    download_pretrained(NAME)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert same_weights(timm.create_model(NAME, pretrained=True, cache_dir=hub.cache), source)


def test_a_broken_connection_is_resumed_where_it_broke(hub):
    hub.breaks = 2
    seen = []
    path = download_pretrained(NAME, progress=lambda done, total: seen.append(done))
    assert path.read_bytes() == hub.data
    ranges = [span for command, _, span in hub.requests if command == "GET"]
    assert ranges == [None, "bytes=100000-", "bytes=200000-"]
    assert seen[-1] == 300_000


def test_a_connection_that_keeps_breaking_is_a_sentence_and_leaves_nothing(hub):
    hub.breaks, hub.breaks_after = 100, 0
    with pytest.raises(DownloadError, match="could not be downloaded"):
        download_pretrained(NAME)
    assert not [path for path in hub.cache.rglob("*") if path.is_file() and path.stat().st_size > 1000]
    hub.breaks = 0
    assert download_pretrained(NAME).read_bytes() == hub.data


def test_the_old_file_name_is_tried_after_safetensors(hub):
    hub.file = "pytorch_model.bin"
    assert download_pretrained(NAME).name == "pytorch_model.bin"
    assert pretrained_state(NAME).kind == "cached"


def test_a_damaged_file_does_not_stay_in_the_cache(hub):
    hub.etag = "0" * 64
    with pytest.raises(DownloadError, match="arrived damaged"):
        download_pretrained(NAME)
    assert pretrained_state(NAME).kind == "download"


def test_an_error_of_the_progress_ends_the_download(hub):
    def stop(done: int, total: int) -> None:
        if done > 50_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download_pretrained(NAME, progress=stop)
    assert pretrained_state(NAME).kind == "download"


def test_a_disk_that_is_full_before(hub, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(DownloadError, match="no room for the weights"):
        download_pretrained(NAME)


def test_a_disk_that_fills_up_on_the_way(hub, monkeypatch):
    def http_get(url, file, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(huggingface_hub.file_download, "http_get", http_get)
    with pytest.raises(DownloadError, match="no room for the weights"):
        download_pretrained(NAME)


@pytest.mark.parametrize(
    ("status", "code", "sentence"),
    [
        (404, "RepoNotFound", "no public weights"),
        (404, "RevisionNotFound", "no public weights"),
        (403, "GatedRepo", "behind a licence"),
        (500, "", "answered with error 500"),
        (429, "", "answered with error 429"),
    ],
)
def test_what_the_hub_answers_becomes_a_sentence(hub, status, code, sentence):
    hub.status, hub.error_code = status, code
    with pytest.raises(DownloadError, match=sentence) as caught:
        download_pretrained(NAME)
    assert NAME in caught.value.text.zh
    assert "\n" not in str(caught.value)


def test_a_repository_without_weights(hub):
    hub.file = "nothing.txt"
    with pytest.raises(DownloadError, match="no weight file"):
        download_pretrained(NAME)


def test_no_network_is_one_sentence_that_says_what_to_do(hub, monkeypatch):
    closed = "http://127.0.0.1:9"
    look_at(closed, monkeypatch)
    with pytest.raises(DownloadError) as caught:
        download_pretrained(NAME)
    assert f"could not be downloaded from {closed}/timm/{NAME}" in str(caught.value)
    assert "bundled model" in str(caught.value)
    assert "model.safetensors" in str(caught.value)


def test_names_without_weights():
    for name in (
        "vit_giant_patch14_224",
        "vit_tiny_patch16_224.no_such_tag",
        "no_such_model",
        "scenes_vit_patch16_192",
    ):
        assert pretrained_state(name) == PretrainedState("none", None)
        with pytest.raises(DownloadError, match="no weights on the Hub"):
            download_pretrained(name)


@pytest.mark.parametrize("offline", [later(False), later(True)])
def test_environment_variables_are_honoured(hub, tmp_path, offline):
    """Run in a process of its own: huggingface_hub reads HF_ENDPOINT and HF_HOME when imported."""
    script = (
        "from vitexplorer.models.hub import download_pretrained, pretrained_state\n"
        f"print(download_pretrained({NAME!r}))\n"
    )
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}
    environment["HF_HUB_OFFLINE"] = "1" if offline else "0"
    del environment["HF_HUB_CACHE"]  # of the tests; it would go before HF_HOME
    command, root = [sys.executable, "-c", script], ROOT
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=root, check=False)
    if offline:
        assert "HF_HUB_OFFLINE forbids fetching them" in done.stderr
        assert hub.requests == []
    else:
        assert done.returncode == 0, done.stderr
        assert Path(done.stdout.strip()).read_bytes() == hub.data
        assert Path(done.stdout.strip()).is_relative_to(tmp_path / "home" / "hub")
