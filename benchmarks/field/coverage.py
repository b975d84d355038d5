"""For how many of timm's architectures does a tool return the attention that was used?

One small model of each file of timm's that attends, but for the vision parts of language models (DeepSeek, Gemma, Qwen)
and MobileNetV5, which have no small one, with noise in all its parameters, so that no bias is zero and no
attention uniform, and statistics of noise in its batch normalisations, so that none is a row of zeros and a one. The
judge runs a copy with the fused kernels switched off and writes down, seen from the functions that torch calls and
without a word about architectures, what multiplies the values behind every softmax. A tool is

right           where it gives every one of them, and nothing else
partly          where all that it gives is right and some are missing
wrong           where it gives something that is none of them
refused         where it says in a sentence that it cannot
needs code      where it gives nothing, fails, or does not know the architecture

timm's `AttentionExtract` is asked for its defaults, after the fused kernels were switched off; the loop of hooks is on
every `attn_drop`. `transformers` is asked for its own model of the architecture, made small, and judged in itself.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import timm
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

import vitexplorer as vx
from benchmarks.field.bench import Bench
from benchmarks.field.peers import peers
from benchmarks.field.tables import Table
from benchmarks.field.ways import unfused
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import ExplainedError
from vitexplorer.models.seeding import seeded

ARCHITECTURES = {
    "ViT": "test_vit",
    "DeiT": "deit_tiny_distilled_patch16_224",
    "ViT, hybrid": "vit_tiny_r_s16_p8_224",
    "ViTamin": "vitamin_small_224",
    "BEiT": "beit_base_patch16_224",
    "EVA-02": "eva02_tiny_patch14_224",
    "DINOv3": "vit_small_patch16_dinov3",
    "ViT, relative positions": "test_vit_relpos",
    "ViT, SAM": "samvit_base_patch16_224",
    "NaFlexViT": "naflexvit_base_patch16_gap",
    "Swin": "swin_tiny_patch4_window7_224",
    "Swin V2": "swinv2_tiny_window8_256",
    "Swin V2, Reich": "swinv2_cr_tiny_224",
    "CaiT": "cait_xxs24_224",
    "ConViT": "convit_tiny",
    "CrossViT": "crossvit_tiny_240",
    "DaViT": "davit_tiny",
    "EfficientFormer": "efficientformer_l1",
    "EfficientFormerV2": "efficientformerv2_s0",
    "FastViT": "fastvit_sa12",
    "GCViT": "gcvit_xxtiny",
    "Hiera": "hiera_tiny_224",
    "Hiera, SAM 2": "sam2_hiera_tiny",
    "LeViT": "levit_128s",
    "MaxViT / CoAtNet": "coatnet_nano_rw_224",
    "MetaFormer": "caformer_s18",
    "MobileViT": "mobilevit_xxs",
    "MViTv2": "mvitv2_tiny",
    "NesT": "nest_tiny",
    "Next-ViT": "nextvit_small",
    "PiT": "pit_ti_distilled_224",
    "PVT v2": "pvt_v2_b0",
    "TinyViT": "tiny_vit_5m_224",
    "TNT": "tnt_s_patch16_224",
    "Twins": "twins_svt_small",
    "Visformer": "visformer_tiny",
    "VOLO": "volo_d1_224",
    "XCiT": "xcit_nano_12_p16_224",
    "CoaT": "coat_lite_tiny",
    "EdgeNeXt": "edgenext_xx_small",
    "EfficientViT, MSRA": "efficientvit_m0",
    "iFormer": "iformer_s",
    "SHViT": "shvit_s1",
    "BoTNet": "botnet26t_256",
    "LowFormer": "lowformer_b0",
    "CPUBone": "cpubone_b0_bfrobust",
    "CSATv2": "csatv2",
}
"""Name -> a small model of the architecture"""
QUICK = ("ViT", "Swin", "LeViT", "CoaT")
_CLOSE = {"rtol": 0.0, "atol": 2e-5}
_SOFTMAXES = (F.softmax, torch.softmax, Tensor.softmax)
_PRODUCTS = (torch.matmul, torch.bmm, Tensor.matmul, Tensor.__matmul__, Tensor.bmm, torch.einsum)
Given = list[Tensor]


# ------------------------------------------------------------------------------------------------- the judge


class Judge(TorchFunctionMode):
    """Function mode that records the factor of the values after each softmax over the last axis, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.weights: Given = []
        self._softmax: Tensor | None = None

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function is F.scaled_dot_product_attention:
            self.weights.append(_by_definition(*args, **kwargs))
            return function(*args, **kwargs)
        if function in _PRODUCTS and self._softmax is not None:
            self._meets([factor for factor in args if isinstance(factor, Tensor)])
        out = function(*args, **kwargs)
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None) if function in _SOFTMAXES else None
        if dim is not None and out.ndim >= 3 and dim in (-1, out.ndim - 1):
            self._softmax = out
        return out

    def _meets(self, factors: Given) -> None:
        after = self._softmax
        for factor in factors:
            if factor.shape == after.mT.shape and torch.equal(factor.mT, after):  # values^T A^T
                factor = factor.mT
            if factor.shape == after.shape:
                self.weights.append(factor)
                self._softmax = None
                return


