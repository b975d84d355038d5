"""The recipes train, resume exactly and learn; shipped models load with plain timm and do what their cards state."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import timm
import torch

from vitexplorer.models.bundled import loop, measure
from vitexplorer.models.bundled.crops import Curriculum, Window, about_object, cut, cut_with_mask
from vitexplorer.models.bundled.export import card, export, load, stated
from vitexplorer.models.bundled.pool import ScenePool, Scenes, draw_scenes
from vitexplorer.models.bundled.recipes import all_recipes, dino
from vitexplorer.models.bundled.shapes import LABEL_NAMES, LABEL_NAMES_ZH
from vitexplorer.settings import ASSETS

RECIPES = all_recipes()
SHIPPED = [name for name in RECIPES if (ASSETS / "models" / name / "model.safetensors").exists()]


@pytest.fixture(scope="module")
def pool():
    return ScenePool("train", 24, grounds=True)


@pytest.fixture(scope="module")
def test_scenes():
    return draw_scenes("test", 160)


def short(recipe, steps: int) -> loop.Schedule:
    return dataclasses.replace(recipe.schedule, steps=steps, batch_size=8, warmup=1)


def state(learner) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in learner.state_dict().items()}


@pytest.mark.parametrize("name", RECIPES)
def test_a_killed_run_goes_on_exactly(name, pool, tmp_path):
    recipe = RECIPES[name]
    schedule = short(recipe, 3)
    whole = loop.train(recipe.start(0), schedule, pool, tmp_path / "whole", seed=0)
    loop.train(recipe.start(0), schedule, pool, tmp_path / "cut", seed=0, stop_after=2)
    fresh = recipe.start(1)  # whatever it starts from, the checkpoint counts
    resumed = loop.train(fresh, schedule, pool, tmp_path / "cut", seed=0)
    start, end, again = state(recipe.start(0)), state(whole), state(resumed)
    assert all(torch.equal(end[key], again[key]) for key in end)
    trained = [key for key, parameter in whole.named_parameters() if parameter.requires_grad]
    assert not any(torch.equal(start[key], end[key]) for key in trained)
    assert loop.restore(recipe.start(2), tmp_path / "cut").steps == 3


@pytest.mark.parametrize("name", RECIPES)
def test_the_seed_gives_the_start_and_the_batches(name, pool):
    recipe = RECIPES[name]
    scenes = pool.take(range(4))
    losses = [recipe.start(seed)(scenes, np.random.default_rng(seed), 700).item() for seed in (3, 3, 4)]
    assert losses[0] == losses[1] != losses[2]


@pytest.mark.parametrize("name", RECIPES)
def test_the_loss_falls_on_one_batch(name, pool):
    learner = RECIPES[name].start(0)
    scenes = pool.take(range(12))
    optimiser = torch.optim.AdamW([p for p in learner.parameters() if p.requires_grad], lr=1e-3)
    losses = []
    for _ in range(12):
        loss = learner(scenes, np.random.default_rng(0), 0)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.1


def test_the_teacher_gets_no_gradient_and_no_labels(pool):
    learner = RECIPES["scenes_dino_patch16_192"].start(0)
    scenes = pool.take(range(4))
    learner(scenes, np.random.default_rng(0), 0).backward()
    assert all(parameter.grad is None for parameter in learner.teacher.parameters())
    assert all(parameter.grad is not None for parameter in learner.student.parameters())
    other = dataclasses.replace(scenes, labels=(scenes.labels + 1) % len(LABEL_NAMES))
    values = [
        RECIPES["scenes_dino_patch16_192"].start(0)(s, np.random.default_rng(0), 0).item() for s in (scenes, other)
    ]
    assert values[0] == values[1]


def test_dino_loss_by_hand(pool, monkeypatch):
    """One scene, teacher and student with fixed outputs: -sum of teacher(view i) log student(view j) over i != j."""
    learner = RECIPES["scenes_dino_patch16_192"].start(0)
    generator = torch.Generator().manual_seed(0)
    taught = torch.randn(dino.LARGE, dino.PROTOTYPES, generator=generator)
    large = torch.randn(dino.LARGE, dino.PROTOTYPES, generator=generator)
    small = torch.randn(dino.SMALL, dino.PROTOTYPES, generator=generator)
    monkeypatch.setattr(learner.teacher, "forward", lambda images: taught)
    monkeypatch.setattr(learner.student, "forward", lambda *crops: torch.cat([large, small]))
    total, pairs = 0.0, 0
    for i in range(dino.LARGE):
        target = torch.softmax(taught[i].double() / dino.teacher_temperature(0), 0)
        for j, said in enumerate([*large, *small]):
            if i != j:
                total -= float(target @ torch.log_softmax(said.double() / dino.STUDENT_TEMPERATURE, 0))
                pairs += 1
    loss = learner(pool.take([0]), np.random.default_rng(0), 0)
    assert loss.item() == pytest.approx(total / pairs, rel=1e-5)
    assert torch.allclose(learner.centre, 0.1 * taught.mean(0), atol=1e-6)


def test_schedule_warms_up_follows_the_cosine_and_cools_down():
    schedule = loop.Schedule(steps=100, batch_size=1, learning_rate=1.0, warmup=10, cosine=210, floor=0.0, cooldown=20)
    assert schedule.rate_at(0) == pytest.approx(0.1)
    assert schedule.rate_at(9) == pytest.approx(1.0)
    assert schedule.rate_at(60) == pytest.approx(0.01 + 0.99 * (1 + np.cos(np.pi * 50 / 200)) / 2)
    assert schedule.rate_at(90) == pytest.approx(0.5 * (0.01 + 0.99 * (1 + np.cos(np.pi * 80 / 200)) / 2))


def test_curriculum_joins_its_knots():
    curriculum = Curriculum(sizes=((5, 64), (9, 96)), zooms=((0, 1.0), (10, 0.0)), paints=((0, 2.0), (10, -1.0)))
    assert [curriculum.size(step) for step in (0, 4, 5, 8, 9, 50)] == [64, 64, 96, 96, 96, 96]
    assert curriculum.zoom(5) == pytest.approx(0.5)
    assert curriculum.paint(0, np.random.default_rng(0)) == 1
    assert curriculum.paint(10, np.random.default_rng(0)) == 0


def test_a_cut_of_the_whole_scene_is_the_scene():
    image = draw_scenes("test", 1).images[0]
    assert np.array_equal(cut(image, Window(np.full(2, 96.0), 192, 0.0, False), 192), image)
    mirrored = cut(image, Window(np.full(2, 96.0), 192, 0.0, True), 192)
    assert np.array_equal(mirrored[:, 1:], image[:, :0:-1])  # a cut is exact to one pixel
    turned = cut(image, Window(np.full(2, 96.0), 192, np.pi / 2, False), 192)
    assert np.abs(turned[1:].astype(int) - np.rot90(image, 1)[:-1]).mean() < 1


def test_windows_hold_the_object_and_paint_shows_its_mask():
    scenes = draw_scenes("train", 20)
    rng = np.random.default_rng(0)
    for image, mask in zip(scenes.images, scenes.masks, strict=True):
        window = about_object(mask, rng, zoom=1.0)
        view, seen = cut_with_mask(image, mask, window, 64, paint=1.0)
        # a turned window may lose a corner of the object, not more
        shown = (seen > 127).mean() * (window.side / 192) ** 2
        assert shown > 0.8 * mask.mean()
        assert np.abs(view.astype(int) - seen[..., None]).max() <= 1


def test_mass_mask_by_hand():
    """0.1 0.2 0.3 0.4: running sums from below 0.1 0.3 0.6 1.0; those above 1 - 0.6 = 0.4 are the last two."""
    rows = np.array([[0.2, 0.05, 0.15, 0.1]])  # sums to 0.5: it is divided first
    assert measure.mass_mask(rows).tolist() == [[True, False, True, False]]


def test_class_attention_is_what_the_block_computes():
    """Against timm's own attention with its fused kernel off, in loops' order: softmax of q k / sqrt(d), class row."""
    model = RECIPES["scenes_dino_patch16_192"].untrained(0)
    images = draw_scenes("test", 2).images
    rows = measure.class_attention(model, images)
    attention, seen = model.blocks[-1].attn, []
    attention.fused_attn = False
    attention.attn_drop.register_forward_hook(lambda module, inputs, output: seen.append(output))
    with torch.inference_mode():
        for batch in measure.batches(model, images):
            model.forward_features(batch)
    assert np.allclose(rows, seen[0][:, :, 0, 1:].numpy(), atol=1e-6)


def test_neighbour_accuracy_by_hand(monkeypatch):
    """Known tokens along two axes, asked ones near one of them each; the last asked label is wrong on purpose."""
    tokens = {2: torch.eye(2), 3: torch.nn.functional.normalize(torch.tensor([[3.0, 1], [1, 3], [2, 1]]))}
    monkeypatch.setattr(measure, "class_tokens", lambda model, images: tokens[len(images)])
    monkeypatch.setattr(measure, "NEIGHBOURS", 2)
    known = Scenes(np.zeros((2, 1)), np.zeros((2, 1)), np.array([0, 1]))
    asked = Scenes(np.zeros((3, 1)), np.zeros((3, 1)), np.array([0, 1, 1]))
    assert measure.neighbour_accuracy(torch.nn.Identity(), known, asked) == pytest.approx(2 / 3)


def test_export_round_trip(tmp_path):
    """What is written loads with plain timm, equal up to half precision, and the card states the figures."""
    recipe = dataclasses.replace(RECIPES["scenes_vit_patch16_192"], measure=lambda recipe, model: {"accuracy": 0.1234})
    module = recipe.untrained(5)
    run = loop.Run(seed=5, steps=7, seconds=180, machine="an abacus")
    assert export(recipe, module, run, tmp_path) == stated(tmp_path) == {"accuracy": 0.1234}
    loaded = load(tmp_path)
    for name, tensor in module.state_dict().items():
        assert loaded.state_dict()[name].dtype == torch.float32
        assert torch.equal(loaded.state_dict()[name], tensor.half().float())
    text = card(recipe, run, {"accuracy": 0.1234}, tmp_path)
    assert text == (tmp_path / "README.md").read_text(encoding="utf-8")
    for part in ("an abacus", "7 steps", "0.123", "--seed 5", "was not finished", "3 minutes"):
        assert part in text


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_weights_load_with_plain_timm(name):
    folder = ASSETS / "models" / name
    model = timm.create_model(f"local-dir:{folder}", pretrained=True)
    recipe = RECIPES[name]
    assert tuple(model.pretrained_cfg["input_size"]) == (3, 192, 192)
    assert tuple(model.pretrained_cfg["mean"]) == (recipe.mean,) * 3
    assert model.num_classes == recipe.model_args["num_classes"]
    assert (folder / "model.safetensors").stat().st_size < 8e6
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if model.num_classes:
        assert tuple(config["label_names"]) == LABEL_NAMES
        assert tuple(config["label_names_zh"]) == LABEL_NAMES_ZH
        assert tuple(model.pretrained_cfg["label_names"]) == LABEL_NAMES
    run = loop.Run(**{key: config["training"][key] for key in ("seed", "steps", "seconds", "machine")})
    assert card(recipe, run, config["figures"], folder) == (folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_weights_do_what_the_card_states(name, test_scenes):
    """On a sample; the tolerance is three standard errors of 160 scenes."""
    folder = ASSETS / "models" / name
    model, figures = load(folder), stated(folder)
    if "accuracy" in figures:
        spread = np.sqrt(figures["accuracy"] * (1 - figures["accuracy"]) / len(test_scenes))
        assert measure.accuracy(model, test_scenes) == pytest.approx(figures["accuracy"], abs=max(3 * spread, 0.03))
    few = Scenes(test_scenes.images[:100], test_scenes.masks[:100], test_scenes.labels[:100])
    assert measure.attention_overlap(model, few) == pytest.approx(figures["attention overlap"], abs=0.06)
    untrained = measure.attention_overlap(RECIPES[name].untrained(0), few)
    assert untrained == pytest.approx(figures["attention overlap, untrained"], abs=0.06)
