"""Loading weights: other class counts, grids and names; refusals in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
import timm
import torch
from torch import nn

from tests.helpers.weight_files import prefixed, same_weights, swin, vit, write
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.weights import load_weights


def refused(module: nn.Module, path: Path) -> str:
    """Return the sentence of the refusal, after checking that the module is unchanged."""
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    with pytest.raises(WeightsError) as caught:
        load_weights(module, path)
    assert all(torch.equal(before[name], tensor) for name, tensor in module.state_dict().items())
    assert caught.value.text.zh != caught.value.text.en
    return str(caught.value)


def test_everything_wrong_is_named_in_one_sentence(tmp_path):
    state_dict = vit().state_dict()
    del state_dict["blocks.0.norm1.weight"]
    state_dict["stranger"] = torch.zeros(1)
    state_dict["norm.weight"] = torch.zeros(3)
    state_dict["norm.bias"] = torch.zeros(24, dtype=torch.int8)
    sentence = refused(vit(1), write(tmp_path / "w.pth", state_dict))
    assert sentence == (
        "w.pth does not fit vit_tiny_patch16_224: 1 missing (blocks.0.norm1.weight), 1 unexpected (stranger), "
        "1 of another shape (norm.weight: 3 / 24), "
        "1 of another kind of number (norm.bias: torch.int8 / torch.float32). Of two values, the file's comes "
        "first."
    )


def test_many_wrong_entries_are_counted_and_the_first_few_named(tmp_path):
    sentence = refused(vit(1, depth=4), write(tmp_path / "w.safetensors", vit().state_dict()))
    assert "24 missing (blocks.2.norm1.weight, blocks.2.norm1.bias, blocks.2.attn.qkv.weight, ...)" in sentence


def test_another_number_of_classes(tmp_path):
    sentence = refused(vit(1), write(tmp_path / "w.pth", vit(num_classes=7).state_dict()))
    assert "2 of another shape (head.weight: 7 x 24 / 5 x 24, head.bias: 7 / 5)" in sentence


def test_a_backbone_is_never_given_a_random_classifier(tmp_path):
    path = write(tmp_path / "mae.pth", {"model": vit(num_classes=0).state_dict()})
    assert "Create the model with num_classes=0" in refused(vit(1), path)
    target = vit(1, num_classes=0)
    assert load_weights(target, path) == ()
    assert same_weights(target, vit(num_classes=0))


def test_an_extra_classifier_is_left_out_and_reported(tmp_path):
    target = vit(1, num_classes=0)
    (note,) = load_weights(target, write(tmp_path / "w.pth", vit().state_dict()))
    assert note.en == "The file's classifier was left out: the model has none."
    whole = vit().state_dict()
    assert all(torch.equal(tensor, whole[name]) for name, tensor in target.state_dict().items())


def test_parts_of_pretraining_are_left_out_and_reported(tmp_path):
    contents = {**vit(num_classes=0).state_dict(), "decoder_embed.weight": torch.zeros(4, 24)}
    contents["decoder_blocks.0.norm1.weight"] = torch.zeros(4)
    (note,) = load_weights(vit(1, num_classes=0), write(tmp_path / "mae.pth", contents))
    assert note.en == "Parts of the pretraining task were left out: decoder_blocks, decoder_embed."


def test_attention_pooling_is_left_out_only_where_no_classifier_reads_it(tmp_path):
    pooled = vit(0, global_pool="map").state_dict()
    path = write(tmp_path / "pooled.pth", pooled)
    with pytest.raises(WeightsError, match=r"unexpected \(attn_pool\."):
        load_weights(vit(1), path)
    left_out = [note.en for note in load_weights(vit(1, num_classes=0), path)]
    assert "Parts of the pretraining task were left out: attn_pool." in left_out


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_other_precisions_go_into_float32(tmp_path, dtype, suffix):
    state_dict = {name: tensor.to(dtype) for name, tensor in vit().state_dict().items()}
    target = vit(1)
    load_weights(target, write(tmp_path / f"w{suffix}", state_dict))
    for name, tensor in target.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, state_dict[name].float())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(tmp_path, value):
    state_dict = vit().state_dict()
    state_dict["blocks.1.mlp.fc1.bias"][3] = value
    path = write(tmp_path / "w.pth", state_dict)
    assert "1 of its entries hold NaN or infinite values (blocks.1.mlp.fc1.bias)" in refused(vit(1), path)


def test_position_embeddings_of_another_grid_are_resampled_as_timm_does_and_reported(tmp_path):
    source, target = vit(img_size=96), vit(1)
    (note,) = load_weights(target, write(tmp_path / "w.pth", source.state_dict()))
    assert "resampled" in note.en
    expected = timm.models.vision_transformer.checkpoint_filter_fn(dict(source.state_dict()), vit())
    assert torch.equal(target.pos_embed, expected["pos_embed"])
    assert target.pos_embed.shape[1] == 4 * 4 + 1


@pytest.mark.filterwarnings("ignore::UserWarning")  # of timm's resampling
def test_relative_position_tables_of_another_window_are_resampled_and_reported(tmp_path):
    source, target = swin(window_size=2), swin(1)
    nn.init.constant_(source.layers[0].blocks[0].attn.relative_position_bias_table, 0.25)
    (note,) = load_weights(target, write(tmp_path / "w.pth", source.state_dict()))
    assert "resampled" in note.en
    table = target.layers[0].blocks[0].attn.relative_position_bias_table
    assert table.shape == (7 * 7, 1)
    torch.testing.assert_close(table, torch.full_like(table, 0.25))


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_position_embeddings_that_fit_need_no_note(tmp_path, suffix):
    assert load_weights(swin(1), write(tmp_path / f"s{suffix}", swin().state_dict())) == ()
    assert load_weights(vit(1), write(tmp_path / f"v{suffix}", vit().state_dict())) == ()


def test_another_patch_size_is_another_model(tmp_path):
    path = write(tmp_path / "w.pth", vit(patch_size=8).state_dict())
    assert refused(vit(1), path) == "w.pth has patches of 8 x 8 pixels and vit_tiny_patch16_224 of 16 x 16."


def test_a_huge_patch_kernel_is_refused_before_timm_resamples_it(tmp_path):
    state_dict = {**vit().state_dict(), "patch_embed.proj.weight": torch.zeros(1, 1, 700, 700)}
    assert "700 x 700" in refused(vit(1), write(tmp_path / "w.pth", state_dict))


def test_another_architecture(tmp_path):
    path = write(tmp_path / "w.pth", vit(patch_size=4).state_dict())
    assert "unexpected (cls_token, pos_embed, blocks.0.norm1.weight, ...)" in refused(swin(1), path)
    path = write(tmp_path / "w.pth", swin(img_size=256, patch_size=16).state_dict())
    assert "missing (cls_token, pos_embed, " in refused(vit(1), path)


def test_a_file_that_breaks_timms_filter(tmp_path):
    table = {"blocks.0.attn.relative_position_bias_table": torch.zeros(9, 2)}
    path = write(tmp_path / "w.pth", {**swin().state_dict(), **table})
    assert "it was written for another architecture" in refused(swin(1), path)


def original_swin(state_dict: dict) -> dict:
    """Rename to Microsoft's names: patch merging ends a stage, the classifier has no `fc`, buffers are saved too."""
    names = {}
    for name, tensor in state_dict.items():
        for stage in (1, 2, 3):
            if name.startswith(f"layers.{stage}.downsample"):
                name = name.replace(f"layers.{stage}.", f"layers.{stage - 1}.", 1)
                break
        names[name.replace("head.fc.", "head.")] = tensor
    return {**names, "layers.0.blocks.0.attn.relative_position_index": torch.zeros(16, 16, dtype=torch.int64)}


