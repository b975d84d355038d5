"""Mistakes of a conversion are undone, for the modules that it concerns."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch
from torch import nn

import vitexplorer as vx
from vitexplorer.core.text import same
from vitexplorer.diagnosis import Diagnosis, Finding, diagnose
from vitexplorer.diagnosis.alternatives import alternatives, attentions, changed_copy
from vitexplorer.diagnosis.conversion import check_conversion
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.feeding import CAUSES as OF_FEED
from vitexplorer.diagnosis.feeds import AS_FED, Feed
from vitexplorer.diagnosis.loading import check_classifier
from vitexplorer.diagnosis.positions import check_positions
from vitexplorer.diagnosis.sentences import NO_TIME
from vitexplorer.diagnosis.subject import subject_of
from vitexplorer.models.loading import LoadedModel
from vitexplorer.scenes import draw_scene


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return vx.load_model("scenes_vit_patch16_192")


@torch.no_grad()
def transpose(module: nn.Module) -> None:
    places = torch.arange(144).reshape(12, 12).T.flatten()
    module.pos_embed[:, 1:] = module.pos_embed[:, 1:][:, places].clone()


@torch.no_grad()
def displace(module: nn.Module) -> None:
    module.pos_embed.copy_(module.pos_embed.roll(1, 1))


@torch.no_grad()
def swap_queries_and_values(module: nn.Module) -> None:
    for block in module.blocks:
        for rows in (block.attn.qkv.weight, block.attn.qkv.bias):
            rows.copy_(torch.cat(rows.chunk(3)[::-1]))


@torch.no_grad()
def store_head_by_head(module: nn.Module) -> None:
    for block in module.blocks:
        for rows in (block.attn.qkv.weight, block.attn.qkv.bias):
            grouped = rows.reshape(3, block.attn.num_heads, -1, *rows.shape[1:])
            rows.copy_(grouped.transpose(0, 1).reshape(rows.shape).clone())


@torch.no_grad()
def drop_scale(module: nn.Module) -> None:
    for block in module.blocks:
        for rows in (block.attn.qkv.weight, block.attn.qkv.bias):
            rows[: len(rows) // 3] *= block.attn.head_dim**0.5


def double_heads(module: nn.Module) -> None:
    for block in module.blocks:
        block.attn.num_heads *= 2
        block.attn.head_dim //= 2
        block.attn.scale = block.attn.head_dim**-0.5


FAULTS = {
    "positions_transposed": transpose,
    "prefix_tokens_among_patches": displace,
    "qkv_misordered": swap_queries_and_values,
    "qkv_misordered, head by head": store_head_by_head,
    "scale_missing": drop_scale,
    "heads_miscounted": double_heads,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_alternative_restores_the_model(model: LoadedModel, fault: str) -> None:
    broken = copy.deepcopy(model.module)
    FAULTS[fault](broken)
    images = torch.randn(1, 3, 192, 192, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        right = model.module(images)
        assert not torch.allclose(broken(images), right, atol=1e-3)
        cause = fault.partition(",")[0]
        tried = [each for each in alternatives(replace(model, module=broken)) if each.cause == cause]
        answers = [changed_copy(broken, each)(images) for each in tried]
    assert any(torch.allclose(answer, right, atol=1e-4) for answer in answers)


def test_attention_of_other_libraries_is_read() -> None:
    class Split(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.num_attention_heads = 2
            self.query, self.key, self.value = (nn.Linear(8, 8) for _ in range(3))

    for part, names in (
        (Split(), ("query.weight", "key.weight", "value.weight", "query.bias", "key.bias", "value.bias")),
        (nn.MultiheadAttention(8, 2), ("in_proj_weight", "in_proj_bias")),
    ):
        (found,) = attentions(part)
        assert found.names == names
        assert found.heads == 2


def check_up(model: LoadedModel, fault: str, count: int = 64) -> Diagnosis:
    """Plant a fault and diagnose the model on scenes."""
    scenes = [draw_scene("test", 1000 + number, 192) for number in range(count)]
    broken = copy.deepcopy(model.module)
    FAULTS[fault](broken)
    pictures, labels = [scene.image for scene in scenes], [scene.label for scene in scenes]
    return diagnose(replace(model, module=broken), pictures, labels, seconds=3600)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", ["qkv_misordered", "qkv_misordered, head by head", "scale_missing"])
def test_a_gross_mistake_is_named_and_its_weights_are_restored(model: LoadedModel, fault: str) -> None:
    report = check_up(model, fault)
    found = next(finding for finding in report.findings if finding.cause == fault.partition(",")[0])
    assert found.after > found.before
    for name, tensor in model.module.state_dict().items():
        torch.testing.assert_close(found.repaired[name], tensor, atol=1e-5, rtol=1e-5)


@pytest.mark.thorough
def test_a_mild_mistake_on_few_pictures_is_undecided(model: LoadedModel) -> None:
    report = check_up(model, "heads_miscounted")
    assert "give more pictures" in report.undecided["heads_miscounted"].en


def test_the_weights_are_not_blamed_before_the_pictures_are_cleared(model: LoadedModel) -> None:
    scenes = [draw_scene("test", 1000 + number, 192) for number in range(16)]
    broken = copy.deepcopy(model.module)
    swap_queries_and_values(broken)
    labels = [scene.label for scene in scenes]
    exam = Examination(subject_of(replace(model, module=broken), [scene.image for scene in scenes], labels), 3600)
    exam.cannot_tell(OF_FEED, NO_TIME)
    check_conversion(exam)
    check_classifier(exam)
    assert exam.findings == []
    assert {exam.undecided[cause] for cause in ("qkv_misordered", "head_not_loaded")} == {NO_TIME}


def test_other_readings_of_half_loaded_weights_are_not_tried(model: LoadedModel) -> None:
    module = copy.deepcopy(model.module)
    swap_queries_and_values(module)
    exam = Examination(subject_of(replace(model, module=module), *scenes_for(12)), 600)
    half = Finding("half_loaded", same("half"), 0.9)
    exam.findings.append(half)
    check_conversion(exam)
    assert exam.findings == [half]
    assert exam.undecided["qkv_misordered"].en.startswith("A part of the weights was not loaded")


def scenes_for(count: int) -> tuple[list, list[int]]:
    drawn = [draw_scene("examples", 44_000 + number, 192) for number in range(count)]
    return [scene.image for scene in drawn], [scene.label for scene in drawn]


def test_a_change_of_the_pictures_that_right_weights_do_not_need_is_taken_back(model: LoadedModel) -> None:
    module = copy.deepcopy(model.module)
    swap_queries_and_values(module)
    exam = Examination(subject_of(replace(model, module=module), *scenes_for(12)), 600)
    exam.feed = Feed(turn="left-right")
    exam.findings.append(Finding("flipped", same("mirrored"), 0.9))
    check_conversion(exam)
    (found,) = exam.findings
    assert (found.cause, exam.feed) == ("qkv_misordered", AS_FED)
    assert found.before == exam.judged().value < 0.5 < 0.8 < found.after


@pytest.mark.thorough
def test_misread_weights_are_named_and_not_the_pictures(model: LoadedModel) -> None:
    """With queries and values swapped no way to feed the pictures answers the labels; another reading does."""
    module = copy.deepcopy(model.module)
    swap_queries_and_values(module)
    report = diagnose(replace(model, module=module), *scenes_for(32), seconds=600)
    assert [finding.cause for finding in report.findings] == ["qkv_misordered"]


@pytest.mark.thorough
@pytest.mark.parametrize("side", [16, None])
def test_a_table_resampled_as_a_sequence_is_not_called_shuffled(model: LoadedModel, side: int | None) -> None:
    module = copy.deepcopy(model.module)
    patches = module.pos_embed[:, 1:].detach().clone()
    if side is None:
        changed = patches[:, torch.randperm(144, generator=torch.Generator().manual_seed(0))]
    else:
        grid = patches.transpose(1, 2).reshape(1, -1, 12, 12)
        small = nn.functional.interpolate(grid, (side, side), mode="bicubic", antialias=True).flatten(2)
        changed = nn.functional.interpolate(small, 144, mode="linear", align_corners=False).transpose(1, 2)
    with torch.no_grad():
        module.pos_embed[:, 1:] = changed
    exam = Examination(subject_of(replace(model, module=module), *scenes_for(64)), 600)
    check_positions(exam)
    assert [finding.cause for finding in exam.findings] == ["positions_shuffled"]
    check_conversion(exam)
    expected = "positions_shuffled" if side is None else "positions_badly_resampled"
    assert [finding.cause for finding in exam.findings] == [expected]
