"""Wrapped modules of any library: attention equals the library's, and timm's with the same weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import vitexplorer as vx
from tests.helpers.libraries import CASES, made
from tests.helpers.thorough import quick
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.models.seeding import seeded
from vitexplorer.models.wrapping import prefix_names
from vitexplorer.models.wrapping.probing import distinct_prefixes

PICTURE = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
WINDOWED = ("swin", "swinv2", "torchvision_swin", "torchvision_swin_v2")
OTHERS = (
    *("swin_bare", "swinv2_bare", "pvt_v2", "pvt_v2_linear", "pvt_v2_bare", "segformer", "segformer_pixels"),
    *("clip_whole", "siglip_whole", "siglip2_naflex", "blip_whole", "mae"),
)
"""Models that are no plain column: windows, reduced keys, those that need a text or a size, a shuffle of patches"""
WRAPPED = [key for key in CASES if key not in (*WINDOWED, *OTHERS)]
PREFIX = {
    "deit": ("cls", "dist"),
    "deit_teacher": ("cls", "dist"),
    "deit_bare": ("cls", "dist"),
    **dict.fromkeys(["siglip", "siglip2", "siglip_classifier", "ijepa", "ijepa_bare"], ()),
    **dict.fromkeys(
        ["dinov2_registers", "dinov2_registers_classifier", "dinov3", "dinov3_all_biases", "dinov3_gated"],
        ("cls", "reg1", "reg2", "reg3", "reg4"),
    ),
}


def wrapped(key: str, **stated: object) -> Capture:
    size = {"image_size": 64} if key == "open_clip" else {}
    return vx.capture(vx.wrap(made(key), **size, **stated), PICTURE, fit="squash")


# ---------------------------------------------------------------------------------------------- attention


@pytest.mark.parametrize("key", quick([key for key in WRAPPED if CASES[key].looks], []))
@pytest.mark.parametrize("how", ["sdpa", "eager"])
def test_attention_is_what_transformers_says(key: str, how: str) -> None:
    module = made(key)
    module.set_attn_implementation(how)
    captured = vx.capture(vx.wrap(module), PICTURE, fit="squash")
    with torch.no_grad():
        expected = CASES[key].looks(module, captured.input.tensor)
    assert captured.depth == len(expected)
    assert captured.prefix_tokens == PREFIX.get(key, ("cls",))
    for block, attention in enumerate(expected):
        torch.testing.assert_close(captured.attention(block)[None], attention, rtol=0, atol=1e-6)


@pytest.mark.parametrize("key", quick(["torchvision_vit", "open_clip"], ["torchvision_vit"]))
def test_attention_is_what_torch_says(key: str) -> None:
    """`nn.MultiheadAttention` returns its weights per head when asked."""
    captured, expected = wrapped(key), []
    module = captured.model.module.wrapped
    layers = [part for part in module.modules() if isinstance(part, nn.MultiheadAttention)]

    def ask(layer: nn.Module, args: tuple[Tensor, ...], kwargs: dict, output: object) -> None:
        query, key, value = args if args else (kwargs[name] for name in ("query", "key", "value"))
        how = {"need_weights": True, "average_attn_weights": False}
        expected.append(nn.MultiheadAttention.forward(layer, query, key, value, **how)[1])

    hooks = [layer.register_forward_hook(ask, with_kwargs=True) for layer in layers]
    with torch.no_grad():
        module(captured.input.tensor)
    for hook in hooks:
        hook.remove()
    assert len(expected) == captured.depth
    for block, attention in enumerate(expected):
        torch.testing.assert_close(captured.attention(block)[None], attention, rtol=0, atol=1e-6)


# ---------------------------------------------------------------------------------------------- twins


@pytest.mark.parametrize("key", quick(WRAPPED, []))
def test_every_view_and_change_shows_or_says_why_not(key: str) -> None:
    captured, drawn = wrapped(key), set()
    for view in vx.views():
        try:
            assert np.isfinite(vx.compute(view, captured).values).any(), view
        except UnsupportedError:
            continue
        drawn.add(view)
    explains = {"grad_rollout", "generic_relevance", "grad_cam"} if captured.logits is not None else set()
    assert {"attention_map", "head_gallery", "attention_rollout", "head_atlas", "token_norms"} | explains <= drawn
    assert not {"cost", "patch_filters", "patch_to_token", "position_similarity"} & drawn
    assert ("logit_lens" in drawn) == (captured.model.module.facts.ending is not None and captured.logits is not None)
    changed = vx.intervene(captured, {"heads_off": {"heads": [(0, 0)]}})
    assert not torch.equal(changed.output, captured.output)
    for refused in (
        lambda: vx.intervene(captured, {"positions": {"how": "off"}}),
        lambda: vx.attach(captured.model, "lora"),
    ):
        with pytest.raises(UnsupportedError, match="was wrapped as it is"):
            refused()


# ---------------------------------------------------------------------------------------------- written by hand


class Attention(nn.Module):
    """Attention with one matrix for queries, keys and values, and products in one of the usual spellings."""

    def __init__(self, dim: int, heads: int, spelling: str):
        super().__init__()
        self.heads, self.spelling = heads, spelling
        self.qkv, self.proj, self.last = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), torch.zeros(0)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scale = q.shape[-1] ** -0.5
        if self.spelling == "einsum":
            self.last = (torch.einsum("b h i d, b h j d -> b h i j", q, k) * scale).softmax(dim=-1)
            out = torch.einsum("b h i j, b h j d -> b h i d", self.last, v)
        elif self.spelling == "mixed":
            self.last = F.softmax(q @ k.mT * scale, -1)
            out = self.last.flip(1) @ v
        else:
            self.last = F.softmax(torch.matmul(q, k.transpose(-1, -2)) * scale, dim=-1)
            out = torch.matmul(F.dropout(self.last, 0.1, self.training), v)
        return self.proj(out.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Block with its norms before or, as in 2017, after."""

    def __init__(self, dim: int, spelling: str, norm_first: bool):
        super().__init__()
        self.a, self.b = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attend, self.mlp = Attention(dim, 2, spelling), nn.Sequential(nn.Linear(dim, dim), nn.GELU())
        self.norm_first = norm_first

    def forward(self, x: Tensor) -> Tensor:
        if not self.norm_first:
            x = self.a(x + self.attend(x))
            return self.b(x + self.mlp(x))
        x = x + self.attend(self.a(x))
        return x + self.mlp(self.b(x))


