"""Training recipes: they train, resume exactly and learn; shipped models load with plain timm and match their cards."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import timm
import torch
from accelerate.state import AcceleratorState

from tests.helpers.thorough import quick
from training import loop, measure
from training.creature_pool import CreaturePool
from training.crops import Curriculum, Window, about_object, cut, cut_with_mask
from training.export import card, export
from training.labelled import TOKEN_CLASSES, Labelled, labelled_windows, token_loss
from training.pool import ScenePool, Scenes, draw_scenes
from training.recipe import MEAN, STD
from training.recipes import all_recipes, dino, mae
from training.shipped import DECODER, load, load_decoder, stated
from training.worded_pool import WordedPool
from vitexplorer.core.settings import ASSETS
from vitexplorer.models.seeding import seeded
from vitexplorer.scenes.creatures import Creature
from vitexplorer.scenes.shapes import LABEL_NAMES

RECIPES = all_recipes()
TAUGHT = "scenes_dino_patch16_192"  # by a teacher, which a run keeps too
DECODED = "scenes_mae_patch16_192"  # with a decoder beside it
SHIPPED = [name for name in RECIPES if (ASSETS / "models" / name / "model.safetensors").exists()]


@pytest.fixture(scope="module", autouse=True)
def first_accelerator():
    """Reset accelerate: the first accelerator of a process sets the precision, and another test may make it."""
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.fixture(scope="module")
def pool():
    return ScenePool("train", 24, grounds=True)


@pytest.fixture(scope="module")
def pools(pool):
    """Return the pictures of each recipe; shared ones are drawn once."""
    own = {CreaturePool: CreaturePool("train", 24), WordedPool: WordedPool("train", 24)}
    return {name: own.get(recipe.pool, pool) for name, recipe in RECIPES.items()}


@pytest.fixture(scope="module")
def test_scenes():
    return draw_scenes("test", 48)


def held_out_creatures(count: int) -> SimpleNamespace:
    creatures = [Creature("test", index) for index in range(count)]
    images = np.stack([creature.render([]) for creature in creatures])
    return SimpleNamespace(images=images, labels=np.array([creature.label for creature in creatures]))


def test_all_bundled_weights_are_small():
    assert sum(file.stat().st_size for file in (ASSETS / "models").glob("*/*.safetensors")) < 76e6


def short(recipe, steps: int) -> loop.Schedule:
    return dataclasses.replace(recipe.schedule, steps=steps, batch_size=2, warmup=1)


def state(learner) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in learner.state_dict().items()}


@pytest.mark.parametrize("name", quick(RECIPES, keep=[TAUGHT]))
def test_a_killed_run_goes_on_exactly(name, pools, tmp_path):
    recipe, pool = RECIPES[name], pools[name]
    schedule = short(recipe, 3)
    whole = loop.train(recipe.learner, schedule, pool, tmp_path / "whole", seed=0)
    loop.train(recipe.learner, schedule, pool, tmp_path / "cut", seed=0, stop_after=2)
    another = partial(recipe.start, 1)  # whatever it starts from, the checkpoint counts
    resumed = loop.train(another, schedule, pool, tmp_path / "cut", seed=0)
    start, end, again = state(recipe.start(0)), state(whole), state(resumed)
    assert all(torch.equal(end[key], again[key]) for key in end)
    trained = [key for key, parameter in whole.named_parameters() if parameter.requires_grad]
    assert not any(torch.equal(start[key], end[key]) for key in trained)
    assert loop.restore(recipe.start(2), tmp_path / "cut").steps == 3


@pytest.mark.parametrize("name", quick(RECIPES, keep=[TAUGHT, DECODED]))
def test_the_seed_gives_the_start_and_the_batches(name, pools):
    recipe = RECIPES[name]
    scenes = pools[name].take(range(4))

    def loss(seed: int) -> float:
        with seeded(seed):  # what a learner drops is drawn too
            return recipe.learner()(scenes, np.random.default_rng(seed), 700).item()

    assert loss(3) == loss(3) != loss(4)


@pytest.mark.parametrize("name", quick(RECIPES, keep=[TAUGHT]))
def test_the_loss_falls_on_one_batch(name, pools):
    learner = RECIPES[name].start(0)
    scenes = pools[name].take(range(4))
    optimiser = torch.optim.AdamW([p for p in learner.parameters() if p.requires_grad], lr=1e-3)
    losses = []
    for _ in range(6):
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


def balanced_slowly(logits: np.ndarray, rounds: int) -> np.ndarray:
    """Slow twin of Sinkhorn-Knopp from its paper: columns, then rows scaled to sum 1, in float64 and loops."""
    weights = np.exp(logits.astype(np.float64) - logits.max())
    for _ in range(rounds):
        for column in range(weights.shape[1]):
            weights[:, column] /= weights[:, column].sum()
        for row in range(weights.shape[0]):
            weights[row] /= weights[row].sum()
    return weights


def test_balanced_targets_use_all_prototypes_equally():
    """Rows are distributions; with more rounds all prototypes are used as often; a shift of a prototype is undone."""
    logits = 3 * torch.randn(12, 6, generator=torch.Generator().manual_seed(0))
    result = dino.balanced(logits, rounds=3)
    assert np.allclose(result.numpy(), balanced_slowly(logits.numpy(), 3), atol=1e-6)
    assert torch.allclose(result.sum(1), torch.ones(12), atol=1e-6)
    assert torch.allclose(dino.balanced(logits, rounds=60).sum(0), torch.full((6,), 2.0), atol=0.02)
    shifted = logits + torch.tensor([4.0, 0, 0, 0, 0, -4])
    assert torch.allclose(dino.balanced(shifted, rounds=60), dino.balanced(logits, rounds=60), atol=1e-3)
    assert not torch.allclose(shifted.softmax(1), logits.softmax(1), atol=0.1)


def test_dino_loss_by_hand(pool, monkeypatch):
    """Two scenes, teacher and student with fixed outputs: -sum of teacher(view i) log student(view j)."""
    learner = RECIPES["scenes_dino_patch16_192"].start(0)
    generator = torch.Generator().manual_seed(0)
    taught = 0.1 * torch.randn(2 * dino.LARGE, dino.PROTOTYPES, generator=generator)
    outputs = torch.randn(2 * (dino.LARGE + dino.SMALL), dino.PROTOTYPES, generator=generator)
    monkeypatch.setattr(learner.teacher, "forward", lambda images: taught)
    monkeypatch.setattr(learner.student, "forward", lambda *crops: outputs)
    targets = balanced_slowly(taught.numpy() / dino.TEACHER_TEMPERATURE, 3)
    logs = torch.log_softmax(outputs.double() / dino.STUDENT_TEMPERATURE, 1).numpy()
    terms = [
        -(targets[2 * i + scene] @ logs[2 * j + scene])
        for scene in range(2)
        for i in range(dino.LARGE)
        for j in range(dino.LARGE + dino.SMALL)
    ]
    loss = learner(pool.take([0, 1]), np.random.default_rng(0), 0)
    assert loss.item() == pytest.approx(np.mean(terms), rel=1e-5)


def test_the_teacher_sees_silhouettes(pool):
    """At the end of training too, of the crops of a black scene on its own ground, only the teacher's vary."""
    scenes = pool.take(range(4))
    black = dataclasses.replace(scenes, images=np.zeros_like(scenes.images), grounds=np.zeros_like(scenes.images))
    last = dino.STEPS - 1
    crops = dino.crop(black, np.random.default_rng(0), last, painted=True)
    assert crops.shape == (4, 3, 192, 192)
    assert (crops.flatten(2).std(-1).amax(1) > 0.05).all()
    steps = [dino.crop(black, np.random.default_rng(seed), last) for seed in range(8)]
    assert any((views.flatten(2).std(-1) == 0).all(1).any() for views in steps)


