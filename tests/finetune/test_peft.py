"""LoRA against Hugging Face's peft, both ways: equal logits, and a sentence for what cannot be exact."""

from __future__ import annotations

import copy
import json
from types import ModuleType

import pytest
import safetensors.torch
import torch

import vitexplorer as vx
from tests.helpers.small_backbones import load_backbone, pixels
from tests.helpers.tuned_models import outputs, shaken
from vitexplorer.core.text import UnsupportedError
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.peft import CONFIG, WEIGHTS
from vitexplorer.models.checkpoints import WeightsError


@pytest.fixture(scope="module")
def peft() -> ModuleType:
    """Import peft late: it imports all of transformers."""
    return pytest.importorskip("peft")


def plain(backbone, num_classes):
    """Make timm's module with the base's weights and a classifier of its own."""
    module = copy.deepcopy(load_backbone(backbone).module)
    module.reset_classifier(num_classes)
    return module.eval()


@pytest.mark.parametrize(
    "backbone", ["vit", "deit_distilled", "eva02_norm_inside", "dinov3", "swin_padded", "parallel"]
)
def test_what_we_write_peft_reads(backbone, peft, tmp_path):
    tuned = shaken(attach(load_backbone(backbone), "lora", 5, r=3, alpha=2))
    vx.export_peft(tuned, tmp_path)
    theirs = peft.PeftModel.from_pretrained(plain(backbone, 5), tmp_path).eval()
    images = pixels(tuned)
    torch.testing.assert_close(outputs(theirs, images), outputs(tuned.module, images), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("keys", [False, True], ids=["queries and values", "keys too"])
def test_what_peft_writes_we_read(keys, peft, tmp_path):
    config = peft.LoraConfig(r=4, lora_alpha=6, target_modules=["qkv"], modules_to_save=["head"])
    theirs = peft.get_peft_model(plain("vit", 5), config).eval()
    draw = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, parameter in theirs.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.1, generator=draw)
                if not keys:
                    parameter[48:96] = 0
    theirs.save_pretrained(tmp_path)
    if keys:
        with pytest.raises(UnsupportedError, match="queries and values"):
            vx.import_peft(load_backbone("vit"), tmp_path)
        return
    ours = vx.import_peft(load_backbone("vit"), tmp_path)
    images = pixels(ours)
    torch.testing.assert_close(outputs(ours.module, images), outputs(theirs, images), rtol=1e-4, atol=1e-4)
    assert ours.settings == {"r": 4, "alpha": 6}
    assert ours.num_classes == 5


@pytest.mark.parametrize("backbone", ["vit", "eva02_norm_inside"])
def test_there_and_back(backbone, tmp_path):
    tuned = shaken(attach(load_backbone(backbone), "lora", 5, r=3, alpha=2))
    vx.export_peft(tuned, tmp_path)
    again = vx.import_peft(load_backbone(backbone), tmp_path)
    assert again.settings["r"] == 3
    images = pixels(tuned)
    torch.testing.assert_close(outputs(again.module, images), outputs(tuned.module, images))


@pytest.mark.parametrize("backbone", ["beit", "eva02", "swinv2"])
def test_where_peft_would_change_nothing_it_is_refused(backbone, tmp_path):
    with pytest.raises(UnsupportedError, match="without calling it"):
        vx.export_peft(attach(load_backbone(backbone), "lora", 5), tmp_path)


def test_other_methods_have_no_place_in_peft(tmp_path):
    with pytest.raises(UnsupportedError, match="peft has no ssf"):
        vx.export_peft(attach(load_backbone("vit"), "ssf", 5), tmp_path)


def test_a_folder_without_a_lora_is_refused(tmp_path):
    with pytest.raises(WeightsError, match="holds no LoRA"):
        vx.import_peft(load_backbone("vit"), tmp_path)


MOVES_THE_BASE = ("pissa", "pissa_niter_4", "olora", "loftq", "corda", "eva")


@pytest.mark.parametrize(
    "field", [("use_rslora", True), *(("init_lora_weights", how) for how in MOVES_THE_BASE)], ids=str
)
def test_a_lora_of_another_formula_is_refused(field, tmp_path):
    vx.export_peft(attach(load_backbone("vit"), "lora", 5), tmp_path)
    config = json.loads((tmp_path / CONFIG).read_text())
    (tmp_path / CONFIG).write_text(json.dumps({**config, **dict([field])}))
    with pytest.raises(UnsupportedError, match="does not change exactly"):
        vx.import_peft(load_backbone("vit"), tmp_path)


@pytest.mark.parametrize("where", ["moved", "beside"])
def test_a_lora_of_another_layer_is_refused(where, tmp_path):
    vx.export_peft(attach(load_backbone("vit"), "lora", 5), tmp_path)
    tensors = safetensors.torch.load_file(tmp_path / WEIGHTS)
    if where == "moved":
        tensors = {name.replace("qkv", "proj"): tensor for name, tensor in tensors.items()}
    else:
        tensors["base_model.model.norm.weight"] = torch.ones(64)
    safetensors.torch.save_file(tensors, tmp_path / WEIGHTS)
    with pytest.raises(UnsupportedError, match="does not change exactly"):
        vx.import_peft(load_backbone("vit"), tmp_path)
