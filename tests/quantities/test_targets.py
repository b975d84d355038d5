"""Targets beyond a class: one class against another, another image, a patch; each against autograd."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

import gradio as gr
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor
from typer.testing import CliRunner

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.readings import checked_reading
from tests.helpers.small_models import capture_small, load_small, picture
from tests.helpers.unfused_attention import with_fused_attention
from vitexplorer.capturing.capture import Capture
from vitexplorer.cli import build_app
from vitexplorer.controls import AnyTargetControl, like_capture, likeness, written_value
from vitexplorer.controls.explained import Alike, PatchAlike, RatherThan, Region, Target
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError, SettingError
from vitexplorer.models.examples import examples
from vitexplorer.quantities.gradients import attention_gradient, gradients
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.ui.controls.field import Field
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.kit.served_files import image_file
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext

FAMILIES = ("vit", "encoder", "deit_distilled", "dinov2_registers", "registers_only", "beit", "swin", "siglip")
TARGETS = ("3 vs 1", "other image", "patch 0,1", "patch 0,1 vs 1,0")
LATER = ("region 0.1+1.0", "patch 1,0 of the other")
MAPS = ("generic_relevance", "grad_rollout", "grad_cam", "legrad", "input_x_gradient", "integrated_gradients",
        "occlusion", "random")  # fmt: skip
CASES = [(key, target) for key in FAMILIES for target in TARGETS if (key, target) != ("encoder", "3 vs 1")]
CASES += [(key, target) for key in ("vit", "swin", "encoder", "beit") for target in LATER]


@cache
def other_image(key: str) -> Capture:
    model = load_small(key)
    return vx.capture(model, picture(*model.preprocessing.input_size, seed=5), fit="squash")


def given(key: str, target: str) -> object:
    if target == LATER[1]:
        return like_capture("scene", other_image(key), (1, 0))
    return other_image(key) if target == "other image" else target


@dataclass(frozen=True)
class Plain:
    """Slow twin: timm's module in float64, unfused, with its own features and last norm."""

    module: torch.nn.Module

    @classmethod
    def of(cls, key: str) -> Plain:
        return cls(with_fused_attention(load_small(key).module, False).double())

    def pooled(self, images: Tensor) -> Tensor:
        return self.module.forward_head(self.module.forward_features(images), pre_logits=True)[0]

    def token(self, images: Tensor, patch: tuple[int, int]) -> Tensor:
        features = self.module.forward_features(images)  # through `norm`
        if features.ndim == 4:
            return features[0, patch[0], patch[1]]
        features = getattr(self.module, "fc_norm", torch.nn.Identity())(features)
        cols = self.module.patch_embed.grid_size[1]
        return features[0, self.module.num_prefix_tokens + patch[0] * cols + patch[1]]

    def score(self, images: Tensor, target: str, other: Tensor) -> Tensor:
        if target == "3 vs 1":
            logits = self.module(images)[0]
            return logits[3] - logits[1]
        if target == "other image":
            return F.cosine_similarity(self.pooled(images), self.pooled(other).detach(), dim=0)
        if target == LATER[1]:
            return F.cosine_similarity(self.pooled(images), self.token(other, (1, 0)).detach(), dim=0)
        if target == LATER[0]:
            region = (self.token(images, (0, 1)) + self.token(images, (1, 0))) / 2
            return F.cosine_similarity(region, self.pooled(images).detach(), dim=0)
        reference = self.pooled(images) if target == "patch 0,1" else self.token(images, (1, 0))
        return F.cosine_similarity(self.token(images, (0, 1)), reference.detach(), dim=0)


@pytest.mark.parametrize(("key", "target"), CASES)
def test_gradients_are_those_of_autograd_on_the_plain_module(key, target):
    captured, plain = capture_small(key), Plain.of(key)
    image = captured.input.tensor.double().requires_grad_()
    score = plain.score(image, target, other_image(key).input.tensor.double())
    (expected,) = torch.autograd.grad(score, image)
    control = AnyTargetControl()
    gradient = gradients(captured, control.parse(given(key, target), captured, {}))
    largest = float(expected.abs().max())
    assert largest > 0
    np.testing.assert_allclose(gradient.input.numpy(), expected.numpy(), rtol=0, atol=2e-4 * largest)