def _by_definition(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Compute softmax(scale q k^T + mask) from the arguments of `F.scaled_dot_product_attention`."""
    scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
    if attn_mask is not None:
        masked = torch.where(attn_mask, 0.0, -torch.inf) if attn_mask.dtype == torch.bool else attn_mask
        scores = scores + masked
    return scores.softmax(-1)


def judged(module: nn.Module, pixels: Tensor) -> Given:
    """Return the attention of a module that computes it explicitly."""
    with torch.no_grad(), Judge() as judge:
        module(pixels)
    return judge.weights


def verdict(given: Given, truth: Given) -> str:
    """Judge the attention that a tool returned against the attention that was used."""
    left = list(truth)
    for weights in given:
        match = next((i for i, other in enumerate(left) if _same(weights, other)), None)
        if match is None:
            return "wrong"
        del left[match]
    return "needs code" if not given else "partly" if left else "right"


def _same(one: Tensor, other: Tensor) -> bool:
    """Return True if all weights are equal, in any order of windows and batch.

    If the order differs, the rows are compared by three fixed mixtures of their weights, each sorted.
    """
    if one.numel() != other.numel() or one.shape[-1] != other.shape[-1]:
        return False
    first, second = (tensor.reshape(-1, tensor.shape[-1]) for tensor in (one, other))
    if torch.allclose(first, second, **_CLOSE):
        return True
    mixing = torch.randn(one.shape[-1], 3, generator=torch.Generator().manual_seed(0))
    return torch.allclose((first @ mixing).sort(0)[0], (second @ mixing).sort(0)[0], **_CLOSE)


# ------------------------------------------------------------------------------------------------- the tools


@dataclass(frozen=True)
class Asked:
    """Model, its input, and the attention that it uses."""

    name: str
    module: nn.Module
    pixels: Tensor
    truth: Given


def _ours(it: Asked) -> str:
    try:
        model = vx.load_model(it.name, weights="random", device="cpu")
        model.module.load_state_dict(it.module.state_dict())
        image = np.random.default_rng(0).integers(0, 256, (*model.preprocessing.input_size, 3), dtype=np.uint8)
        captured = vx.capture(model, image, fit="squash")
        given = [one for block in range(captured.depth) for one in _by_softmax(captured, block)]
    except ExplainedError:
        return "refused"
    return verdict(given, judged(unfused(model.module), captured.input.tensor))


def _by_softmax(captured: Capture, block: int) -> Given:
    """Return the attention of a block: all heads, or head by head if the module has a softmax for each."""
    weights = captured.call(block).weights()
    return list(weights.split(1, dim=1)) if captured.site(block).heads_apart else [weights]


def _extracted(it: Asked) -> str:
    from timm.utils import AttentionExtract

    with torch.no_grad():
        found = AttentionExtract(unfused(it.module))(it.pixels)
    return verdict(list(found.values()), it.truth)


def _hooked(it: Asked) -> str:
    twin, recorded = unfused(it.module), []
    for name, part in twin.named_modules():
        if name.endswith("attn_drop"):
            part.register_forward_hook(lambda _, inputs, output: recorded.append(output))
    with torch.no_grad():
        twin(it.pixels)
    return verdict(recorded, it.truth)


THERE = {
    "ViT": ("ViTConfig", "ViTModel"),
    "DeiT": ("DeiTConfig", "DeiTModel"),
    "BEiT": ("BeitConfig", "BeitModel"),
    "DINOv3": ("DINOv3ViTConfig", "DINOv3ViTModel"),
    "Swin": ("SwinConfig", "SwinModel"),
    "Swin V2": ("Swinv2Config", "Swinv2Model"),
    "Hiera": ("HieraConfig", "HieraModel"),
    "LeViT": ("LevitConfig", "LevitModel"),
    "MobileViT": ("MobileViTConfig", "MobileViTModel"),
    "PVT v2": ("PvtV2Config", "PvtV2Model"),
    "EfficientFormer": ("EfficientFormerConfig", "EfficientFormerModel"),
}
"""Name -> configuration and model in transformers"""


def _in_transformers(name: str) -> str:
    import transformers

    config, model = (getattr(transformers, there, None) for there in THERE.get(name, ("", "")))
    if model is None:
        return "needs code"
    try:
        module = model(config()).eval()
        module.set_attn_implementation("eager")
    except (ValueError, AttributeError):
        module = model(config()).eval()
    roughen(module)
    size = getattr(module.config, "image_size", 224)
    sides = size if isinstance(size, (list, tuple)) else (size, size)
    pixels = torch.randn(1, 3, *sides, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        found = getattr(module(pixels, output_attentions=True), "attentions", None)
    return verdict(_flat(found or ()), judged(module, pixels))


def _flat(found: Tensor | Iterable) -> Given:
    return [found] if isinstance(found, Tensor) else [one for part in found for one in _flat(part)]


@torch.no_grad()
def roughen(module: nn.Module) -> None:
    """Add noise to every parameter: matrices at about 0.3 / sqrt(fan in), all else at 0.1.

    With more noise, some networks' scores reach thousands, where rounding alone decides which weight becomes 1.
    """
    generator = torch.Generator().manual_seed(0)
    for parameter in module.parameters():
        is_matrix = parameter.ndim > 1 and len(parameter) > 1
        size = 0.3 * parameter[0].numel() ** -0.5 if is_matrix else 0.1
        parameter += size * torch.randn(parameter.shape, generator=generator)


@torch.no_grad()
def settle(module: nn.Module, pixels: Tensor) -> None:
    """Set every batch normalisation to the statistics of noise, as training would, so that activations stay bounded."""
    normed = [part for part in module.modules() if isinstance(part, nn.modules.batchnorm._BatchNorm)]
    for part in normed:
        part.train()
        part.momentum = 1.0
    if normed:
        module(torch.randn(8, *pixels.shape[1:], generator=torch.Generator().manual_seed(0)))
    module.eval()


# ------------------------------------------------------------------------------------------------- the table


def _tool(ask: Callable[[], str]) -> str:
    """Return a verdict, or "needs code" if the tool fails."""
    try:
        return ask()
    except Exception:  # whatever it is, a person would have to write code
        return "needs code"


def measure(name: str) -> dict[str, str]:
    """Return the verdicts of all tools on an architecture; "attends" is the number of softmaxes seen by the judge."""
    with seeded(0):
        module = timm.create_model(ARCHITECTURES[name]).eval()
    roughen(module)
    size = timm.data.resolve_model_data_config(module)["input_size"]
    pixels = torch.randn(1, *size, generator=torch.Generator().manual_seed(0))
    settle(module, pixels)
    it = Asked(ARCHITECTURES[name], module, pixels, judged(unfused(module), pixels))
    found = {"attends": str(len(it.truth)), "ours": _tool(lambda: _ours(it))}
    found["timm AttentionExtract"] = _tool(lambda: _extracted(it))
    found["loop of hooks"] = _tool(lambda: _hooked(it))
    if "transformers" in peers():
        found["transformers"] = _tool(lambda: _in_transformers(name))
    return found


def tables(bench: Bench) -> list[Table]:
    """Return a row for each architecture, and the counts of the verdicts."""
    warnings.simplefilter("ignore")
    names = QUICK if bench.quick else tuple(ARCHITECTURES)
    found = {name: bench.cell(f"coverage {name}", dict[str, str], lambda name=name: measure(name)) for name in names}
    tools = list(next(iter(found.values())))[1:]
    rows = tuple(
        (name, ARCHITECTURES[name], *(one[tool] for tool in ("attends", *tools))) for name, one in found.items()
    )
    columns = ("architecture", "model", "softmaxes", *tools)
    each = Table("coverage", "Coverage: is what a tool gives the attention that was used?", columns, rows)
    verdicts = ("right", "partly", "refused", "wrong", "needs code")
    counts = {tool: Counter(one[tool] for one in found.values()) for tool in tools}
    counted = tuple((tool, *(counts[tool][word] for word in verdicts)) for tool in tools)
    most = max((counts[tool]["right"], tool) for tool in tools if tool != "ours")
    text = (
        f"Ours is right for {counts['ours']['right']} of {len(found)} architectures; {most[1]}, the most of the peers, "
        f"for {most[0]}.",
        "Ours is partly right where it leaves out, and says so, what has no weight from patch to patch: attention "
        "between channels (DaViT, XCiT), inside of a patch (TNT), without keys (VOLO), to averages along the sequence "
        "(Next-ViT), or on an image that was resized (CrossViT); a hook gives these matrices too, without a word of "
        "what their axes are. It refuses an architecture in which no patch has weights of its own on other patches "
        "(EdgeNeXt: attention between channels; CoaT: a softmax over the keys alone), and any other until the places "
        "of its tokens in the image are stated and checked.",
    )
    return [Table("coverage_counts", "Coverage: how many architectures", ("tool", *verdicts), counted, text), each]