class ByHand(nn.Module):
    """Model that cuts patches by reshaping, without convolution; registers before or after the patches."""

    def __init__(self, spelling: str = "einsum", norm_first: bool = True, behind: bool = False, depth: int = 2):
        super().__init__()
        self.reg_tokens = nn.Parameter(torch.randn(1, 2, 16))
        self.embed, self.head = nn.Linear(3 * 8 * 8, 16), nn.Linear(16, 4)
        self.trunk = nn.ModuleList(Block(16, spelling, norm_first) for _ in range(depth))
        self.behind = behind

    def forward(self, images: Tensor) -> tuple[Tensor, str]:
        x = self.embed(images.unfold(2, 8, 8).unfold(3, 8, 8).permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2))
        registers = self.reg_tokens.expand(len(x), -1, -1)
        x = torch.cat([x, registers] if self.behind else [registers, x], 1)
        for block in self.trunk:
            x = block(x)
        return self.head(x[:, 2:].mean(1)), "and more"


def by_hand(**how: object) -> ByHand:
    with seeded(0):
        return ByHand(**how).eval()


@pytest.mark.parametrize("spelling", ["einsum", "matmul"])
def test_a_model_written_by_hand(spelling: str) -> None:
    module = by_hand(spelling=spelling)
    labels = ("a", "b", "c", "d")
    model = vx.wrap(module, image_size=(32, 48), patch_size=8, labels=labels, name="mine")
    captured = vx.capture(model, PICTURE)
    assert (captured.grid(0).rows, captured.grid(0).cols, captured.prefix_tokens) == (4, 6, ("reg1", "reg2"))
    assert [site.name for site in captured.sites] == ["trunk.0", "trunk.1"]
    module(captured.input.tensor)
    for block in range(2):
        torch.testing.assert_close(captured.attention(block)[None], module.trunk[block].attend.last)
    result = vx.compute("generic_relevance", captured, target="b")
    assert result.provenance.model == "mine"
    assert vx.compute("logit_lens", captured, token="mean").values.shape == (2, 4)
    for view in ("cost", "patch_filters"):
        with pytest.raises(UnsupportedError, match="was wrapped as it is"):
            vx.compute(view, captured)
    with pytest.raises(UnsupportedError, match="takes images of 32 × 48 pixels only"):
        vx.capture(model, PICTURE, size=64)