@pytest.mark.parametrize(
    ("key", "target"), [("vit", "patch 0,1"), ("encoder", "other image"), ("vit", "3 vs 1"), ("vit", LATER[0])]
)
def test_generic_relevance_is_chefers_row_of_the_token_that_is_explained(key, target):
    captured = capture_small(key)
    parsed = AnyTargetControl().parse(given(key, target), captured, {})
    gradient = gradients(captured, parsed)
    products = []
    for block in range(captured.depth):
        A = captured.attention(block).double().numpy()
        dA = attention_gradient(captured.call(block), gradient.outputs[block])[0].double().numpy()
        products.append(reference_relevance.positive_product(A, dA))
    R, grid = reference_relevance.generic_relevance(products), captured.grid(0)
    tokens = {"patch 0,1": [2], LATER[0]: [2, 1 + grid.cols]}.get(target, [0])
    result = vx.compute("generic_relevance", captured, target=given(key, target))
    if tokens != [0]:
        R -= np.eye(len(R))
    row = R[tokens, 1:].mean(0)
    np.testing.assert_allclose(result.values.ravel(), row, atol=1e-4 * row.max())
    assert result.query == {"patch 0,1": (0, 1), LATER[0]: None}.get(target, "cls")


def test_gradient_rollout_of_a_patch_leaves_out_what_only_stays():
    captured = capture_small("vit")
    actual, token = gradients(captured, PatchAlike((0, 1))), 2
    R, stays = np.eye(17), 1.0
    for block in range(captured.depth):
        A = captured.attention(block).double().numpy()
        dA = attention_gradient(captured.call(block), actual.outputs[block])[0].double().numpy()
        halves = 0.5 * reference_relevance.positive_product(A, dA) + 0.5 * np.eye(17)
        stays *= 0.5 / halves[token].sum()
        R = halves / halves.sum(1, keepdims=True) @ R
    R[token, token] -= stays
    result = vx.compute("grad_rollout", captured, target="patch 0,1")
    np.testing.assert_allclose(result.values.ravel(), R[token, 1:], atol=1e-4 * R[token, 1:].max())
    assert f"{100 * stays:.1f} %" in result.notes[2].en


@pytest.mark.parametrize("view", MAPS)
@pytest.mark.parametrize("target", TARGETS[1:])
def test_a_model_without_classes_has_maps_of_similarity(view, target):
    settings = {"steps": 2} if view == "integrated_gradients" else {}
    result = vx.compute(view, capture_small("encoder"), target=given("encoder", target), **settings)
    assert result.values.any() or view == "grad_cam", "what Grad-CAM sums up may all be negative"
    assert result.target is None
    assert result.settings_said["target"][1].en.startswith("similarity")
    checked_reading(result)


def test_without_classes_the_sharpest_patch_is_explained_unless_somebody_says():
    result = vx.compute("generic_relevance", capture_small("encoder"))
    assert isinstance(result.settings["target"], PatchAlike)
    assert result.settings["target"].other is None
    assert vx.compute("generic_relevance", capture_small("vit")).settings["target"] == int(
        capture_small("vit").logits.argmax()
    )


def test_a_difference_is_the_difference_where_a_map_is_linear():
    captured = capture_small("vit")
    one, other, both = (vx.compute("input_x_gradient", captured, target=target).values for target in (3, 1, "3 vs 1"))
    np.testing.assert_allclose(both, one - other, atol=1e-5 * np.abs(both).max())
    rise = vx.compute("occlusion", captured, target="3 vs 1").values
    parts = [vx.compute("occlusion", captured, target=target).values for target in (3, 1)]
    np.testing.assert_allclose(rise, parts[0] - parts[1], atol=1e-5)


def test_integrated_gradients_of_a_similarity_add_up_to_its_rise():
    captured, other = capture_small("vit"), other_image("vit")
    result = vx.compute("integrated_gradients", captured, target=other, steps=128)
    plain = Plain.of("vit")
    with torch.no_grad():
        reference = plain.pooled(other.input.tensor.double())
        ends = [
            float(F.cosine_similarity(plain.pooled(image.double()), reference, dim=0))
            for image in (captured.input.tensor, torch.zeros_like(captured.input.tensor))
        ]
    assert result.values.sum() == pytest.approx(ends[0] - ends[1], abs=0.02)
    assert result.unit.en == "cosine"


def test_an_embedding_is_what_the_head_reads(any_capture):
    module = any_capture.model.module
    with torch.no_grad():
        expected = module.forward_head(module.forward_features(any_capture.input.tensor), pre_logits=True)[0]
    torch.testing.assert_close(any_capture.embedding, expected, rtol=0, atol=1e-5)


