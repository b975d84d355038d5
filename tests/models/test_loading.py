"""`load_model`: timm's own module, the source of its weights, and refusals."""

from __future__ import annotations

import copy
import json
import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from safetensors.torch import load_file, save_file

import vitexplorer as vx
from tests.helpers.small_models import THIN, picture
from tests.helpers.thorough import quick
from tests.helpers.waiting import at_once
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.models import loading
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.families import family_of

ARCHITECTURES = {
    "vit_tiny_patch16_224": "vit",
    "deit_tiny_distilled_patch16_224": "vit",
    "vit_tiny_r_s16_p8_224": "vit",
    "test_vit4": "vit",
    "vit_tiny_patch16_dinov3_qkvb": "eva",
    "eva02_tiny_patch14_224": "eva",
    "swin_tiny_patch4_window7_224": "swin",
    "swinv2_tiny_window8_256": "swin",
}


@pytest.mark.parametrize("name", quick(ARCHITECTURES, ["vit_tiny_r_s16_p8_224", "test_vit4", "eva02_tiny_patch14_224"]))
def test_random_weights_are_timms_under_the_seed(name):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        plain = timm.create_model(name).eval()
    model = vx.load_model(name, weights="random", seed=7, device="cpu")
    assert model.family.key == ARCHITECTURES[name]
    assert not any(part.training for part in model.module.modules())
    assert {n: p.shape for n, p in model.module.named_parameters()} == {n: p.shape for n, p in plain.named_parameters()}
    for (_, ours), (_, theirs) in zip(model.module.named_parameters(), plain.named_parameters(), strict=True):
        assert torch.equal(ours, theirs)
    pixels = torch.randn(1, 3, *model.preprocessing.input_size, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(model.module(pixels), plain(pixels), atol=1e-5, rtol=1e-5)


def test_loading_leaves_the_generator_alone():
    before = torch.get_rng_state()
    vx.load_model("test_vit", weights="random", device="cpu")
    assert torch.equal(torch.get_rng_state(), before)


def test_threads_load_the_same_random_weights():
    models = at_once(*[lambda: vx.load_model("test_vit", weights="random", seed=3, device="cpu")] * 4)
    first, *others = (torch.nn.utils.parameters_to_vector(model.module.parameters()) for model in models)
    assert all(torch.equal(first, other) for other in others)


def test_it_says_what_was_loaded():
    model = vx.load_model("test_vit", weights="random", seed=5, device="cpu")
    assert model.name == model.provenance.model == "test_vit"
    assert model.provenance.is_random
    assert model.provenance.weights_source == "seed 5"
    assert model.class_names == ()  # nothing was learned, so nothing is named


def test_preprocessing_is_what_timm_resolves():
    name = "vit_base_patch16_siglip_224"
    config = timm.data.resolve_data_config(timm.get_pretrained_cfg(name).to_dict())
    module = timm.create_model(name, depth=1)
    preprocessing = loading.describe(name, module, family_of(module, name), "random", "", "cpu", (), None).preprocessing
    assert preprocessing.input_size == config["input_size"][1:]
    assert (preprocessing.mean, preprocessing.std) == (config["mean"], config["std"])
    assert (preprocessing.interpolation, preprocessing.crop_pct) == (config["interpolation"], config["crop_pct"])


def test_an_image_of_the_input_size_passes_untouched_but_for_mean_and_std():
    model = vx.load_model("test_vit", weights="random", device="cpu")
    image = picture(*model.preprocessing.input_size)
    captured = vx.capture(model, image, fit="squash")
    mean, std = model.preprocessing.mean, model.preprocessing.std
    expected = ((image / 255 - mean) / std).transpose(2, 0, 1)
    np.testing.assert_array_equal(captured.input.pixels, image)
    np.testing.assert_allclose(captured.input.tensor[0].numpy(), expected, atol=1e-6)


def test_an_input_that_patches_do_not_fill_is_taken_as_timm_takes_it(monkeypatch):
    """384 pixels in patches of 14: with `dynamic_img_size` timm would refuse the model's own input."""
    name = "vit_so400m_patch14_siglip_384"
    monkeypatch.setattr(loading.timm, "create_model", partial(timm.create_model, **THIN))
    model = vx.load_model(name, weights="random", device="cpu")
    captured = vx.capture(model, picture(384, 384), fit="squash")
    assert captured.attention(0).shape == (3, 27 * 27, 27 * 27)
    assert vx.compute("patch_grid", captured).values.shape == (27 * 27, 14, 14, 3)
    with pytest.raises(SettingError, match="one input size only"):
        vx.capture(model, picture(392, 392), fit="native")


# ------------------------------------------------------------------------------------------------ whose weights


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of bundled models that holds one, `tiny_shapes`."""
    folder = tmp_path / "models" / "tiny_shapes"
    folder.mkdir(parents=True)
    options = {"img_size": 32, "embed_dim": 48, "depth": 2, "num_heads": 3}
    module = timm.create_model("vit_tiny_patch16_224", num_classes=2, **options)
    config = {
        "architecture": "vit_tiny_patch16_224",
        "num_classes": 2,
        "model_args": options,
        "pretrained_cfg": {"input_size": [3, 32, 32], "mean": [0.5] * 3, "std": [0.5] * 3, "label_names": ["a", "b"]},
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file(module.state_dict(), folder / "model.safetensors")
    monkeypatch.setattr(loading, "ASSETS", tmp_path)
    return folder


def test_auto_takes_bundled_weights_where_there_are(shelf):
    model = vx.load_model("tiny_shapes", device="cpu")
    assert (model.provenance.weights, model.provenance.is_random) == ("bundled", False)
    assert model.class_names == ("a", "b")
    assert model.preprocessing.input_size == (32, 32)
    assert model.preprocessing.mean == (0.5, 0.5, 0.5)
    for name, tensor in load_file(shelf / "model.safetensors").items():
        assert torch.equal(model.module.state_dict()[name], tensor)
    assert vx.capture(model, picture(32, 64), fit="native").logits.shape == (2,)


def test_a_bundled_architecture_can_be_random(shelf):
    model = vx.load_model("tiny_shapes", weights="random", device="cpu")
    assert model.provenance.is_random
    assert model.class_names == ()


def test_bundled_models_have_no_pretrained_weights_and_the_other_way_round(shelf):
    with pytest.raises(SettingError, match='tiny_shapes is a bundled model: its trained weights are weights="bundled"'):
        vx.load_model("tiny_shapes", weights="pretrained")
    with pytest.raises(SettingError, match="test_vit is not a bundled model"):
        vx.load_model("test_vit", weights="bundled")


def test_auto_fetches_where_nothing_is_bundled(tmp_path, monkeypatch):
    module = timm.create_model("test_vit")
    save_file(module.state_dict(), tmp_path / "weights.safetensors")
    asked = []

    def download(name, progress=None):
        asked.append(name)
        return tmp_path / "weights.safetensors"

    monkeypatch.setattr(loading, "download_pretrained", download)
    model = vx.load_model("test_vit.r160_in1k", device="cpu")
    assert asked == ["test_vit.r160_in1k"]
    assert model.provenance.weights == "pretrained"
    assert model.provenance.weights_source == "timm/test_vit.r160_in1k"
    assert len(model.class_names) == model.num_classes == 1000
    assert torch.equal(model.module.cls_token, module.cls_token)


# ------------------------------------------------------------------------------------------------ sentences


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("vit_tiny_patch16_22", "vit_tiny_patch16_224"),
        ("swin_tiny_patch4_windov7_224", "swin_tiny_patch4_window7_224"),
        ("vit_base_patch16_224.augreg_in21", "vit_base_patch16_224.augreg_in21k"),
        ("tiny_shape", "tiny_shapes"),
        ("TEST_VIT", "test_vit"),
    ],
)
def test_an_unknown_model_is_answered_with_the_nearest(name, near, shelf):
    with pytest.raises(UnknownNameError) as error:
        vx.load_model(name, weights="random")
    assert str(error.value) == f"Unknown model '{name}'. Did you mean '{near}'?"


@pytest.mark.parametrize("name", ["test_resnet", "edgenext_xx_small", "coat_lite_tiny"])
def test_an_architecture_without_a_family_is_refused_with_the_reason(name):
    with pytest.raises(UnsupportedError, match=rf"^{name} is a \w+: .*\.$"):
        vx.load_model(name, weights="random")


@pytest.mark.parametrize(
    "name", ["levit_128s", "test_maxvit", "twins_pcpvt_small", "crossvit_tiny_240", "tnt_s_patch16_224"]
)
def test_other_families_load_whether_or_not_they_embed_patches_like_vit(name):
    model = vx.load_model(name, weights="random")
    assert model.blocks(model.preprocessing.input_size)
    assert set(model.block_of_parameter.values()) == {-1, *range(len(model.blocks(model.preprocessing.input_size)))}


@pytest.mark.parametrize("spelled", ["{}", "../models/tiny_shapes", "tiny_shapes/", "a" * 5000])
def test_a_folder_is_no_bundled_model(spelled, shelf):
    with pytest.raises((UnknownNameError, SettingError, WeightsError)):
        vx.load_model(spelled.format(shelf), weights="random")
    with pytest.raises(UnknownNameError):
        vx.load_backbone(spelled.format(shelf), weights="random")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a home folder with a folder of weights `mine` and a file `mine.pth`."""
    (tmp_path / "mine").mkdir()
    tensors = timm.create_model("test_vit", num_classes=2).state_dict()
    save_file(tensors, tmp_path / "mine" / "model.safetensors")
    torch.save(tensors, tmp_path / "mine.pth")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


WRITTEN = ["mine", "mine/", "./mine", "~/mine", "~/mine/", "{}/mine", "mine.pth", "~/mine.pth", "{}/mine.pth"]


@pytest.mark.parametrize("written", WRITTEN)
def test_a_path_may_stand_where_a_name_does(written: str, home: Path) -> None:
    name = written.format(home)
    for model in (vx.load_model(name), vx.load_model(Path(name)), vx.load_model(weights=name)):
        assert (model.num_classes, model.provenance.weights) == (2, "file")
        assert model.provenance.weights_source == name.rstrip("/").rpartition("/")[2]


def test_a_name_is_that_before_it_is_a_path(home: Path) -> None:
    (home / "mine").rename("test_vit")
    assert vx.load_model("test_vit", weights="random").provenance.is_random
    assert vx.load_model("./test_vit").num_classes == 2


@pytest.mark.parametrize("written", ["gone/model", "gone.safetensors", "~/gone", "someone/vit-base", Path("gone")])
def test_a_path_that_leads_nowhere_is_refused_with_a_sentence(written: str | Path, home: Path) -> None:
    with pytest.raises(WeightsError, match=f"no file or folder .*{Path(written).name} here"):
        vx.load_model(written)


def test_a_path_brings_its_own_weights(home: Path) -> None:
    with pytest.raises(SettingError, match="mine is a path, which brings its own weights; leave out weights='random'"):
        vx.load_model("mine", weights="random")


def test_a_copy_of_a_model_that_ran_can_be_captured():
    model = vx.load_model("test_vit", weights="random")
    image = picture(160, 160)
    attention = vx.capture(model, image).attention(1)
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(vx.capture(copied, image).attention(1), attention)


def test_a_wrong_seed_is_answered_with_a_sentence():
    with pytest.raises(SettingError, match="seed"):
        vx.load_model("test_vit", weights="random", seed=10**30)
