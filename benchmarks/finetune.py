"""How fast fine-tuning is, and whether it is worth it.

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
from vitexplorer.cli.finetune import duration, figure, leaderboard
from vitexplorer.core.settings import settings
from vitexplorer.finetune.attaching import attach, refusal
from vitexplorer.finetune.comparison import Comparison
from vitexplorer.finetune.data import example_folder
from vitexplorer.finetune.in_process import compare, finetune
from vitexplorer.finetune.methods import METHODS
from vitexplorer.finetune.trained_parts import parameter_groups, train_mode, trainable

SMALL, TINY = "vit_small_patch16_224", "test_vit"
RANK, CLASSES = 8, 10
TARGETS = {"linear": 100, "partial_k": 4}


def device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def lora(tiny: bool) -> None:
    """Milliseconds of a step, ours and peft's."""
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
    middle = {name: statistics.median(all_) for name, all_ in times.items()}
    count = sum(parameter.numel() for parameter in trainable(ours.module).values())
    print(f"LoRA step, {model.name}, batch {len(images)}, rank {RANK}, {count:,} trained parameters, {device()}")
    print(
        f"  ours {middle['ours']:.1f} ms   peft {middle['peft']:.1f} ms   {middle['peft'] / middle['ours']:.2f} times"
    )


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
    """Seconds of an epoch from the cache and with the whole network."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = example_folder(Path(scratch) / "scenes", 2 if tiny else 20, 64 if tiny else 224)
        for method, target in TARGETS.items():
            live, kept = (_epoch(folder, method, Path(scratch) / f"{method}-{room}", tiny, room) for room in (0, 4096))
            print(f"{method} epoch: live {live:.2f} s, cached {kept:.4f} s, {live / kept:.0f} times (target {target})")


def _epoch(folder: Path, method: str, out: Path, tiny: bool, megabytes: int) -> float:
    """Of the second and later epochs, with at most so many megabytes of cache."""
    os.environ["VIT_FEATURE_CACHE_MEGABYTES"] = str(megabytes)
    settings.cache_clear()
    epochs = 3 if megabytes == 0 else 10
    options = {"weights": "random", "epochs": epochs, "out": out, "augmentation": "none"}
    result = finetune(folder, TINY if tiny else SMALL, method, **options)
    return (result.epochs[-1].seconds - result.epochs[0].seconds) / (epochs - 1)


def scenes(tiny: bool, model: str) -> None:
    """The leaderboard, and every method against linear."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = example_folder(Path(scratch) / "scenes", 3 if tiny else 20, 64 if tiny else 192)
        base = vx.load_model(TINY, weights="random") if tiny else vx.load_model(model)
        names = ["linear", "lora"] if tiny else [name for name in METHODS if refusal(base, name) is None]
        found = compare(
            folder, base.name, names, 1 if tiny else 20, Path(scratch) / "job", weights="random" if tiny else "auto"
        )
        print(leaderboard(found, "en"))
        _against_linear(found)


def _against_linear(found: Comparison) -> None:
    linear = found["linear"]
    for result in found.results:
        if result is not linear:
            tried = found.bootstrap(result.run, "linear")
            beats = "beats linear" if result.value > linear.value else "does NOT beat linear"
            print(
                f"{result.run:14} {figure(result.metric, result.value):>8} {beats}; better in {tried.share:.0%} of the "
                f"draws, difference {tried.low:+.3f} to {tried.high:+.3f}; {duration(result.seconds)}"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", choices=["lora", "cached", "scenes", []], default=[])
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--model", default="scenes_dino_patch16_192")
    given = parser.parse_args()
    if not given.what or "lora" in given.what:
        lora(given.tiny)
    if not given.what or "cached" in given.what:
        cached(given.tiny)
    if not given.what or "scenes" in given.what:
        scenes(given.tiny, given.model)


if __name__ == "__main__":
    main()
