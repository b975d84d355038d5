"""Speed of fine-tuning, and its accuracy over the linear probe.

    python -m benchmarks.finetune [lora] [cached] [scenes] [--tiny] [--model NAME]

lora    one training step (forward, backward, AdamW) of our LoRA beside Hugging Face peft's on qkv, ViT-S/16 at 224,
        the same rank; the two take turns, the median of each is compared. Target: ours is not slower.
cached  an epoch (training and validation) of linear and of partial_1 from the cache and with the whole network, on
        drawn scenes without augmentation. Targets: linear at least 100 times faster, partial_1 at least 4 times.
scenes  every method on 12 classes x 20 drawn scenes, one split, one seed, and whether it beats linear.

Random weights for the first two: the time does not depend on them. `--tiny` runs everything on a very small model and
a few images, to see that it runs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

import vitexplorer as vx
from vitexplorer.cli.finetune import leaderboard, time_text
from vitexplorer.core.settings import settings
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.comparison import Comparison
from vitexplorer.finetune.data import example_folder
from vitexplorer.finetune.in_process import compare, finetune
from vitexplorer.finetune.methods import METHODS
from vitexplorer.finetune.preview import preview
from vitexplorer.finetune.trained_parts import parameter_groups, train_mode, trainable
from vitexplorer.service.amounts import score

SMALL, TINY = "vit_small_patch16_224", "test_vit"
RANK, CLASSES = 8, 10
TARGETS = {"linear": 100, "partial_k": 4}


def device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def lora(tiny: bool) -> None:
    """Print the milliseconds of a step, ours and peft's."""
    from peft import LoraConfig, get_peft_model

    model = vx.load_model(TINY if tiny else SMALL, weights="random")
    ours = attach(model, "lora", CLASSES, r=RANK, alpha=RANK)
    train_mode(ours, 0.0)
    plain = attach(model, "linear", CLASSES).module.train()
    config = LoraConfig(r=RANK, lora_alpha=RANK, target_modules=["qkv"], modules_to_save=["head"])
    theirs = get_peft_model(plain, config)
    draw = torch.Generator().manual_seed(0)
    images = torch.randn(4 if tiny else 16, 3, *model.preprocessing.input_size, generator=draw).to(device())
    steps = {
        "ours": _stepper(ours.module, torch.optim.AdamW(parameter_groups(ours)), images),
        "peft": _stepper(theirs, torch.optim.AdamW([p for p in theirs.parameters() if p.requires_grad]), images),
    }
    times: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(4 if tiny else 22):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            if turn >= 2:  # warm
                times[name].append(1000 * (time.perf_counter() - start))
    medians = {name: statistics.median(spent) for name, spent in times.items()}
    count = sum(parameter.numel() for parameter in trainable(ours.module).values())
    print(f"LoRA step, {model.name}, batch {len(images)}, rank {RANK}, {count:,} trained parameters, {device()}")
    mine, theirs_ms = medians["ours"], medians["peft"]
    print(f"  ours {mine:.1f} ms   peft {theirs_ms:.1f} ms   {theirs_ms / mine:.2f} times")


def _stepper(network: nn.Module, optimiser: torch.optim.Optimizer, images: torch.Tensor) -> Callable[[], None]:
    labels = torch.arange(len(images), device=images.device) % CLASSES

    def step() -> None:
        nn.functional.cross_entropy(network(images), labels).backward()
        optimiser.step()
        optimiser.zero_grad()
        if images.is_cuda:
            torch.cuda.synchronize()

    return step


def cached(tiny: bool) -> None:
    """Print the seconds of an epoch from the cache and with the whole network."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = example_folder(Path(scratch) / "scenes", 2 if tiny else 20, 64 if tiny else 224)
        for method, target in TARGETS.items():
            live, from_cache = (
                _epoch(folder, method, Path(scratch) / f"{method}-{megabytes}", tiny, megabytes)
                for megabytes in (0, 4096)
            )
            ratio = live / from_cache
            print(f"{method} epoch: live {live:.2f} s, cached {from_cache:.4f} s, {ratio:.0f} times (target {target})")


def _epoch(folder: Path, method: str, out: Path, tiny: bool, megabytes: int) -> float:
    """Return the mean seconds of the second and later epochs, with at most `megabytes` of cache."""
    os.environ["VIT_FEATURE_CACHE_MEGABYTES"] = str(megabytes)
    settings.cache_clear()
    epochs = 3 if megabytes == 0 else 10
    options = {"weights": "random", "epochs": epochs, "out": out, "augmentation": "none"}
    result = finetune(folder, TINY if tiny else SMALL, method, **options)
    return (result.epochs[-1].seconds - result.epochs[0].seconds) / (epochs - 1)


def scenes(tiny: bool, model: str) -> None:
    """Print the leaderboard, and every method against linear."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = example_folder(Path(scratch) / "scenes", 3 if tiny else 20, 64 if tiny else 192)
        base = vx.load_model(TINY, weights="random") if tiny else vx.load_model(model)
        names = ["linear", "lora"] if tiny else [name for name in METHODS if not preview(base, name, 1).refused]
        comparison = compare(
            folder, base.name, names, 1 if tiny else 20, Path(scratch) / "job", weights="random" if tiny else "auto"
        )
        print(leaderboard(comparison, "en"))
        _against_linear(comparison)


def _against_linear(comparison: Comparison) -> None:
    linear = comparison["linear"]
    for result in comparison.results:
        if result is not linear:
            bootstrap = comparison.bootstrap(result.run, "linear")
            beats = "beats linear" if result.value > linear.value else "does NOT beat linear"
            value = score(result.metric, result.value)
            print(
                f"{result.run:14} {value:>8} {beats}; better in {bootstrap.share:.0%} of the draws, "
                f"difference {bootstrap.low:+.3f} to {bootstrap.high:+.3f}; {time_text(result.seconds)}"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", choices=["lora", "cached", "scenes", []], default=[])
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--model", default="scenes_dino_patch16_192")
    options = parser.parse_args()
    if not options.what or "lora" in options.what:
        lora(options.tiny)
    if not options.what or "cached" in options.what:
        cached(options.tiny)
    if not options.what or "scenes" in options.what:
        scenes(options.tiny, options.model)


if __name__ == "__main__":
    main()
