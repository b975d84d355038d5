"""Weight files of other libraries open without a hint and compute what these libraries compute."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from torch import Tensor

import vitexplorer as vx
from tests.helpers.libraries import CASES, LABELS, made, saved
from tests.helpers.meta_models import without_numbers
from tests.helpers.thorough import always, later, quick
from vitexplorer.capturing.capture import prepare
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.checkpoints.activations import ACTIVATIONS
from vitexplorer.models.checkpoints.contents import Contents, read_contents
from vitexplorer.models.checkpoints.recognise import to_timm_names

PICTURE = np.random.default_rng(0).integers(0, 255, (80, 90, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    "key", quick(CASES, ["vit", "dinov2_registers", "dinov3", "swinv2", "clip", "torchvision_swin"])
)
def test_a_file_says_and_looks_as_its_library_does(key: str, tmp_path: Path) -> None:
    case, module = CASES[key], made(key)
    path = saved(module, tmp_path)
    model = vx.load_model(weights=path)
    captured = vx.capture(model, PICTURE)
    with torch.no_grad():
        expected = case.says(module, captured.input.tensor)
        seen = (
            case.looks(module, captured.input.tensor) if case.looks and key != "mae" else ()
        )  # mae shuffles its tokens
    torch.testing.assert_close(captured.output, expected, rtol=1e-5, atol=1e-5)
    for block, attention in zip(last_blocks(captured, len(seen)), seen, strict=True):
        ours = captured.attention(block)
        torch.testing.assert_close(ours if ours.ndim == 4 else ours[None], attention, rtol=1e-5, atol=1e-5)
    total = len([name for name in read_contents(path).tensors if not name.endswith(("position_index", "coords_table"))])
    assert f"{total - case.tensors_left_out} of {total} tensors" in model.notes[0].en


LIVE = [key for key, case in CASES.items() if case.library == "transformers" and "pvt" not in key and "clip" not in key]


@pytest.mark.parametrize("key", quick(LIVE, ["vit", "dinov2_swiglu", "beit_shared", "swin", "dinov3"]))
def test_parameters_of_a_live_module_open_as_its_saved_folder(key: str, tmp_path: Path) -> None:
    """transformers 5 uses other tensor names in memory than in the files that it writes."""
    module = made(key)
    right = vx.capture(vx.load_model(weights=saved(module, tmp_path)), PICTURE).output
    (tmp_path / "model.safetensors").unlink()
    torch.save(module.state_dict(), tmp_path / "live.pth")
    assert torch.equal(vx.capture(vx.load_model(weights=tmp_path), PICTURE).output, right)
    assert torch.equal(vx.capture(vx.load_model(weights=tmp_path / "live.pth"), PICTURE).output, right)


def test_a_configuration_is_no_others(tmp_path: Path) -> None:
    """Of two weight files beside a configuration, it belongs to the file with the usual name."""
    saved(made("vit"), tmp_path)
    torch.save(made("vit").state_dict(), tmp_path / "other.pth")
    with pytest.raises(WeightsError, match="does not say how many heads"):
        vx.load_model(weights=tmp_path / "other.pth")


def test_parameters_of_a_live_module_open_without_a_configuration(tmp_path: Path) -> None:
    library = pytest.importorskip("transformers")
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 1, "intermediate_size": 96}
    config = library.ViTConfig(**sizes, image_size=64, num_labels=5)
    module = library.ViTForImageClassification(config).eval()
    safetensors.torch.save_file(module.state_dict(), tmp_path / "model.safetensors")
    captured = vx.capture(vx.load_model(weights=tmp_path / "model.safetensors"), PICTURE)
    with torch.no_grad():
        torch.testing.assert_close(captured.output, module(captured.input.tensor).logits, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("key", quick(["vit", "swin", "swinv2", "pvt_v2", "beit", "siglip_whole"], ["vit", "swin"]))
def test_activations_are_those_that_the_configuration_names(key: str, tmp_path: Path) -> None:
    library = pytest.importorskip("transformers.activations")
    module, case = made(key), CASES[key]
    saved(module, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for name in ACTIVATIONS:
        for part in module.modules():
            for place in ("act_fn", "activation_fn", "intermediate_act_fn"):
                if hasattr(part, place):
                    setattr(part, place, library.ACT2FN[name])
        vision = {"vision_config": {**config["vision_config"], "hidden_act": name}} if "vision_config" in config else {}
        (tmp_path / "config.json").write_text(json.dumps({**config, "hidden_act": name, **vision}))
        captured = vx.capture(vx.load_model(weights=tmp_path), PICTURE)
        with torch.no_grad():
            expected = case.says(module, captured.input.tensor)
        torch.testing.assert_close(
            captured.output, expected, rtol=1e-4, atol=1e-5, msg=lambda text, n=name: f"{n}: {text}"
        )


@pytest.mark.thorough
@pytest.mark.parametrize("quick_gelu", [False, True])
def test_what_open_clip_says_beside_its_tensors(quick_gelu: bool, tmp_path: Path) -> None:
    """open_clip's configuration names the pooling and the GELU."""
    library = pytest.importorskip("open_clip")
    vision = {"layers": 2, "width": 64, "head_width": 16, "patch_size": 16, "image_size": 64, "pool_type": "avg"}
    words = {"context_length": 8, "vocab_size": 20, "width": 16, "heads": 1, "layers": 1}
    sizes = library.model.CLIPVisionCfg(**vision), library.model.CLIPTextCfg(**words)
    module = library.model.CLIP(8, *sizes, quick_gelu=quick_gelu).eval()
    torch.save(module.state_dict(), tmp_path / "open_clip_pytorch_model.bin")
    model_config = {"embed_dim": 8, "vision_cfg": vision, "text_cfg": words, "quick_gelu": quick_gelu}
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": model_config}))
    captured = vx.capture(vx.load_model(weights=tmp_path), PICTURE)
    with torch.no_grad():
        expected = module.encode_image(captured.input.tensor)
    torch.testing.assert_close(captured.output, expected, rtol=1e-5, atol=1e-5)
    model_config["vision_cfg"] = {**vision, "pool_type": "none"}
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": model_config}))
    with pytest.raises(WeightsError, match='pool_type = "none"; expected one of tok, avg'):
        vx.load_model(weights=tmp_path)