def test_softened_heads_weigh_patches_in_the_same_order():
    """The ratio of any two weights of a row is raised to the factor; nothing before the last block changes."""
    model = RECIPES["scenes_dino_patch16_192"].untrained(0)
    with torch.no_grad():
        model.blocks[-1].attn.qkv.weight[: 2 * model.embed_dim] *= 8  # an untrained row is all but even
        model.blocks[-1].attn.qkv.bias.normal_(generator=torch.Generator().manual_seed(0))
    images = draw_scenes("test", 2).images
    before = np.log(measure.class_attention(model, images))
    dino.soften(model, 0.55)
    after = np.log(measure.class_attention(model, images))
    assert np.ptp(before, axis=-1).min() > 1
    assert np.allclose(after - after[..., :1], 0.55 * (before - before[..., :1]), atol=1e-4)


def test_dino_ships_its_teacher_softened_and_keeps_it_as_it_was():
    learner = RECIPES["scenes_dino_patch16_192"].start(0)
    weights, shipped = learner.teacher.backbone.state_dict(), learner.shipped().state_dict()
    for name, tensor in weights.items():
        if name.startswith("blocks.5.attn.qkv"):
            assert torch.equal(shipped[name][:192], dino.LAST_SCORES * tensor[:192]), name
            assert torch.equal(shipped[name][192:], tensor[192:]), name
        else:
            assert torch.equal(shipped[name], tensor), name


