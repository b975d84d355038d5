"""The catalog: opens without torch, names are timm's, declared sizes are true, bundled models are found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import timm

from tests.helpers.every_case import check_every
from tests.helpers.meta_models import outline_of
from tests.helpers.tree import ROOT
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import Text
from vitexplorer.models.catalog import _bundled, catalog, convolutional, find, is_convolutional, knows
from vitexplorer.models.measured import measured
from vitexplorer.models.photographs import PICTURES

CURATED = [entry for entry in catalog() if not entry.bundled]
CONVOLUTIONAL = [entry for entry in convolutional() if not entry.bundled]


def test_opens_without_torch_and_timm():
    script = (
        "import sys; from vitexplorer.models.catalog import catalog; catalog()\n"
        "print([name for name in ('torch', 'timm', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert "torch" not in done.stdout
    assert "timm" not in done.stdout


def test_every_curated_name_has_pretrained_weights_in_timm():
    known = set(timm.list_pretrained())
    assert [entry.name for entry in (*CURATED, *CONVOLUTIONAL) if entry.name not in known] == []
    assert all(timm.get_pretrained_cfg(entry.name).hf_hub_id for entry in (*CURATED, *CONVOLUTIONAL))


def test_the_families_of_the_notes_are_there_once_each_name():
    names = [entry.name for entry in catalog()]
    assert len(names) == len(set(names))
    assert 45 <= len(CURATED) <= 65
    families = {"ViT", "R+ViT", "DeiT", "DINO", "DINOv2", "DINOv3", "CLIP", "SigLIP", "MAE", "BEiT", "EVA"}
    assert {entry.family for entry in CURATED} == families | {"Swin", "Swin V2"}


def test_sentences_are_whole_and_in_both_languages():
    def check(sentence: Text) -> None:
        assert sentence.en[0].isupper() or sentence.en[0].isdigit()
        assert sentence.en.endswith(".")
        assert sentence.zh.endswith("。")
        assert not set("{}") & set(sentence.en + sentence.zh)

    check_every({entry.name: entry.sentence for entry in CURATED + CONVOLUTIONAL}, check)


@pytest.mark.parametrize(
    "name",
    [
        "vit_tiny_patch16_224.augreg_in21k_ft_in1k",
        "vit_tiny_r_s16_p8_224.augreg_in21k_ft_in1k",
        "deit_tiny_distilled_patch16_224.fb_in1k",
        "deit3_small_patch16_224.fb_in22k_ft_in1k",
        "vit_small_patch8_224.dino",
        "vit_small_patch14_reg4_dinov2.lvd142m",
        "vit_small_patch16_dinov3.lvd1689m",
        "vit_base_patch32_clip_quickgelu_224.openai",
        "vit_base_patch16_siglip_224.webli",
        "beit_base_patch16_224.in22k_ft_in22k_in1k",
        "eva02_tiny_patch14_224.mim_in22k",
        "swin_tiny_patch4_window7_224.ms_in1k",
        "swinv2_tiny_window8_256.ms_in1k",
        *(entry.name for entry in CONVOLUTIONAL),
    ],
)
def test_declared_sizes_are_true(name):
    module = outline_of(name)
    parameters = sum(parameter.numel() for parameter in module.parameters())
    assert find(name).megabytes == pytest.approx(parameters * 4 / 1e6, rel=0.01)


def test_find():
    assert find("vit_base_patch16_224.mae").family == "MAE"
    assert find("vit_base_patch16_224.ma") is None


def bundle(folder: Path, name: str) -> None:
    (folder / name).mkdir()
    (folder / name / "config.json").write_text("{}")
    (folder / name / "model.safetensors").write_bytes(bytes(2_500_000))


def test_bundled_models_are_what_lies_in_the_folder(tmp_path):
    assert _bundled(tmp_path) == ()
    bundle(tmp_path, "scenes_vit_patch16_192")
    bundle(tmp_path, "scenes_dino_patch16_192")
    (tmp_path / "scenes_swin").mkdir()  # a card without weights is no model
    dino, vit = _bundled(tmp_path)
    assert (dino.name, dino.family, dino.megabytes, dino.bundled) == ("scenes_dino_patch16_192", "DINO", 2.5, True)
    assert "without labels" in dino.sentence.en
    assert "标签" in dino.sentence.zh
    assert vit.family == "ViT"


def test_a_bundled_cnn_is_offered_for_fine_tuning_alone():
    assert [entry.family for entry in convolutional() if entry.bundled] == ["ResNet"]
    names = {entry.name for entry in catalog()}
    assert not [entry.name for entry in convolutional() if entry.name in names]
    assert is_convolutional("resnet18.a1_in1k")
    assert not is_convolutional("vit_base_patch16_224.mae")


def test_the_bundled_models_of_this_checkout_come_first():
    bundled = [entry.bundled for entry in catalog()]
    assert bundled == sorted(bundled, reverse=True)


def test_limits_of_a_bundled_model_are_stated() -> None:
    learned = measured({"20-nearest-neighbour accuracy": 0.8, "20-nearest-neighbour accuracy, untrained": 0.1})
    assert [text.en for text in learned] == [
        "Measured on held-out pictures: 20-nearest-neighbour accuracy 80.0 % (untrained: 10.0 %)."
    ]
    (drawn,) = measured({"reconstruction error, ratio": 0.314})
    assert "31 % of" in drawn.en
    assert "31 %" in drawn.zh
    (taught,) = measured({"accuracy": 0.9, "accuracy of the teacher": 0.95})
    assert "accuracy 90.0 %; its teacher's 95.0 %" in taught.en
    parted = measured({"accuracy": 0.9, "accuracy, one part taken away": 0.8, "classes found among several": 0.7})[0]
    assert "accuracy 90.0 %; with one part taken away 80.0 %; of several objects it finds 70.0 %" in parted.en
    unlearned = measured({"20-nearest-neighbour accuracy": 0.11, "20-nearest-neighbour accuracy, untrained": 0.1})
    assert "almost nothing" in unlearned[-1].en
    assert "几乎没有" in unlearned[-1].zh
    assert measured({}) == ()


def test_a_sentence_says_what_to_look_for_and_the_card_how_good_it_is() -> None:
    for entry in (*catalog(), *convolutional()):
        if entry.bundled:
            assert "Measured" not in entry.sentence.en
            assert re.search(r"Look at|[Cc]ompare|\b[Ss]ee\b", entry.sentence.en)
            assert f"{PICTURES[knows(entry.name)].en} only" in entry.sentence.en
            card = (ASSETS / "models" / entry.name / "README.md").read_text(encoding="utf-8")
            assert "| measured on held-out pictures | value |" in card


def test_a_bundled_transformer_names_one_that_knows_photographs() -> None:
    for entry in catalog():
        assert (find(entry.for_photographs) in CURATED) == entry.bundled