def original_clip(state_dict: dict) -> dict:
    """Rename to OpenAI's names, with some of the text tower."""
    swaps = {
        "patch_embed.proj": "conv1",
        "norm_pre": "ln_pre",
        "blocks.": "transformer.resblocks.",
        "attn.qkv.": "attn.in_proj_",
        "attn.proj": "attn.out_proj",
        "mlp.fc1": "mlp.c_fc",
        "mlp.fc2": "mlp.c_proj",
    }
    names = {}
    for name, tensor in state_dict.items():
        for old, new in swaps.items():
            name = name.replace(old, new)
        name = name.replace("norm1", "ln_1").replace("norm2", "ln_2").replace("norm.", "ln_post.")
        names[name] = tensor
    names["class_embedding"] = names.pop("cls_token")[0, 0]
    names["positional_embedding"] = names.pop("pos_embed")[0]
    names["proj"] = names.pop("head.weight").T
    del names["head.bias"]
    return {**prefixed("visual.", names), "logit_scale": torch.ones(()), "text_projection": torch.zeros(3, 3)}


def original_dinov2(state_dict: dict) -> dict:
    """Rename to Meta's names; with registers the class token still has a position."""
    names = dict(state_dict)
    names["register_tokens"] = names.pop("reg_token")
    names["pos_embed"] = torch.cat([torch.zeros(1, 1, 24), names["pos_embed"]], dim=1)
    return {**names, "mask_token": torch.zeros(1, 24)}


def clip(seed: int) -> nn.Module:
    module = vit(seed, pre_norm=True, norm_layer=nn.LayerNorm)
    nn.init.zeros_(module.head.bias)
    return module


def dinov2(seed: int) -> nn.Module:
    return vit(seed, reg_tokens=4, no_embed_class=True, num_classes=0)


@pytest.mark.parametrize(
    ("build", "rename"),
    [(swin, original_swin), (clip, original_clip), (dinov2, original_dinov2)],
    ids=lambda f: f.__name__,
)
def test_names_of_the_original_releases(tmp_path, build, rename):
    source, target = build(0), build(1)
    assert load_weights(target, write(tmp_path / "w.pth", rename(source.state_dict()))) == ()
    assert same_weights(source, target)


def test_deit_3_layer_scale(tmp_path):
    options = {"img_size": 64, "embed_dim": 24, "depth": 2, "num_heads": 2, "num_classes": 5}
    source, target = (timm.create_model("deit3_small_patch16_224", **options) for _ in range(2))
    old = {
        name.replace("ls1.gamma", "gamma_1").replace("ls2.gamma", "gamma_2"): t
        for name, t in source.state_dict().items()
    }
    assert load_weights(target, write(tmp_path / "w.pth", {"model": old})) == ()
    assert same_weights(source, target)


def test_a_module_that_timm_did_not_make(tmp_path):
    path = write(tmp_path / "w.pth", nn.Linear(2, 3).state_dict())
    target = nn.Linear(2, 3)
    assert load_weights(target, path) == ()
    assert "does not fit Linear" in refused(nn.Linear(3, 3), path)