def test_a_capture_and_its_embedding_are_one_target():
    captured, other = capture_small("vit"), other_image("vit")
    maps = [
        vx.compute("grad_cam", captured, target=one).values for one in (other, other.embedding, other.embedding.numpy())
    ]
    assert (maps[0] == maps[1]).all()
    assert (maps[0] == maps[2]).all()


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("3 vs 1", RatherThan(3, 1)),
        ("patch 2,1", PatchAlike((2, 1))),
        ("patch 2,1 vs 0,3", PatchAlike((2, 1), (0, 3))),
        ("3", 3),
        ("region 0.3+2.1", Region(((0, 3), (2, 1)))),
    ],
)
def test_a_target_is_written_and_read_back(written: str, target: Target):
    control, captured = AnyTargetControl(), capture_small("vit")
    assert control.parse(written, captured, {}) == target
    assert control.parse(target, captured, {}) == target
    assert written_value(target) == written
    spec = control.spec(captured, {"target": target})
    assert spec.value == written
    assert written in dict(spec.options)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("3 vs 3", "not with itself"),
        ("3 vs 70", "no class 70"),
        ("patch 9,0", "no patch"),
        ("region 9.0", "no patch"),
        ("region", "one or more patches"),
        ("region 0,1+x", "one or more patches"),
        ("like:scene_fish", "give the capture"),
        ("patch 0,0 vs 0,9", "no patch"),
        (np.zeros(5, np.float32), "has 5 numbers and an image's 48 in vit"),
    ],
)
def test_what_cannot_be_explained_is_refused_with_a_sentence(target, message):
    with pytest.raises(SettingError, match=message):
        vx.compute("grad_cam", capture_small("vit"), target=target)


def test_another_embedding_is_another_target():
    captured = capture_small("vit")
    control = AnyTargetControl()
    one, other = (control.parse(np.full(48, value, np.float32), captured, {}) for value in (1, 2))
    assert isinstance(one, Alike)
    assert one != other


def test_the_command_line_takes_another_image(tmp_path):
    images = [tmp_path / f"{seed}.png" for seed in range(2)]
    for seed, path in enumerate(images):
        Image.fromarray(picture(160, 160, seed)).save(path)
    out, small = tmp_path / "map.csv", ["--model", "test_vit", "--weights", "random", "--fit", "squash"]
    typed = ["grad-rollout", str(images[0]), *small, "--target", f"like:{images[1]}", "--out", str(out)]
    answer = CliRunner().invoke(build_app("en"), typed)
    assert answer.exit_code == 0, answer.output
    model = vx.load_model("test_vit", weights="random")
    explained, other = (vx.capture(model, path, fit="squash") for path in images)
    with out.open(encoding="utf-8-sig") as file:
        result = [float(row["value"]) for row in csv.DictReader(file)]
    np.testing.assert_allclose(result, vx.compute("grad_rollout", explained, target=other).values.ravel(), rtol=1e-4)


def test_a_region_of_one_patch_is_that_patch():
    captured = capture_small("vit")
    for view in ("generic_relevance", "grad_rollout", "legrad", "occlusion"):
        one, other = (vx.compute(view, captured, target=target) for target in ("region 1.2", "patch 1,2"))
        np.testing.assert_allclose(one.values, other.values, atol=1e-6 * np.abs(other.values).max())


def test_another_image_is_named_with_or_without_a_patch():
    assert likeness("like:scene_fish") == ("scene_fish", None)
    assert likeness("like:my picture.jpg patch 2,3") == ("my picture.jpg", (2, 3))
    assert likeness("like scene_fish patch 0,1") == ("scene_fish", (0, 1))
    assert likeness("patch 2,3") is None
    assert likeness(7) is None
    assert str(given("vit", LATER[1])) == "like scene patch 1,0"
    with pytest.raises(SettingError, match="no patch"):
        like_capture("scene", other_image("vit"), (40, 0))


@pytest.mark.parametrize(("model", "is_offered"), [("scenes_clip", True), ("scenes_vit_patch16_192", False)])
def test_a_text_is_offered_where_the_model_reads_texts(model, is_offered):
    captured = vx.capture(vx.load_model(model), picture(192, 192))
    assert ("text" in AnyTargetControl().spec(captured).words) == is_offered


async def test_the_page_finds_the_image_that_a_target_names():
    engine = Engine(Settings())
    picture_of = Picture("scene_fish", "scenes_vit_patch16_192")
    captured = await engine.capture(picture_of)
    result = await engine.compute(picture_of, captured, "grad_cam", {"target": "like:scene_gear patch 3,4"})
    other = vx.capture(captured.model, examples()["scene_gear"].path)
    expected = vx.compute("grad_cam", captured, target=other.patch_embedding((3, 4)))
    np.testing.assert_allclose(result.values, expected.values, atol=1e-6)
    assert written_value(result.settings["target"]) == "like scene_gear patch 3,4"
    with pytest.raises(ExplainedError):
        await engine.compute(picture_of, captured, "grad_cam", {"target": "like:../../secret"})
    flow = RoomFigures(RoomContext(engine, Translations(), gr.State(Address())), "flow")
    address = Address(image="scene_fish", model=picture_of.model)
    board = {"rows": 12, "cols": 12, "covered": (1.0, 1.0)}
    found = {"image": image_file(other.input.pixels).url, "board": board}
    for target, expected in (("like scene_gear patch 3,4", found), ("like ../../secret", {}), ("7", {})):
        field = Field(kind="target", name="target", label="", value=target)
        assert await flow._other_image(field, address) == expected