def test_token_labels_by_hand():
    """One scene, two cells: the first half object of class 3, the second all ground; twin in logarithms by hand."""
    logits = torch.randn(1, 2, TOKEN_CLASSES, generator=torch.Generator().manual_seed(0))
    batch = Labelled(torch.zeros(0), torch.tensor([3]), torch.tensor([[0.5, 0.0]]))
    logs = np.log(np.exp(logits[0].double().numpy()) / np.exp(logits[0].double().numpy()).sum(1, keepdims=True))
    by_hand = -(0.5 * logs[0, 3] + 0.5 * logs[0, -1] + logs[1, -1]) / 2
    assert token_loss(logits, batch.shares).item() == pytest.approx(by_hand, rel=1e-5)


def test_windows_say_what_their_cells_cover(pool):
    """All of the mask painted white: a cell is covered as far as it is bright, for the gain of its channel."""
    scenes = pool.take(range(6))
    black = dataclasses.replace(scenes, images=np.zeros_like(scenes.images))
    curriculum = Curriculum(sizes=((1, 96),), zooms=((0, 1.0),), paints=((0, 2.0),))
    windows = labelled_windows(black, curriculum, np.random.default_rng(0), 0, 32, torch.device("cpu"))
    assert windows.images.shape == (6, 3, 96, 96)
    assert windows.cover.shape == (6, 9)
    bright = windows.images.unflatten(2, (3, 32)).unflatten(4, (3, 32)).mean((3, 5)).flatten(2)  # (6, 3, 9)
    gain = windows.images.amax((2, 3))[..., None]
    darker = (gain < 1)[..., 0]  # lighter channels are cut off at 1
    assert darker.sum() > 4
    assert torch.allclose((bright / gain)[darker], windows.cover[:, None].expand(-1, 3, -1)[darker], atol=0.01)
    assert windows.labels.tolist() == scenes.labels.tolist()


def test_deit_learns_from_label_and_teacher(pool, monkeypatch):
    """The teacher is frozen; its answer is half of the loss of the two tokens."""
    learner = RECIPES["scenes_deit_patch16_192"].start(0).train()
    assert not learner.teacher.training
    weights = state(learner.teacher)
    scenes = pool.take(range(4))
    loss = learner(scenes, np.random.default_rng(0), 0)
    loss.backward()
    assert all(torch.equal(weights[key], value) for key, value in learner.teacher.state_dict().items())
    assert all(parameter.grad is None for parameter in learner.teacher.parameters())
    assert learner.model.head_dist.weight.grad.abs().sum() > 0
    answers = torch.zeros(4, len(LABEL_NAMES)).scatter(1, torch.tensor([[0], [1], [2], [3]]), 9.0)
    losses = []
    for shift in (0, 1):
        monkeypatch.setattr(learner.teacher, "forward", lambda images, shift=shift: answers.roll(shift, 1))
        losses.append(learner(scenes, np.random.default_rng(0), 0).item())
    by_dist = []
    monkeypatch.setattr(learner.model, "forward_head", lambda tokens: (by_dist.append(tokens), (0, 0))[1])
    with pytest.raises(AttributeError):  # the fake head's zeros are no tensors; the tokens were seen before that
        learner(scenes, np.random.default_rng(0), 0)
    logs = learner.model.head_dist(by_dist[0][:, 1]).log_softmax(1)
    rows = torch.arange(4)
    expected = -0.5 * (logs[rows, rows + 1] - logs[rows, rows]).mean().item()
    assert losses[1] - losses[0] == pytest.approx(expected, abs=1e-4)


def test_mae_loss_counts_hidden_patches_alone(pool, monkeypatch):
    """A decoder that is right about hidden patches has no loss, whatever it draws on visible ones; and by hand."""
    learner = RECIPES["scenes_mae_patch16_192"].start(0)
    seen = {}

    def draw(tokens, visible):
        assert tokens.shape[:2] == (4, 37)
        seen["visible"] = visible
        return torch.zeros(4, 144, 768).scatter(1, visible[..., None].expand(-1, -1, 768), 7.0)

    monkeypatch.setattr(learner.drawer, "forward", draw)
    scenes = pool.take(range(4))
    loss = learner(scenes, np.random.default_rng(5), 0)
    images = (mae.windows(scenes, np.random.default_rng(5)) - MEAN) / STD
    total = 0.0
    for image, visible in zip(images.double().numpy(), seen["visible"].tolist(), strict=True):
        assert len(set(visible)) == 36
        for patch in set(range(144)) - set(visible):
            row, col = divmod(patch, 12)
            total += (image[:, 16 * row : 16 * row + 16, 16 * col : 16 * col + 16] ** 2).mean()
    assert loss.item() == pytest.approx(total / (4 * 108), rel=1e-5)


def test_schedule_warms_up_follows_the_cosine_and_cools_down():
    schedule = loop.Schedule(steps=100, batch_size=1, learning_rate=1.0, warmup=10, cosine=210, cooldown=20)
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
        visible = (seen > 127).mean() * (window.side / 192) ** 2
        assert visible > 0.8 * mask.mean()
        assert np.abs(view.astype(int) - seen[..., None]).max() <= 1


