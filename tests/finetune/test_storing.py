"""Tuned models: formulas against slow twins, files, and use as any other model."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import safetensors.torch
import torch
import torch.nn.functional as F

import vitexplorer as vx
from tests.helpers import reference
from tests.helpers.expected_refusals import is_refused
from tests.helpers.least_settings import cheaply, run_once
from tests.helpers.small_backbones import load_backbone, on_meta, pixels
from tests.helpers.small_models import attention_outputs, picture
from tests.helpers.thorough import in_turn
from tests.helpers.tuned_models import outputs, shaken
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.finetune.attaching import attach, trained
from vitexplorer.finetune.parts.heads import output_layers
from vitexplorer.finetune.storing import load_tuned, save_tuned
from vitexplorer.finetune.trained_parts import parameter_groups, train_mode, trainable
from vitexplorer.models.about import about
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.input_size import at_size
from vitexplorer.models.loading import load_model
from vitexplorer.storage.checked_reading import read_tensors, save_tensors

# ---------------------------------------------------------------------------------------------- slow twins


def block_by_hand(block, tokens, lora=None, adapter=None, parallel=None, ssf=None):
    """Slow twin: one pre-norm ViT block, image by image and head by head, in float64, with a method's additions."""
    scaled = (lambda name, y: y * ssf[name].gamma + ssf[name].beta) if ssf else (lambda name, y: y)
    out = []
    for image in tokens:
        normed = scaled("norm1", F.layer_norm(image, image.shape[-1:], block.norm1.weight, block.norm1.bias, 1e-6))
        qkv = scaled("qkv", normed @ block.attn.qkv.weight.T + block.attn.qkv.bias)
        q, k, v = qkv.chunk(3, -1)
        if lora:  # alpha / r = 10 / 4
            down_q, down_v = lora.down.chunk(2)
            q = q + 2.5 * normed @ down_q.T @ lora.up[0].T
            v = v + 2.5 * normed @ down_v.T @ lora.up[1].T
        heads = []
        for q_h, k_h, v_h in zip(*(x.chunk(block.attn.num_heads, -1) for x in (q, k, v)), strict=True):
            heads.append((q_h @ k_h.T / q_h.shape[-1] ** 0.5).softmax(-1) @ v_h)
        image = image + scaled("proj", torch.cat(heads, -1) @ block.attn.proj.weight.T + block.attn.proj.bias)
        normed = scaled("norm2", F.layer_norm(image, image.shape[-1:], block.norm2.weight, block.norm2.bias, 1e-6))
        hidden = F.gelu(scaled("fc1", normed @ block.mlp.fc1.weight.T + block.mlp.fc1.bias))
        made = scaled("fc2", hidden @ block.mlp.fc2.weight.T + block.mlp.fc2.bias)
        if adapter:
            made = (
                made + F.gelu(made @ adapter.down.weight.T + adapter.down.bias) @ adapter.up.weight.T + adapter.up.bias
            )
        if parallel:
            b = parallel.bottleneck
            made = made + 0.3 * (F.relu(image @ b.down.weight.T + b.down.bias) @ b.up.weight.T + b.up.bias)
        out.append(image + made)
    return torch.stack(out)