class Halved(ByHand):
    """Model that passes on half of its blocks' output."""

    def __init__(self):
        super().__init__()
        for block in self.trunk:
            block.register_forward_hook(lambda part, given, made: made / 2)


def test_a_block_that_ends_with_a_norm_shows_its_tokens() -> None:
    captured = vx.capture(vx.wrap(by_hand(norm_first=False), image_size=32, patch_size=8), PICTURE)
    assert vx.compute("attention_rollout", captured, query="mean").values.shape == (4, 4)
    assert [site.stream.ends_with_norm for site in captured.sites] == [True, True]
    tokens = captured.residual_after(1)
    torch.testing.assert_close(tokens.mean(-1), torch.zeros(18), rtol=0, atol=1e-5)
    assert vx.compute("legrad", captured, target=0).values.shape == (4, 4)
    with pytest.raises(UnsupportedError, match="ends with a norm"):
        vx.compute("logit_attribution", captured)


def test_a_block_that_ends_with_something_else_shows_its_attention_alone() -> None:
    with seeded(0):
        captured = vx.capture(vx.wrap(Halved().eval(), image_size=32, patch_size=8), PICTURE)
    assert vx.compute("attention_rollout", captured, query="mean").values.shape == (4, 4)
    with pytest.raises(UnsupportedError, match="neither the last sum that they compute nor the norm of that sum"):
        vx.compute("token_norms", captured)
    with pytest.raises(UnsupportedError, match="in the usual way"):
        vx.compute("legrad", captured)


def test_blocks_of_torch_itself() -> None:
    """`nn.TransformerEncoder` ends with a norm and has a fast path in C++."""

    class Encoder(ByHand):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True)
            self.trunk = nn.ModuleList([nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)])

    module = Encoder().eval()
    captured = vx.capture(vx.wrap(module, image_size=32, patch_size=8), PICTURE)
    assert [site.name for site in captured.sites] == ["trunk.0.layers.0", "trunk.0.layers.1"]
    with torch.no_grad():
        torch.testing.assert_close(captured.output, module(captured.input.tensor)[0], rtol=1e-5, atol=1e-6)
    assert vx.compute("grad_cam", captured).values.shape == (4, 4)


# ---------------------------------------------------------------------------------------------- no trace, refusals


def test_the_module_stays_as_it_was() -> None:
    module = made("torchvision_vit")
    images = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    names = [name for name, _ in module.named_parameters()]
    with torch.no_grad():
        before = module(images)
    model = vx.wrap(module)
    captured = vx.capture(model, PICTURE)
    vx.compute("grad_rollout", captured)
    with torch.no_grad():
        assert torch.equal(module(images), before)
    assert not any(part._forward_hooks for part in module.modules())
    assert all(parameter.grad is None and parameter.requires_grad for parameter in module.parameters())
    assert [name for name, _ in model.module.named_parameters()] == names
    assert next(model.module.parameters()) is next(module.parameters())
    assert "ImageNet" in vx.compute("attention_map", captured).notes[1].en


def test_a_module_of_timm_is_taken_as_timms() -> None:
    module = timm.create_model(
        "swin_tiny_patch4_window7_224", img_size=64, window_size=4, embed_dim=24, depths=(1, 1, 1)
    )
    model = vx.wrap(module.eval(), std=(0.5, 0.5, 0.5))
    assert (model.family.key, model.class_names, model.preprocessing.std) == ("swin", (), (0.5, 0.5, 0.5))
    assert vx.compute("cost", vx.capture(model, PICTURE)).total > 0


