"""First picture: a photograph where weights of DINO are cached, and its weights on a Space."""

from __future__ import annotations

from pathlib import Path

import huggingface_hub.constants
import pytest
import timm

from vitexplorer.models import hub
from vitexplorer.service import first_picture as opening
from vitexplorer.ui.shell.address import Address


@pytest.fixture
def cached(own_environment: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a file of DINO's weights into the Hub's cache."""
    commit = "c" * 40
    folder = tmp_path / f"models--timm--{opening.DINO}"
    for path, text in {f"snapshots/{commit}/model.safetensors": "", "refs/main": commit}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))


def test_a_photograph_comes_first_where_the_weights_are(cached: None) -> None:
    assert timm.get_pretrained_cfg(opening.DINO).hf_hub_id == f"timm/{opening.DINO}"
    first = Address.read({"room": "flow"})
    assert (first.model, first.image, first.size) == (opening.DINO, "chelsea", "384")


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({"image": "scene_ring"}, ("scenes_dino_patch16_192", "scene_ring", "384")),
        ({"model": "scenes_vit_patch16_192"}, ("scenes_vit_patch16_192", "scene_gear", "")),
    ],
)
def test_a_link_opens_the_same_picture_with_and_without_weights(
    cached: None, named: dict[str, str], expected: tuple[str, ...]
) -> None:
    link = Address.read(named)
    assert (link.model, link.image, link.size) == expected


def test_an_installation_that_loads_no_pretrained_weights_shows_the_scene(
    cached: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIT_DOWNLOADS", "0")
    assert Address.read({}).image == "scene_gear"


def test_the_owner_decides_first(cached: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIT_FIRST", opening.SCENE)
    assert Address.read({}).image == "scene_gear"


@pytest.mark.parametrize(
    ("is_space", "downloads", "fetched"), [(True, "1", [opening.DINO]), (True, "0", []), (False, "1", [])]
)
def test_only_a_space_fetches_weights_when_it_starts(
    own_environment: None, monkeypatch: pytest.MonkeyPatch, is_space: bool, downloads: str, fetched: list[str]
) -> None:
    monkeypatch.setattr(opening, "ON_SPACE", is_space)
    monkeypatch.setenv("VIT_DOWNLOADS", downloads)
    names: list[str] = []
    monkeypatch.setattr(hub, "download_pretrained", names.append)
    opening.fetch_first()
    assert names == fetched


def test_without_a_network_the_scene_stays(own_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "ON_SPACE", True)
    opening.fetch_first()  # HF_HUB_OFFLINE is set for all tests
    assert opening.first_picture() == opening.SCENE