READ_OUT = ("vit", "deit", "dinov2", "dinov2_registers", "dinov3", "dinov3_gated", "beit", "beit_shared", "clip")
MAPS = ("attention_map", "head_gallery", "attention_rollout", "grad_rollout", "generic_relevance", "grad_cam", "legrad")


@pytest.mark.parametrize("key", quick([*READ_OUT, "torchvision_vit"], ["vit"]))
def test_a_live_module_looks_like_its_file(key: str, tmp_path: Path) -> None:
    module, of_file = made(key), vx.load_model(weights=saved(made(key), tmp_path))
    preprocessing = of_file.preprocessing
    live = vx.wrap(module, mean=preprocessing.mean, std=preprocessing.std)
    assert live.class_names == of_file.class_names
    ours, theirs = (vx.capture(model, PICTURE, fit="squash") for model in (live, of_file))
    torch.testing.assert_close(ours.output, theirs.output, rtol=1e-5, atol=1e-5)
    for view in MAPS:
        settings = {"target": "patch 1,2"} if view in MAPS[3:] and theirs.logits is None else {}
        mine, others = (vx.compute(view, one, **settings).values for one in (ours, theirs))
        np.testing.assert_allclose(mine, others, rtol=1e-5, atol=1e-5, err_msg=view)
    np.testing.assert_allclose(ours.residual_after(1), theirs.residual_after(1), rtol=1e-4, atol=1e-5)


def last_blocks(captured: vx.Capture, layers: int) -> list[int]:
    """Return the blocks whose attention a library returns: all, or the last of each stage."""
    if layers in (0, captured.depth):
        return list(range(layers))
    stages = [captured.site(block).name.split(".")[1] for block in range(captured.depth)]
    return [block for block, stage in enumerate(stages) if stage not in stages[block + 1 :]]


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(made("vit"), tmp_path_factory.mktemp("vit"))


def test_classes_and_preprocessing_come_with_a_folder(vit: Path, tmp_path: Path) -> None:
    folder = copied(vit, tmp_path)
    config = {"image_mean": [0.1, 0.2, 0.3], "image_std": [0.4, 0.5, 0.6], "resample": 3}
    config |= {"do_center_crop": True, "size": {"shortest_edge": 128}, "crop_size": {"height": 64, "width": 64}}
    (folder / "preprocessor_config.json").write_text(json.dumps(config))
    model = vx.load_model(weights=folder)
    assert model.class_names == tuple(LABELS.values())
    prepared = model.preprocessing
    assert (prepared.mean, prepared.std, prepared.interpolation) == ((0.1, 0.2, 0.3), (0.4, 0.5, 0.6), "bicubic")
    assert (prepared.crop_pct, prepared.input_size) == (0.5, (64, 64))
    assert (model.name, model.provenance.weights) == ("vit_48x3_patch16_64", "file")