REFUSALS = {
    "training": (lambda: vx.wrap(by_hand().train()), "call its eval"),
    "half": (lambda: vx.wrap(by_hand().half()), "parameters of float16"),
    "size": (lambda: vx.wrap(by_hand()), "state image_size="),
    "patches": (lambda: vx.wrap(by_hand(), image_size=32), "the 18 tokens .* pass patch_size="),
    "small patches": (
        lambda: vx.wrap(by_hand(), image_size=32, patch_size=4),
        "18 tokens, fewer than the 8 × 8 patches",
    ),
    "large patches": (lambda: vx.wrap(by_hand(), image_size=32, patch_size=16), "changed token 9 most, not token 15"),
    "prefix": (
        lambda: vx.wrap(by_hand(), image_size=32, patch_size=8, num_prefix_tokens=1),
        "4 × 4 are patches: 2 prefix tokens, not 1",
    ),
    "order": (lambda: vx.wrap(by_hand(behind=True), image_size=32, patch_size=8), "changed token 3 most, not token 5"),
    "mixed": (lambda: vx.wrap(by_hand(spelling="mixed"), image_size=32, patch_size=8), "trunk.0 changes its weights"),
    "no block": (lambda: vx.wrap(by_hand(), image_size=32, patch_size=8, blocks="layers"), "no part called layers"),
    "half a block": (
        lambda: vx.wrap(by_hand(), image_size=32, patch_size=8, blocks=["trunk.0.mlp"]),
        "trunk.0.mlp called attention among all tokens 0 times",
    ),
    "labels": (lambda: vx.wrap(by_hand(), image_size=32, patch_size=8, labels=["a"]), "1 label was given"),
    "no attention": (lambda: vx.wrap(nn.Sequential(nn.Conv2d(3, 4, 8)).eval(), image_size=32), "no attention among"),
    "not run": (lambda: vx.wrap(nn.Linear(5, 5).eval(), image_size=32), "could not be run on images of 32 × 32"),
    "windows": (lambda: vx.wrap(made("torchvision_swin"), image_size=64), "attends within windows"),
    "shuffled": (lambda: vx.wrap(made("mae")), "are not its prefix tokens followed by the patches"),
}


@pytest.mark.parametrize("case", quick(REFUSALS, REFUSALS.keys() - {"shuffled"}))
def test_what_cannot_be_found_is_asked_for(case: str) -> None:
    attempt, message = REFUSALS[case]
    with pytest.raises((SettingError, UnsupportedError), match=message) as refused:
        attempt()
    assert refused.value.text.zh != refused.value.text.en


def held(stated: str, *values: object) -> list[tuple[str, object]]:
    return [(stated, value) for value in values]


WRONG = [
    *held("image_size", 0, -8, (32, 0), 5000, True, "big", (1, 2, 3), 1.5),
    *held("patch_size", 0, -1, 8.0, "8", True, 64, (8, 8)),
    *held("num_prefix_tokens", -1, 1.0, "2", True),
    *held("blocks", "", [], ["trunk.0", "trunk.0"], [0], 3),
    *held("mean", 0.5, "abc", (0.5,), (0.5,) * 4, (0.5, float("nan"), 0.5), (None,) * 3, np.zeros((3, 1, 1))[:2]),
    *held("std", 0.5, (1, 1, 0), (1, 1, -1), (1, 1, float("inf")), ("a",) * 3, (), {"std": 1}),
    *held("labels", "abcd", [1, 2, 3, 4], {0: "a"}, 4),
]


@pytest.mark.parametrize(
    ("stated", "value"), WRONG, ids=[f"{stated}-{number}" for number, (stated, _) in enumerate(WRONG)]
)
def test_what_is_stated_wrongly_is_refused_by_name(stated: str, value: object, unchecked: None) -> None:
    with pytest.raises(SettingError, match=stated) as refused:
        vx.wrap(by_hand(), **{"image_size": 32, "patch_size": 8, stated: value})
    assert refused.value.text.zh != refused.value.text.en


