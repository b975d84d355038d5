"""Fine-tuning methods on every backbone: the contract, and exact parameter counts."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache, cached_property

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.helpers.small_backbones import CONVOLUTIONAL, TRANSFORMERS, load_backbone, on_meta, pixels
from tests.helpers.small_families import load_case
from vitexplorer.core.text import UnsupportedError
from vitexplorer.finetune.attaching import TunedModel, attach, count_parameters, merge, methods
from vitexplorer.finetune.parts.low_rank import LowRank
from vitexplorer.finetune.parts.window_prompts import AS_PADDING
from vitexplorer.finetune.peft import export_peft
from vitexplorer.finetune.preview import preview
from vitexplorer.finetune.storing import load_tuned, save_tuned
from vitexplorer.finetune.trained_parts import learned, parameter_groups, train_mode, trainable
from vitexplorer.models.seeding import seeded

SMALL = {
    "adapter": [{"bottleneck": 4}, {"bottleneck": 4, "placement": "houlsby"}],
    "adaptformer": [{"bottleneck": 4}],
    "lora": [{"r": 2}],
    "linear": [{}, {"norm": True}],
    "bitfit": [{}, {"position_bias": True}],
    "vpt_shallow": [{"prompts": 3}],
    "vpt_deep": [{"prompts": 3}],
    "pixel_prompt": [{"pad": 5}],
    "ssf": [{}, {"drawn": True}],
    "partial_k": [{"k": 1}, {"k": 3}],
}
"""Settings for models this small; methods not listed take their defaults"""
OTHER_HEADS = ("mlp_k", {}), ("linear", {"norm": True})
"""Methods that change the output of a model whose classifier stays"""
ON_ALL = ("bitfit", "full", "linear", "mlp_k", "norm", "partial_k")
NO_PLACE = {("adapter", "parallel"), ("adaptformer", "parallel"), ("ssf", "parallel")}
UNLIKE = ("vit", "parallel", "eva02", "swin_padded", "resnet")
"""Backbones of unlike structure, on which all methods are tried; on the others every thirteenth, each in turn"""
ALL = [
    (method, settings, backbone)
    for backbone in (*TRANSFORMERS, *CONVOLUTIONAL)
    for method in sorted(methods())
    if (backbone in TRANSFORMERS or method in ON_ALL) and (method, backbone) not in NO_PLACE
    for settings in SMALL.get(method, [{}])
]
CASES = [
    pytest.param(
        (method, settings, backbone),
        id="-".join([backbone, method, *map(str, settings.values())]),
        marks=() if backbone in UNLIKE or n % 13 == 0 else pytest.mark.thorough,
    )
    for n, (method, settings, backbone) in enumerate(ALL)
]
CLASSES = 5


@dataclass
class Case:
    """Method on a backbone, before and after two steps."""

    method: str
    settings: dict
    backbone: str

    @cached_property
    def base_before(self) -> tuple:
        return snapshot(load_backbone(self.backbone).module)

    @cached_property
    def fresh(self) -> TunedModel:
        _ = self.base_before
        return attach(load_backbone(self.backbone), self.method, CLASSES, **self.settings)

    @cached_property
    def trained(self) -> TunedModel:
        tuned = attach(load_backbone(self.backbone), self.method, CLASSES, **self.settings)
        step_twice(tuned)
        return tuned


@pytest.fixture(scope="module", params=CASES)
def case(request) -> Case:
    """Return each method on each backbone in turn; tests must not change the models."""
    return Case(*request.param)


def step_twice(tuned):
    """Take two steps of Adam without decay, in training mode, on images that differ."""
    train_mode(tuned)
    optimizer = torch.optim.Adam(parameter_groups(tuned, learning_rate=1e-2, weight_decay=0.0))
    images, targets = pixels(tuned, 4, seed=3), torch.arange(4) % CLASSES
    with seeded(1):
        for _ in range(2):
            optimizer.zero_grad()
            F.cross_entropy(tuned.module(images), targets).backward()
            optimizer.step()
    tuned.module.eval()


@cache
def plain_modules(backbone: str) -> list[str]:
    """Return the names in a backbone to which nothing was added."""
    return [name for name, _ in attach(load_backbone(backbone), "full", CLASSES).module.named_modules()]


@torch.no_grad()
def logits(model, images):
    return model.module(images)


def snapshot(module):
    """Return all that must stay of a module: tensors, gradient flags, numbers of hooks."""
    hooks = sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in module.modules())
    return copy.deepcopy(module.state_dict()), [p.requires_grad for p in module.parameters()], hooks


# ---------------------------------------------------------------------------------------------- the contract


@pytest.mark.contract
def test_the_output_is_unchanged_right_after_attaching(case):
    model = load_backbone(case.backbone)
    if (case.method, case.settings) in OTHER_HEADS:
        pytest.skip("has another head")
    tuned, images = attach(model, case.method, **case.settings), pixels(model)
    same = torch.allclose(logits(tuned, images), logits(model, images), rtol=1e-4, atol=1e-4)
    assert same != (methods()[case.method].changes_output or case.settings.get("drawn", False))


def test_two_steps_move_what_trains_and_nothing_else(case):
    before, after = case.fresh.module.state_dict(), case.trained.module.state_dict()
    changes = learned(case.trained.module)
    assert before.keys() == after.keys()
    assert [name for name in trainable(case.trained.module) if torch.equal(before[name], after[name])] == []
    assert [name for name in before if name not in changes and not torch.equal(before[name], after[name])] == []


def test_an_image_does_not_depend_on_its_batch_mates(case):
    images = pixels(case.trained, 3, seed=5)
    together = logits(case.trained, images)
    alone = torch.cat([logits(case.trained, image[None]) for image in images])
    torch.testing.assert_close(together, alone, rtol=2e-3, atol=2e-3)


def test_merged_is_unmerged(case):
    images = pixels(case.trained, 2, seed=7)
    expected = logits(case.trained, images)
    if methods()[case.method].merge is None or (case.method, case.backbone) == ("ssf", "rms"):
        with pytest.raises(UnsupportedError, match="merge"):
            merge(case.trained)
        return
    merged = merge(case.trained)
    torch.testing.assert_close(logits(merged, images), expected, rtol=2e-3, atol=2e-3)
    assert torch.equal(logits(case.trained, images), expected)
    assert [name for name, _ in merged.module.named_modules()] == plain_modules(case.backbone)


def test_a_file_gives_the_same_logits(case, tmp_path):
    images = pixels(case.trained, 2, seed=8)
    save_tuned(case.trained, tmp_path / "tuned.safetensors")
    loaded = load_tuned(tmp_path / "tuned.safetensors", base=load_backbone(case.backbone))
    assert torch.equal(logits(loaded, images), logits(case.trained, images))
    assert (loaded.method, loaded.settings) == (case.method, case.trained.settings)
    assert loaded.provenance.weights == "fine-tuned"


def test_the_base_is_untouched(case):
    model = load_backbone(case.backbone)
    _ = case.fresh, case.trained
    (before, *rest), (after, *others) = case.base_before, snapshot(model.module)
    assert rest == others
    assert all(torch.equal(before[name], after[name]) for name in {**before, **after})
    own = {parameter.data_ptr() for parameter in model.module.parameters()}
    assert not own & {parameter.data_ptr() for parameter in case.trained.module.parameters()}
    again = attach(model, case.method, CLASSES, **case.settings).module.state_dict()
    assert all(torch.equal(tensor, again[name]) for name, tensor in case.fresh.module.state_dict().items())


def test_matrices_of_layers_decay_and_nothing_else(case):
    groups = parameter_groups(case.fresh, weight_decay=0.5)
    decayed = {id(parameter) for group in groups if group["weight_decay"] for parameter in group["params"]}
    module = case.fresh.module
    layers = [part for part in module.modules() if isinstance(part, (nn.Linear, nn.Conv2d, LowRank))]
    matrices = {id(parameter) for layer in layers for parameter in layer.parameters() if parameter.ndim > 1}
    spared = getattr(module, "no_weight_decay", set)()
    for name, parameter in trainable(module).items():
        assert (id(parameter) in decayed) == (id(parameter) in matrices and name not in spared), name


def test_methods_add_the_tokens_that_they_say(case):
    base, tuned = load_backbone(case.backbone), case.fresh
    grown = len(tuned.prefix_tokens) > len(base.prefix_tokens) or AS_PADDING in tuned.notes
    assert grown == methods()[case.method].adds_tokens


def test_methods_export_what_they_learned_or_refuse(case, tmp_path):
    exports = methods()[case.method].exports
    if exports is None:
        with pytest.raises(UnsupportedError, match=r"only lora can be exported"):
            export_peft(case.trained, tmp_path)
        return
    merged, base = merge(case.trained).module.state_dict(), case.fresh.module.state_dict()
    changes = exports(case.trained.module)
    assert {f"{name}.weight" for name in changes} == {
        name for name in merged.keys() & base.keys() if not torch.equal(merged[name], base[name]) and "head" not in name
    }
    for name, change in changes.items():
        torch.testing.assert_close(base[f"{name}.weight"] + change.delta(), merged[f"{name}.weight"])


@pytest.mark.parametrize(("method", "backbone"), sorted(NO_PLACE))
def test_what_cannot_work_says_so(method, backbone):
    reason = preview(load_backbone(backbone), method, 1).refused
    assert "not the usual attention" in reason.en
    assert reason.zh != reason.en


@pytest.mark.parametrize(("method", "settings"), OTHER_HEADS)
@pytest.mark.parametrize("family", ["levit", "vit_sam"])
def test_what_reads_features_needs_a_classifier_of_one_layer(family, method, settings):
    with pytest.raises(UnsupportedError, match=r"a single linear layer, not a (NormLinear|ClassifierHead)\."):
        attach(load_case(family), method, num_classes=3, **settings)


@pytest.mark.parametrize("backbone", CONVOLUTIONAL)
@pytest.mark.parametrize("method", sorted(set(methods()) - set(ON_ALL)))
def test_convolutional_networks_take_what_needs_no_tokens(method, backbone):
    reason = preview(load_backbone(backbone), method, 1).refused
    assert reason, "methods that need no tokens are stated in ON_ALL"
    assert "is not made for" in reason.en
    with pytest.raises(UnsupportedError, match=r"Methods for it: .*BitFit"):
        attach(load_backbone(backbone), method, CLASSES)


# ---------------------------------------------------------------------------------------------- exact counts

VIT_B = "vit_base_patch16_224"
COUNTS = [
    (VIT_B, "linear", {}, 0),
    (VIT_B, "mlp_k", {"k": 3}, 1_181_184),
    (VIT_B, "partial_k", {"k": 1}, 7_089_408),
    (VIT_B, "partial_k", {"k": 2}, 14_177_280),
    (VIT_B, "partial_k", {"k": 4}, 28_353_024),
    (VIT_B, "full", {}, 85_798_656),
    (VIT_B, "bitfit", {}, 102_912),
    (VIT_B, "norm", {}, 38_400),
    (VIT_B, "adapter", {}, 1_189_632),
    (VIT_B, "adapter", {"placement": "houlsby"}, 2_379_264),
    (VIT_B, "adaptformer", {}, 1_189_632),
    (VIT_B, "lora", {"r": 4}, 147_456),
    (VIT_B, "lora", {}, 294_912),
    (VIT_B, "lora", {"r": 16}, 589_824),
    (VIT_B, "ssf", {}, 205_824),
    ("swin_base_patch4_window7_224", "ssf", {}, 274_432),
    (VIT_B, "vpt_shallow", {}, 7_680),
    (VIT_B, "vpt_deep", {}, 92_160),
    (VIT_B, "pixel_prompt", {}, 69_840),
    ("swin_base_patch4_window7_224", "lora", {"r": 8}, 385_024),
    ("swin_base_patch4_window7_224", "adaptformer", {"bottleneck": 64}, 1_553_664),
    ("swin_base_patch4_window7_224", "vpt_deep", {"prompts": 5}, 60_160),
    ("swin_base_patch4_window7_224", "partial_k", {"k": 1}, 12_603_680),
    ("swin_base_patch4_window7_224", "bitfit", {}, 137_216),
    ("vit_small_patch16_224", "bitfit", {}, 51_456),
    ("vit_small_patch16_224", "partial_k", {"k": 1}, 1_775_232),
    ("beit_base_patch16_224", "bitfit", {}, 93_696),
]


@pytest.mark.parametrize(("architecture", "method", "settings", "count"), COUNTS)
def test_counts_of_the_papers(architecture, method, settings, count):
    model = on_meta(architecture)
    counts = count_parameters(attach(model, method, 10, **settings))
    assert counts.trainable - counts.head == count
    assert counts.head == 10 * (model.module.num_features + 1)
    added = 0 if method in ON_ALL and method != "mlp_k" else count
    assert counts.total - added == sum(p.numel() for p in model.module.parameters()) - 990 * (counts.head // 10)