@pytest.mark.parametrize("method", ["lora", "adapter", "adaptformer", "ssf"])
def test_a_block_is_the_formula(method):
    settings = {"lora": {"r": 4, "alpha": 10}, "adaptformer": {"scale": 0.3}}.get(method, {})
    block = shaken(attach(load_backbone("vit"), method, 5, **settings)).module.double().blocks[1]
    added = {
        "lora": lambda: {"lora": block.attn.qkv.lora},
        "adapter": lambda: {"adapter": block.mlp.adapter.bottleneck},
        "adaptformer": lambda: {"parallel": block.drop_path2.adaptformer},
        "ssf": lambda: {
            "ssf": {
                "norm1": block.norm1.ssf,
                "qkv": block.attn.qkv.ssf,
                "proj": block.attn.proj.ssf,
                "norm2": block.norm2.ssf,
                "fc1": block.mlp.fc1.ssf,
                "fc2": block.mlp.fc2.ssf,
            }
        },
    }[method]()
    tokens = torch.randn(2, 5, 48, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        torch.testing.assert_close(block(tokens), block_by_hand(block, tokens, **added))


def test_adaptformer_is_outside_of_the_layer_scale():
    block = shaken(attach(load_backbone("beit"), "adaptformer", 5)).module.blocks[0]
    tokens = torch.randn(1, 17, 48, generator=torch.Generator().manual_seed(4))
    part = block.drop_path2.adaptformer
    with torch.no_grad():
        middle = tokens + block.gamma_1 * block.attn(block.norm1(tokens))
        expected = middle + block.gamma_2 * block.mlp(block.norm2(middle)) + 0.1 * part.bottleneck(middle)
        torch.testing.assert_close(block(tokens), expected)


@pytest.mark.parametrize("method", ["vpt_shallow", "vpt_deep"])
def test_prompts_are_tokens_behind_the_class_token(method):
    tuned = shaken(attach(load_backbone("vit"), method, 5, prompts=3))
    module, images = tuned.module, pixels(tuned, 2)
    with torch.no_grad():
        tokens = module._pos_embed(module.patch_embed(images))
        for i, block in enumerate(module.blocks):
            if i == 0:
                tokens = torch.cat([tokens[:, :1], block.prompts.tokens.expand(2, -1, -1), tokens[:, 1:]], 1)
            elif method == "vpt_deep":
                tokens = torch.cat([tokens[:, :1], block.prompts.tokens.expand(2, -1, -1), tokens[:, 4:]], 1)
            tokens = block_by_hand(block, tokens)
        expected = module.head(module.norm(tokens)[:, 0])
        torch.testing.assert_close(module(images), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("backbone", ["vit", "beit", "registers_only", "uneven"])
@pytest.mark.parametrize("method", ["vpt_shallow", "vpt_deep"])
def test_the_pooled_feature_is_of_the_tokens_that_the_module_pools(backbone, method):
    """Read out by timm's own head: prompts have left the sequence before norm and pooling."""
    tuned = shaken(attach(load_backbone(backbone), method, 5, prompts=3), 0.5)
    captured = vx.capture(tuned, picture(64, 64), fit="squash")
    with torch.no_grad():
        features = tuned.module.forward_features(captured.input.tensor)
        assert torch.equal(captured.embedding, tuned.module.forward_head(features, pre_logits=True)[0])


@pytest.mark.parametrize("backbone", ["vit", "beit", "dinov3", "siglip"])
@pytest.mark.parametrize("method", ["vpt_shallow", "vpt_deep"])
@pytest.mark.parametrize("start", [0, 1])
def test_rollout_passes_through_prompts_only_where_they_go_on(backbone, method, start):
    """Slow twin: prompts that a block brings anew are made of themselves; shares still add up to 1."""
    tuned = shaken(attach(load_backbone(backbone), method, 5, prompts=3), 0.5)
    captured = vx.capture(tuned, picture(64, 64), fit="squash")
    first = len(captured.prefix_tokens) - 3
    renewed = (first, first + 1, first + 2) if method == "vpt_deep" else ()
    attentions = [captured.attention(block).double().numpy() for block in range(captured.depth)]
    for fusion, ratio in [("mean", 0.0), ("max", 0.5)]:
        R = reference.rollout(attentions, fusion, ratio, start, first + 3, renewed)
        settings = {"head_fusion": fusion, "discard_ratio": ratio, "start_block": start}
        for query, row in [("mean", R[first + 3 :].mean(0)), ((0, 1), R[first + 4])]:
            result = vx.compute("attention_rollout", captured, query=query, **settings)
            np.testing.assert_allclose(result.values.ravel(), row[first + 3 :], atol=1e-5)
            np.testing.assert_allclose(result.prefix_weights, row[: first + 3], atol=1e-5)
            assert result.values.sum() + result.prefix_mass == pytest.approx(1, abs=1e-5)


def ran(part, given):
    """Compute a layer or norm along the last axis, times its scale plus its shift."""
    made, ssf = part.forward(given), part._modules.get("ssf")
    return made if ssf is None else made * ssf.gamma + ssf.beta


def embedded_by_hand(embed, image):
    """Slow twin: patches of Swin, rows x cols x dim: cut, projected, normed; scaled and shifted after each."""
    made, ssf = embed.proj.forward(image).permute(1, 2, 0), embed.proj._modules.get("ssf")
    normed = embed.norm.forward(made if ssf is None else made * ssf.gamma + ssf.beta)
    ssf = embed._modules.get("ssf")
    return normed if ssf is None else normed * ssf.gamma + ssf.beta


def swin_by_hand(module, images, deep=False):
    """Slow twin: Swin (or V2) with prompts or SSF, window by window; prompts prepended, biases and masks padded."""
    logits = []
    for image in images:
        x = embedded_by_hand(module.patch_embed, image)
        z = x.new_zeros(0, x.shape[-1])
        for stage in module.layers:
            merging = stage.downsample
            if hasattr(merging, "reduction"):
                first = merging.norm.normalized_shape[0] == merging.reduction.in_features
                down = (
                    (lambda t, m=merging: ran(m.reduction, ran(m.norm, t)))
                    if first
                    else (lambda t, m=merging: ran(m.norm, ran(m.reduction, t)))
                )
                rows, cols = -(-x.shape[0] // 2), -(-x.shape[1] // 2)
                x = F.pad(x, (0, 0, 0, 2 * cols - x.shape[1], 0, 2 * rows - x.shape[0]))
                cells = [
                    [x[2 * r : 2 * r + 2, 2 * c : 2 * c + 2].transpose(0, 1) for c in range(cols)] for r in range(rows)
                ]
                x = down(torch.stack([torch.stack([cell.reshape(-1) for cell in row]) for row in cells]))
                z = down(torch.cat([z] * 4, -1))
            for block in stage.blocks:
                if "prompts" in block._modules:
                    z = block.prompts.tokens[0]
                x, z = swin_block_by_hand(block, x, z)
                z = z[:0] if deep else z
        logits.append(module.head.fc(ran(module.norm, x).mean((0, 1))))
    return torch.stack(logits)


def swin_block_by_hand(block, x, z):
    v2 = hasattr(block.attn, "logit_scale")
    (height, width), shift, (rows, cols, dim) = block.window_size, block.shift_size, x.shape
    given = (x, z) if v2 else (ran(block.norm1, x), ran(block.norm1, z))
    grid = given[0].roll((-shift[0], -shift[1]), (0, 1))
    grid = F.pad(grid, (0, 0, 0, -cols % width, 0, -rows % height))
    mask = block.get_attn_mask(grid[None]) if any(shift) else None
    made, prompts, number = torch.zeros_like(grid), [], 0
    for top in range(0, grid.shape[0], height):
        for left in range(0, grid.shape[1], width):
            window = torch.cat([given[1], grid[top : top + height, left : left + width].reshape(-1, dim)])
            extra = (
                torch.zeros(len(window), len(window)) if mask is None else F.pad(mask[number], (len(z), 0, len(z), 0))
            )
            answer = window_attention_by_hand(block.attn, window, extra, len(z), v2, block.window_size)
            prompts.append(answer[: len(z)])
            made[top : top + height, left : left + width] = answer[len(z) :].reshape(height, width, dim)
            number += 1
    made = made[:rows, :cols].roll(shift, (0, 1))
    attended = torch.stack(prompts).mean(0)
    out = []
    for stream, branch in ((x, made), (z, attended)):
        stream = stream + (ran(block.norm1, branch) if v2 else branch)
        hidden = F.gelu(ran(block.mlp.fc1, stream if v2 else ran(block.norm2, stream)))
        made = ran(block.mlp.fc2, hidden)
        out.append(stream + (ran(block.norm2, made) if v2 else made))
    return out


def window_attention_by_hand(attention, window, extra, count, v2, size):
    area = size[0] * size[1]
    bias = torch.zeros(attention.num_heads, len(window), len(window))
    for i in range(area):
        for j in range(area):
            (r, c), (s, t) = divmod(i, size[1]), divmod(j, size[1])
            at = (r - s + size[0] - 1) * (2 * size[1] - 1) + c - t + size[1] - 1
            if v2:
                coords = attention.relative_coords_table.reshape(-1, 2)[at]
                first, _, last = attention.cpb_mlp
                bias[:, count + i, count + j] = 16 * last(F.relu(first(coords))).sigmoid()
            else:
                bias[:, count + i, count + j] = attention.relative_position_bias_table[at]
    qkv = ran(attention.qkv, window)
    if v2:
        qkv = qkv + torch.cat([attention.q_bias, attention.k_bias, attention.v_bias])
    q, k, v = (qkv.reshape(len(window), 3, attention.num_heads, -1)).permute(1, 2, 0, 3)
    if v2:
        scale = attention.logit_scale.clamp(max=np.log(100)).exp()
        scores = scale * F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT
    else:
        scores = q @ k.mT / q.shape[-1] ** 0.5
    mixed = (scores + bias + extra).softmax(-1) @ v
    mixed = mixed.transpose(0, 1).reshape(len(window), -1)
    return ran(attention.proj, mixed)


@pytest.mark.parametrize("backbone", ["swin_padded", "swinv2_padded"])
@pytest.mark.parametrize("method", ["vpt_shallow", "vpt_deep"])
def test_prompts_in_windows_are_vpt_s(method, backbone):
    tuned = shaken(attach(load_backbone(backbone), method, 5, prompts=2), 0.5)
    images = pixels(tuned, 2)
    with torch.no_grad():
        expected = swin_by_hand(tuned.module, images, method == "vpt_deep")
        torch.testing.assert_close(tuned.module(images), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("backbone", ["swin_padded", "swinv2_padded"])
def test_scales_and_shifts_of_swin_are_those_of_the_authors(backbone):
    tuned = shaken(attach(load_backbone(backbone), "ssf", 5), 0.3)
    images = pixels(tuned, 2)
    with torch.no_grad():
        expected = swin_by_hand(tuned.module, images)
        torch.testing.assert_close(tuned.module(images), expected, rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(outputs(vx.merge(tuned).module, images), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("backbone", ["vit", "beit", "eva02", "swin_padded", "swinv2_padded", "parallel"])
def test_lora_leaves_the_keys_alone(backbone):
    tuned = shaken(attach(load_backbone(backbone), "lora", 5, r=2, alpha=1))
    result = 0
    for name, part in tuned.module.named_modules():
        if not hasattr(part, "lora"):
            continue
        result += 1
        delta, width = part.lora.delta(), part.in_features
        assert "k_proj" not in name
        if not name.endswith(("q_proj", "v_proj")):  # one layer: (the MLP,) queries, keys, values
            mlp, queries, keys, values = delta.split([len(delta) - 3 * width, width, width, width])
            assert not mlp.any()
            assert not keys.any()
            delta = torch.cat([queries, values])
        assert delta.any(dim=1).all()
        assert torch.linalg.matrix_rank(delta[:width]) <= 2
    assert result in (3, 6)


def test_a_scale_below_one_is_no_integer_division():
    assert attach(load_backbone("vit"), "lora", 5, r=16, alpha=8).module.blocks[0].attn.qkv.lora.scale == 0.5


def test_the_pixel_frame_is_a_frame():
    tuned = shaken(attach(load_backbone("vit"), "pixel_prompt", 5, pad=5))
    frame = tuned.module.patch_embed.pixels(torch.zeros(1, 3, 64, 64))[0]
    assert not frame[:, 5:-5, 5:-5].any()
    assert (frame != 0).sum() == 2 * 3 * 5 * (64 + 64 - 10)
    with pytest.raises(UnsupportedError, match="64 x 64"):
        tuned.module.patch_embed.pixels(torch.zeros(1, 3, 64, 96))
    with pytest.raises(SettingError, match="less than 32"):
        attach(load_backbone("vit"), "pixel_prompt", 5, pad=32)


# ---------------------------------------------------------------------------------------------- for training


def test_the_merging_trains_with_its_stage():
    one, two = (set(trainable(attach(load_backbone("swin"), "partial_k", 5, k=k).module)) for k in (1, 2))
    assert not any("downsample" in name for name in one)
    assert {name.split(".")[1] for name in two if "downsample" in name} == {"2"}


def test_names_of_classes_are_as_many_as_the_classes():
    for wrong in ({"num_classes": -1}, {"num_classes": 0}, {"num_classes": True}):
        with pytest.raises(SettingError, match="num_classes"):
            attach(load_backbone("vit"), "linear", **wrong)
    with pytest.raises(SettingError, match="num_classes"):
        attach(load_backbone("vit"), "linear", 5, class_names=("a", "b"))


def test_chinese_names_of_the_bundled_classes_come_back(tmp_path):
    tuned = attach(load_model("scenes_vit_patch16_192"), "lora")
    save_tuned(tuned, tmp_path / "tuned.safetensors")
    assert load_tuned(tmp_path / "tuned.safetensors").class_names_zh == tuned.class_names_zh != ()


@pytest.mark.parametrize(("base", "reads_texts"), [("scenes_clip", False), ("scenes_siglip", True)])
def test_a_classifier_on_a_model_of_texts_is_one(tmp_path, base, reads_texts):
    """Texts have no space left once it took the place of a CLIP's projection; a SigLIP's pooling head stays."""
    tuned = attach(load_model(base), "linear", num_classes=3, class_names=("a", "b", "c"))
    save_tuned(tuned, tmp_path / "tuned.safetensors")
    for model in (tuned, load_tuned(tmp_path / "tuned.safetensors")):
        capture = vx.capture(model, picture(192, 192))
        assert (model.num_classes, len(capture.logits)) == (3, 3)
        torch.testing.assert_close(capture.logits, model.module.head(capture.embedding))
        assert np.isfinite(vx.compute("attn_lrp", capture, target="b").values).all()
        assert (model.text is not None) == reads_texts
        if reads_texts:
            assert np.isfinite(vx.compute("text_map", capture, text="a gear").values).all()
        else:
            with pytest.raises(UnsupportedError, match="reads no texts"):
                vx.compute("text_scores", capture, texts=["a gear"])


@pytest.mark.parametrize(("method", "is_noted"), [("linear", False), ("mlp_k", False), ("lora", True), ("norm", True)])
def test_a_map_of_a_text_notes_that_only_the_pictures_were_tuned(tmp_path, method, is_noted):
    save_tuned(attach(load_model("scenes_siglip"), method, num_classes=3), tmp_path / "tuned.safetensors")
    capture = vx.capture(load_tuned(tmp_path / "tuned.safetensors"), picture(192, 192))
    notes = [note.en for note in vx.compute("text_map", capture, text="a gear").notes]
    assert any("text half was not fine-tuned" in note for note in notes) == is_noted


def test_what_was_tuned_at_another_size_comes_back_at_that_size(tmp_path):
    tuned = attach(at_size(load_backbone("swin"), 96), "linear", 3)
    save_tuned(tuned, tmp_path / "tuned.safetensors")
    loaded = load_tuned(tmp_path / "tuned.safetensors", base=load_backbone("swin"))
    assert loaded.preprocessing.input_size == (96, 96)
    image = torch.randn(1, 3, 96, 96, generator=torch.Generator().manual_seed(0))
    assert torch.equal(outputs(loaded.module, image), outputs(tuned.module, image))


@pytest.mark.parametrize("settings", [{}, {"drawn": True}])
def test_ssf_of_an_earlier_version_loads_as_it_was(settings, tmp_path):
    """Earlier files had no scale and shift after Swin's patch projection and its merging norms."""
    earlier = shaken(attach(load_backbone("swin"), "ssf", 3, **settings))
    lately = [name for name in trainable(earlier.module) if "patch_embed.proj" in name or "downsample" in name]
    with torch.no_grad():
        for name in lately:
            earlier.module.get_parameter(name).fill_(float(name.endswith("gamma")))
    whole, file = tmp_path / "whole.safetensors", tmp_path / "earlier.safetensors"
    save_tuned(earlier, whole)
    tensors, header = read_tensors(whole)
    assert len(lately) == 6

    def without(names):
        save_tensors({k: v for k, v in tensors.items() if k not in names}, file, header)
        return load_tuned(file, base=load_backbone("swin"))

    images = pixels(earlier, 2)
    loaded = without(lately)
    assert torch.equal(outputs(loaded.module, images), outputs(earlier.module, images))
    torch.testing.assert_close(
        outputs(vx.merge(loaded).module, images), outputs(earlier.module, images), rtol=1e-3, atol=1e-3
    )
    save_tuned(loaded, file)
    assert torch.equal(outputs(load_tuned(file, load_backbone("swin")).module, images), outputs(earlier.module, images))
    for some in (lately[:1], [*lately, "norm.ssf.gamma"]):
        with pytest.raises(WeightsError, match="does not fit"):
            without(some)


def test_a_hybrid_without_a_projection_takes_scales_and_shifts_but_does_not_merge_them():
    tuned = attach(on_meta("vit_base_mci_224"), "ssf", 3)
    assert tuned.module.patch_embed.ssf.gamma.shape == (768,)
    with pytest.raises(UnsupportedError, match="cannot be merged"):
        vx.merge(tuned)


def test_every_parameter_is_in_one_group():
    for method in vx.methods():
        tuned = attach(load_backbone("vit"), method, 5, **({"pad": 5} if method == "pixel_prompt" else {}))
        groups = parameter_groups(tuned)
        ids = [id(parameter) for group in groups for parameter in group["params"]]
        assert sorted(ids) == sorted(id(parameter) for parameter in trainable(tuned.module).values())
        recipe = vx.methods()[method].recipe
        heads = {id(parameter) for layer in output_layers(tuned.module) for parameter in layer.parameters()}
        for group in groups:
            own = recipe.head_learning_rate if id(group["params"][0]) in heads else None
            assert group["lr"] == (own or recipe.learning_rate)
        assert {group["weight_decay"] for group in groups} <= {0.0, 1e-4}


def test_frozen_parts_stay_in_eval_mode():
    tuned = attach(load_backbone("resnet"), "bitfit", 5)
    train_mode(tuned)
    norms = [part for part in tuned.module.modules() if isinstance(part, torch.nn.BatchNorm2d)]
    assert norms
    assert not any(part.training for part in norms)
    tuned = attach(load_backbone("resnet"), "norm", 5)
    train_mode(tuned)
    assert all(part.training for part in tuned.module.modules() if isinstance(part, torch.nn.BatchNorm2d))
    tuned = attach(load_backbone("vit"), "adaptformer", 5)
    train_mode(tuned)
    block = tuned.module.blocks[2]
    assert block.drop_path1.training  # nothing in it trains
    assert block.drop_path2.training
    assert block.drop_path2.drop_prob == pytest.approx(0.1)
    assert block.drop_path2.adaptformer.bottleneck.dropout.training
    assert not block.attn.training


def test_a_training_step_with_stochastic_depth_still_runs_the_parts():
    tuned = shaken(attach(load_backbone("vit"), "adaptformer", 5))
    images = pixels(tuned, 2)
    expected = outputs(tuned.module, images)
    train_mode(tuned)
    tuned.module.eval()
    assert torch.equal(outputs(tuned.module, images), expected)


# ---------------------------------------------------------------------------------------------- files


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "lora.safetensors"
    tuned = attach(load_backbone("vit"), "lora", 5, class_names=tuple("abcde"))
    save_tuned(shaken(tuned), path, {"epochs": 3})
    return path


def test_a_file_says_what_it_is(file):
    loaded = load_tuned(file, base=load_backbone("vit"))
    assert loaded.class_names == tuple("abcde")
    assert about(file).recipe == {"epochs": 3}
    assert set(safetensors.torch.load_file(file)) == set(trainable(loaded.module))


def test_another_base_is_refused(file):
    other = load_backbone("vit")
    wrong = attach(other, "full", 7)
    with torch.no_grad():
        wrong.module.blocks[0].norm1.weight += 1e-3
    with pytest.raises(WeightsError, match="trained on other weights"):
        load_tuned(file, base=replace(other, module=wrong.module))


def damaged(file, about, tensors):
    before, header = read_tensors(file)
    words = {**json.loads(header["vitexplorer"]), **about}
    safetensors.torch.save_file({**before, **tensors}, file, {"vitexplorer": json.dumps(words)})


@pytest.mark.parametrize(
    ("about", "tensors", "error"),
    [
        ({"version": 2}, {}, WeightsError),
        ({"settings": None}, {}, WeightsError),
        ({"num_classes": "many"}, {}, (WeightsError, ValueError)),
        ({"method": "lorra"}, {}, UnknownNameError),
        ({"settings": {"r": 4, "alpha": 8}}, {}, WeightsError),
        ({}, {"head.bias": torch.zeros(6)}, WeightsError),
        ({}, {"head.bias": torch.full((5,), float("nan"))}, WeightsError),
        ({}, {"blocks.0.norm1.weight": torch.zeros(48)}, WeightsError),
    ],
)
def test_a_file_that_was_changed_gets_a_sentence(file, about, tensors, error):
    damaged(file, about, tensors)
    with pytest.raises(error):
        load_tuned(file, base=load_backbone("vit"))


def test_what_is_no_file_of_ours_gets_a_sentence(tmp_path):
    (tmp_path / "x.safetensors").write_bytes(b"\x80\x04not a tensor")
    with pytest.raises(WeightsError, match=r"x\.safetensors is not a tuned model"):
        load_tuned(tmp_path / "x.safetensors")


def test_a_base_is_found_by_its_name(tmp_path):
    tuned = shaken(vx.attach(load_model("test_vit", "random", seed=3, device="cpu"), "lora", 4))
    vx.save_tuned(tuned, tmp_path / "tuned.safetensors")
    loaded = vx.load_tuned(tmp_path / "tuned.safetensors", device="cpu")
    assert torch.equal(outputs(loaded.module, pixels(tuned)), outputs(tuned.module, pixels(tuned)))


# ---------------------------------------------------------------------------------------------- as a model


def test_a_tuned_model_cannot_be_tuned_over(tmp_path):
    with pytest.raises(UnsupportedError, match="already carries LoRA"):
        attach(attach(load_backbone("vit"), "lora", 5), "ssf", 5)


def test_a_model_without_classifier_wants_a_number():
    with pytest.raises(SettingError, match="num_classes"):
        attach(load_backbone("encoder"), "lora")


def test_settings_are_checked():
    with pytest.raises(UnknownNameError, match="Did you mean 'prompts'"):
        attach(load_backbone("vit"), "vpt_deep", 5, prompt=3)
    with pytest.raises(SettingError, match="at most 3"):
        attach(load_backbone("vit"), "partial_k", 5, k=4)
    with pytest.raises(SettingError, match="whole number"):
        attach(load_backbone("vit"), "lora", 5, r=2.5)


def test_the_head_is_the_same_for_every_method():
    heads = [attach(load_backbone("vit"), method, 5).module.head.weight for method in ("linear", "lora", "ssf", "full")]
    assert all(torch.equal(head, heads[0]) for head in heads)


SEEN_WHOLE = ["vit", "dinov2_registers", "siglip", "beit", "dinov3", "swin_padded", "swinv2_padded"]
ADDED = ["vpt_deep", "lora", "vpt_shallow", "adaptformer", "ssf"]


@cache
def plain_capture(backbone):
    model = load_backbone(backbone)
    return vx.capture(model, picture(*model.preprocessing.input_size), fit="squash")


def tuned_capture(method, backbone):
    model = load_backbone(backbone)
    tuned = trained(shaken(attach(model, method, 7, class_names=tuple("abcdefg"))))
    return vx.capture(tuned, picture(*model.preprocessing.input_size), fit="squash")


@pytest.mark.parametrize("backbone", SEEN_WHOLE)
@pytest.mark.parametrize("method", ADDED)
def test_a_tuned_model_is_seen_whole(method, backbone):
    plain, capture = plain_capture(backbone), tuned_capture(method, backbone)
    tuned = capture.model
    with torch.no_grad():
        torch.testing.assert_close(capture.logits, tuned.module(capture.input.tensor)[0])
    prompts = 10 if method.startswith("vpt") else 0
    assert capture.depth == plain.depth
    for block, output in enumerate(attention_outputs(capture)):
        weights = capture.attention(block)
        assert weights.shape[-1] == plain.attention(block).shape[-1] + prompts
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights.sum(-1)))
        call = capture.call(block)
        torch.testing.assert_close(call.weights() @ call.value, output, rtol=1e-4, atol=1e-4)
        in_sequence = prompts if "swin" not in backbone else 0
        for stream, expected in (
            (capture.residual(block), plain.residual(block)),
            (capture.residual_after(block), plain.residual_after(block)),
        ):
            assert stream.shape == (len(expected) + in_sequence, expected.shape[1])
    if prompts and "swin" not in backbone:
        assert capture.prefix_tokens == (*plain.prefix_tokens, *(f"prompt{n}" for n in range(1, 11)))
    last = capture.residual_after(capture.depth - 1)[None]
    with torch.no_grad():
        own = tuned.family.read_out(tuned.module, last, tuned.family.own_reading(tuned.module))
    torch.testing.assert_close(own[0], capture.logits, rtol=1e-4, atol=1e-4)


@cache
def shapes_of(backbone):
    """Return the shapes of each view for the untuned model; views that run it many times add nothing here."""
    views = [view for view in run_once() if not is_refused(view, backbone)]
    return {view: cheaply(view, plain_capture(backbone)).values.shape for view in views}


@pytest.mark.parametrize(("backbone", "method"), in_turn(SEEN_WHOLE, ADDED))
def test_every_view_explains_a_tuned_model(backbone, method):
    capture = tuned_capture(method, backbone)
    for view, shape in shapes_of(backbone).items():
        result = cheaply(view, capture)
        if not method.startswith("vpt") and view not in ("parameters", "parameter_tree", "cost"):
            assert result.values.shape == shape
        assert result.provenance.weights == "fine-tuned"