def test_weights_in_several_files_are_one_model(tmp_path: Path) -> None:
    module = made("vit")
    (tmp_path / "one").mkdir()
    whole, parts = saved(module, tmp_path / "one"), saved(module, tmp_path, max_shard_size="100KB")
    assert len(list(parts.glob("*.safetensors"))) > 1
    one, other = (vx.capture(vx.load_model(weights=path), PICTURE).output for path in (whole, parts))
    assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (lambda places: {**places, "vit.layernorm.bias": "../../etc.safetensors"}, "weight_map"),
        (lambda places: {**places, "vit.layernorm.bias": "gone.safetensors"}, "gone.safetensors"),
        (lambda places: {**places, "vit.more": next(iter(places.values()))}, "vit.more"),
        (lambda places: dict(list(places.items())[1:]), "lists shards that are missing"),
        (lambda places: [], "weight_map"),
    ],
)
def test_an_index_that_lies_is_refused(lie: Callable, message: str, tmp_path: Path) -> None:
    folder = saved(made("vit"), tmp_path, max_shard_size="100KB")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": lie(json.loads(index.read_text())["weight_map"])}))
    with pytest.raises(WeightsError, match=message):
        vx.load_model(weights=folder)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("num_attention_heads", 5, "5 heads cannot share 48 numbers evenly"),
        ("hidden_act", "prelu", 'config.json says hidden_act = "prelu"; expected one of gelu,'),
        ("image_size", 10**9, "image_size = 1000000000; expected a whole number from 1 to 2048"),
        ("layer_norm_eps", "small", 'layer_norm_eps = "small"; expected a number above 0'),
    ],
)
def test_a_configuration_that_cannot_be_is_a_sentence(key: str, value: object, message: str, vit: Path, tmp_path: Path):
    folder = copied(vit, tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, key: value}))
    with pytest.raises(WeightsError, match=message):
        vx.load_model(weights=folder)


def test_unknown_names_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    safetensors.torch.save_file({"some.weight": torch.zeros(2)}, path)
    with pytest.raises(WeightsError, match=r"names in model.safetensors are unknown \(some.weight\)"):
        vx.load_model(weights=path)


def test_parts_of_several_types_are_not_joined(vit: Path, tmp_path: Path) -> None:
    folder, name = copied(vit, tmp_path), "vit.encoder.layer.1.attention.attention.key.weight"
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    safetensors.torch.save_file({**tensors, name: tensors[name].int()}, folder / "model.safetensors")
    with pytest.raises(WeightsError, match=r"blocks\.1\.attn\.key\.weight: torch\.int32"):
        vx.load_model(weights=folder)


@pytest.mark.parametrize("seeds", [always(range(60)), later(range(60, 1000))])
def test_a_changed_file_is_right_or_refused(seeds: range, vit: Path, tmp_path: Path) -> None:
    """No wrong model opens silently. Two exchanged tensors of equal shape cannot be noticed and are not tried."""
    right = vx.capture(vx.load_model(weights=vit), PICTURE).output
    tensors = safetensors.torch.load_file(vit / "model.safetensors")
    (tmp_path / "config.json").write_text((vit / "config.json").read_text())
    refused = 0
    for seed in seeds:
        change = random.Random(seed)
        changed = change.choice(CHANGES)(dict(tensors), change)
        safetensors.torch.save_file(changed, tmp_path / "model.safetensors")
        try:
            output = vx.capture(vx.load_model(weights=tmp_path), PICTURE).output
        except WeightsError:
            refused += 1
        else:
            torch.testing.assert_close(
                output, right, rtol=0.05, atol=0.05, msg=lambda text, seed=seed: f"{seed}: {text}"
            )
    assert 0 < refused < len(seeds)


def renamed(tensors: dict[str, Tensor], change: random.Random) -> dict[str, Tensor]:
    name = change.choice(sorted(tensors))
    return {(f"{one}x" if one == name else one): tensor for one, tensor in tensors.items()}


def missing(tensors: dict[str, Tensor], change: random.Random) -> dict[str, Tensor]:
    del tensors[change.choice(sorted(tensors))]
    return tensors


def transposed(tensors: dict[str, Tensor], change: random.Random) -> dict[str, Tensor]:
    names = [name for name, one in tensors.items() if one.ndim == 2 and one.shape[0] != one.shape[1]]
    name = change.choice(sorted(names))
    return {**tensors, name: tensors[name].T.contiguous()}


def shortened(tensors: dict[str, Tensor], change: random.Random) -> dict[str, Tensor]:
    name = change.choice(sorted(tensors))
    return {**tensors, name: tensors[name].flatten()[:-1].contiguous()}