def test_mass_mask_by_hand():
    """0.1 0.2 0.3 0.4: running sums from below 0.1 0.3 0.6 1.0; those above 1 - 0.6 = 0.4 are the last two."""
    rows = np.array([[0.2, 0.05, 0.15, 0.1]])  # sums to 0.5: it is divided first
    assert measure.mass_mask(rows).tolist() == [[True, False, True, False]]


def test_overlap_of_the_object_s_own_share_by_hand():
    """A patch of four object pixels and one of two: 60 % of the weight is the first, four of six pixels."""
    mask = np.zeros((1, 4, 4), bool)
    mask[0, :2, :2] = mask[0, 0, 2:] = True
    scenes = Scenes(np.zeros((1, 4, 4, 3), np.uint8), mask, np.zeros(1, np.int64))
    assert measure.share_overlap(scenes, (2, 2)) == pytest.approx(4 / 6)


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


@pytest.mark.parametrize("name", quick(RECIPES, keep=[TAUGHT, DECODED]))
def test_export_round_trip(name, tmp_path):
    """Saved weights load with plain timm, equal up to half precision, and the card states the figures."""
    recipe = dataclasses.replace(RECIPES[name], measure=lambda recipe, folder: {"accuracy": 0.1234})
    learner = recipe.start(5)
    module, decoder = learner.shipped(), learner.beside().get(DECODER)
    run = loop.Run(seed=5, steps=7, seconds=180, machine="an abacus")
    assert export(recipe, learner, run, tmp_path) == stated(tmp_path) == {"accuracy": 0.1234}
    loaded = load(tmp_path)
    again = load_decoder(tmp_path, loaded)
    assert (again is None) == (decoder is None) == (not (tmp_path / DECODER).exists())
    if decoder is not None:
        tensors = again.state_dict()
        assert all(torch.equal(tensors[key], value.half().float()) for key, value in decoder.state_dict().items())
    for name, tensor in module.state_dict().items():
        assert loaded.state_dict()[name].dtype == tensor.dtype
        assert torch.equal(loaded.state_dict()[name], tensor.half().to(tensor.dtype))
    text = card(recipe, run, {"accuracy": 0.1234}, tmp_path)
    assert text == (tmp_path / "README.md").read_text(encoding="utf-8")
    for part in ("an abacus", "7 steps", "0.123", "--seed 5", "was not finished", "3 minutes"):
        assert part in text


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_weights_load_with_plain_timm(name):
    folder = ASSETS / "models" / name
    model = timm.create_model(f"local-dir:{folder}", pretrained=True)
    recipe = RECIPES[name]
    assert tuple(model.pretrained_cfg["input_size"]) == (3, recipe.input_size, recipe.input_size)
    assert tuple(model.pretrained_cfg["mean"]) == (MEAN,) * 3
    assert model.num_classes == recipe.model_args["num_classes"]
    assert sum(file.stat().st_size for file in folder.glob("*.safetensors")) < 8e6
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if recipe.label_names:
        assert tuple(config["label_names"]) == recipe.label_names
        assert tuple(config["label_names_zh"]) == recipe.label_names_zh
        assert tuple(model.pretrained_cfg["label_names"]) == recipe.label_names
    run = loop.Run(**{key: config["training"][key] for key in ("seed", "steps", "seconds", "machine")})
    assert card(recipe, run, config["figures"], folder) == (folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", quick(SHIPPED, ["scenes_vit_patch16_192", "scenes_swin_patch4_window6_192"]))
def test_shipped_weights_do_what_the_card_states(name, test_scenes):
    """Measure on a sample; the tolerance is three standard errors of that many scenes."""
    folder = ASSETS / "models" / name
    model, figures = load(folder), stated(folder)
    if "accuracy" in figures:
        spread = np.sqrt(figures["accuracy"] * (1 - figures["accuracy"]) / len(test_scenes))
        is_of_creatures = RECIPES[name].pool is CreaturePool
        pictures = held_out_creatures(len(test_scenes)) if is_of_creatures else test_scenes
        assert measure.accuracy(model, pictures) == pytest.approx(figures["accuracy"], abs=max(3 * spread, 0.03))
    if "attention overlap" in figures:
        assert measure.attention_overlap(model, test_scenes) == pytest.approx(figures["attention overlap"], abs=0.06)
        untrained = measure.attention_overlap(RECIPES[name].untrained(0), test_scenes)
        assert untrained == pytest.approx(figures["attention overlap, untrained"], abs=0.06)
    if "reconstruction error" in figures:
        error, guess = measure.reconstruction_errors(model, load_decoder(folder, model), test_scenes.images)
        assert error / guess == pytest.approx(figures["reconstruction error, ratio"], abs=0.05)