@pytest.mark.parametrize(
    "colours", [[0.1, 0.2, 0.3], np.array([0.1, 0.2, 0.3]), torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)]
)
def test_colours_come_in_any_sequence(colours: object) -> None:
    model = vx.wrap(by_hand(), image_size=32, patch_size=8, mean=colours, std=colours)
    assert model.preprocessing.mean == model.preprocessing.std == (0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (ByHand, "the class ByHand, not an instance"),
        (by_hand().state_dict(), "a state dict.* load_state_dict"),
        ("vit.pt", "path, 'vit.pt'.* load_model"),
        (Path("vit.pt"), "path, 'vit.pt'.* load_model"),
        (by_hand().forward, "of the type method"),
        (None, "of the type NoneType"),
        (nn.Identity().eval(), "has no parameters"),
        (by_hand().to("meta"), "on the meta device"),
    ],
    ids=["class", "state", "text", "path", "function", "none", "empty", "meta"],
)
def test_what_is_no_module_with_weights_is_refused(given: object, message: str, unchecked: None) -> None:
    with pytest.raises(SettingError, match=message) as refused:
        vx.wrap(given, image_size=32, patch_size=8)
    assert refused.value.text.zh != refused.value.text.en


def test_shards_are_refused() -> None:
    class FullyShardedDataParallel(nn.Module):
        """Stand-in for torch's class, which needs several processes."""

    with pytest.raises(SettingError, match="in shards"):
        vx.wrap(FullyShardedDataParallel())


@pytest.mark.parametrize("around", [torch.compile, nn.DataParallel, torch.optim.swa_utils.AveragedModel])
def test_what_holds_the_model_is_taken_off(around: Callable[[nn.Module], nn.Module]) -> None:
    module = around(by_hand()).eval()
    model = vx.wrap(module, image_size=32, patch_size=8)
    assert model.name == "ByHand"
    plain = vx.capture(vx.wrap(by_hand(), image_size=32, patch_size=8), PICTURE)
    assert torch.equal(vx.capture(model, PICTURE).output, plain.output)


def test_what_is_stated_is_taken() -> None:
    module = by_hand()
    stated = {"image_size": 32, "num_prefix_tokens": 2, "blocks": ["trunk.1"], "mean": (0.1,) * 3, "std": (0.2,) * 3}
    model = vx.wrap(module, **stated)
    captured = vx.capture(model, PICTURE)
    assert (captured.depth, captured.grid(0).patch_size) == (1, 8)
    module(captured.input.tensor)
    torch.testing.assert_close(captured.attention(0)[None], module.trunk[1].attend.last)
    assert (model.preprocessing.mean, model.preprocessing.std) == (stated["mean"], stated["std"])
    assert len(model.notes) == 1


@pytest.mark.parametrize(
    ("used", "blocks"),
    [
        (["a.layer.0.q.weight", "a.layer.1.q.weight"], ("a.layer.0", "a.layer.1")),
        (["s.0.b.0.q.weight", "s.0.b.1.q.weight", "s.1.b.0.q.weight"], ("s.0.b.0", "s.0.b.1", "s.1.b.0")),
        (["first.qkv.weight", "second.qkv.weight"], ("first", "second")),
        (["net.block0.attn.qkv.weight"], ("net.block0",)),
        (["attn.qkv.weight"], ("attn.qkv",)),
    ],
)
def test_blocks_are_where_names_first_differ(used: list[str], blocks: tuple[str, ...]) -> None:
    assert distinct_prefixes("x", used) == blocks


def test_blocks_that_share_their_parameters_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"cannot be told apart .* \(layer.qkv makes several\)"):
        distinct_prefixes("x", ["layer.qkv.weight", "layer.qkv.weight"])


@pytest.mark.parametrize(
    ("count", "parameters", "names"),
    [
        (0, ["pos_embed"], ()),
        (1, ["class_token"], ("cls",)),
        (1, ["pos_embed"], ("cls",)),
        (2, ["embeddings.cls_token", "embeddings.distillation_token"], ("cls", "dist")),
        (3, ["cls_token", "register_tokens"], ("cls", "reg1", "reg2")),
        (2, ["reg_token"], ("reg1", "reg2")),
    ],
)
def test_prefix_tokens_are_named_by_the_parameters(count: int, parameters: list[str], names: tuple[str, ...]) -> None:
    assert prefix_names(count, parameters) == names