def halved(tensors: dict[str, Tensor], change: random.Random) -> dict[str, Tensor]:
    kind = change.choice([torch.float16, torch.bfloat16, torch.float64])
    return {name: one.to(kind) for name, one in tensors.items()}


def whole_numbers(tensors: dict[str, Tensor], change: random.Random) -> dict[str, Tensor]:
    name = change.choice(sorted(tensors))
    return {**tensors, name: tensors[name].to(torch.int32)}


def added(tensors: dict[str, Tensor], change: random.Random) -> dict[str, Tensor]:
    name = change.choice(["vit.encoder.layer.7.layernorm_before.weight", "extra", "vit.embeddings.mask_token"])
    return {**tensors, name: torch.zeros(48)}


def not_finite(tensors: dict[str, Tensor], change: random.Random) -> dict[str, Tensor]:
    name = change.choice(sorted(tensors))
    broken = tensors[name].clone()
    broken.view(-1)[0] = change.choice([float("nan"), float("inf")])
    return {**tensors, name: broken}


def same(tensors: dict[str, Tensor], change: random.Random) -> dict[str, Tensor]:
    names = sorted(tensors)
    change.shuffle(names)
    return {name: tensors[name] for name in names}


CHANGES = (renamed, missing, transposed, shortened, halved, whole_numbers, added, not_finite, same)


def copied(folder: Path, to: Path) -> Path:
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    return to


@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [
        ("vit_b_16", 224, ("bilinear", 224 / 256)),
        ("vit_b_16", 384, ("bicubic", 1.0)),
        ("vit_l_16", 224, ("bilinear", 224 / 242)),
        ("swin_s", None, ("bicubic", 224 / 246)),
        ("swin_v2_t", None, ("bicubic", 256 / 260)),
    ],
)
def test_images_are_prepared_as_torchvision_prepares_them(
    name: str, size: int | None, expected: tuple[str, float]
) -> None:
    """The expected numbers are from torchvision's documentation."""
    library = pytest.importorskip("torchvision.models")
    with without_numbers():
        module = library.get_model(name, **({"image_size": size} if size else {}))
    _, facts = to_timm_names(Contents(name, module.state_dict()))
    assert (facts.preprocessing["interpolation"], facts.preprocessing["crop_pct"]) == expected
    assert facts.preprocessing["mean"] == (0.485, 0.456, 0.406)


def test_what_a_folder_leaves_open_is_reported(vit: Path) -> None:
    assert any("does not say how images are prepared" in note.en for note in vx.load_model(weights=vit).notes)


@pytest.mark.parametrize(("field", "value"), [("rescale_factor", 2), ("rescale_factor", 1e-9), ("do_resize", False)])
def test_preparing_that_is_not_followed_is_refused_by_name(
    field: str, value: object, vit: Path, tmp_path: Path
) -> None:
    folder = copied(vit, tmp_path)
    (folder / "preprocessor_config.json").write_text(json.dumps({field: value}))
    with pytest.raises(WeightsError, match=f"preprocessor_config.json says {field} = "):
        vx.load_model(weights=folder)


@pytest.mark.parametrize(("fields", "factor"), [({"do_rescale": False}, 1), ({"rescale_factor": 1 / 127.5}, 1 / 127.5)])
def test_another_factor_of_pixels_is_followed_as_transformers_follows_it(
    fields: dict, factor: float, vit: Path, tmp_path: Path
) -> None:
    folder = copied(vit, tmp_path)
    own = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3], "size": {"height": 64, "width": 64}}
    (folder / "preprocessor_config.json").write_text(json.dumps({**own, **fields}))
    model = vx.load_model(weights=folder)
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    theirs = (pixels * factor - np.array(own["image_mean"])) / np.array(own["image_std"])
    np.testing.assert_allclose(prepare(model, pixels).tensor[0].permute(1, 2, 0), theirs, rtol=1e-4, atol=1e-4)
    assert any("not by 1/255 as usual" in note.en for note in model.notes)


def test_images_that_are_not_normalised_stay_as_they_are(vit: Path, tmp_path: Path) -> None:
    folder = copied(vit, tmp_path)
    config = {"do_normalize": False, "image_mean": [0.5, 0.5, 0.5], "rescale_factor": 0.00392156862745098}
    (folder / "preprocessor_config.json").write_text(json.dumps(config))
    preprocessing = vx.load_model(weights=folder).preprocessing
    assert (preprocessing.mean, preprocessing.std) == ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
