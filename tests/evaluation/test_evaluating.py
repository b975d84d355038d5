"""Evaluation protocols against slow twins and peers, by hand, and as one table of a small model."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import cycle
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference_evaluation as twin
from tests.helpers.small_models import capture_small, load_small, picture
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.core.types import PatchGrid
from vitexplorer.evaluation import parts
from vitexplorer.evaluation.case import Case, Trial, covered_cells
from vitexplorer.evaluation.data import grid_cases, parted_case, scene_cases
from vitexplorer.evaluation.evaluating import _images as images_of
from vitexplorer.evaluation.evaluating import drawn_kinds, tabulate
from vitexplorer.evaluation.intervals import mean_interval
from vitexplorer.evaluation.markdown import as_markdown
from vitexplorer.evaluation.mass_accuracy import mass_accuracy
from vitexplorer.evaluation.measuring import measure
from vitexplorer.evaluation.methods import explainer, map_views, title_of
from vitexplorer.evaluation.overlap import overlap
from vitexplorer.evaluation.parameter_randomisation import cascade, randomised, stages
from vitexplorer.evaluation.parted import Parted, opposed_classes, sufficient_parts
from vitexplorer.evaluation.pointing import points_at
from vitexplorer.evaluation.protocol import PROTOCOLS
from vitexplorer.evaluation.rank_accuracy import rank_accuracy
from vitexplorer.evaluation.ranks import spearman
from vitexplorer.evaluation.road import NOISE, filled_in, imputed
from vitexplorer.evaluation.saco import coefficient
from vitexplorer.evaluation.sensitivity import DRAWS, noisy, relative_distances
from vitexplorer.figures import render
from vitexplorer.scenes import draw_scene
from vitexplorer.scenes.creatures import CLASS_NAMES
from vitexplorer.scenes.paper import box_of
from vitexplorer.scenes.shapes import LABEL_NAMES

RNG = np.random.default_rng(5)


def a_case(size: int = 64, target: int = 2) -> Case:
    """Make a case whose cell is the upper left quarter, with an object that ends within patches."""
    mask, cell = np.zeros((2, size, size), bool)
    mask[5:20, 9:30], cell[: size // 2, : size // 2] = True, True
    return Case(picture(size, size), target, mask, cell)


def a_trial(method: str = "input_x_gradient", case: Case | None = None, model: str = "vit") -> Trial:
    case = case or a_case()
    capture, explain = vx.capture(load_small(model), case.image, fit="squash"), explainer(method, case, 0)
    return Trial(capture, case, explain(capture, case.target), explain, 0)


# ------------------------------------------------------------------------------------------ maps against masks


def test_shares_of_relevance_agree_with_pixels():
    grid, mask = PatchGrid(3, 4, 5), RNG.random((15, 20)) < 0.4
    values = RNG.normal(size=(3, 4))
    assert mass_accuracy(values, grid, mask) == pytest.approx(twin.mass_accuracy(twin.on_pixels(values, 5), mask))
    assert mass_accuracy(-np.abs(values), grid, mask) == 0
    assert covered_cells(mask, grid)[2, 1] == pytest.approx(mask[10:15, 5:10].mean())


def test_rank_accuracy_is_the_mean_over_orders_of_equal_pixels():
    grid, mask = PatchGrid(2, 3, 2), RNG.random((4, 6)) < 0.4
    for values in (RNG.normal(size=(2, 3)), np.array([[1.0, 0, 0], [2, 0, 0]])):
        orders = [twin.rank_accuracy(twin.on_pixels(values, 2), mask, RNG) for _ in range(600)]
        assert rank_accuracy(values, grid, mask) == pytest.approx(np.mean(orders), abs=0.04)


def test_a_map_of_the_mask_itself_is_ranked_right():
    mask = RNG.random((4, 6)) < 0.4
    assert rank_accuracy(mask.astype(float), PatchGrid(4, 6, 1), mask) == 1
    assert rank_accuracy(np.ones((4, 6)), PatchGrid(4, 6, 1), mask) == pytest.approx(mask.mean())
    assert rank_accuracy(np.ones((4, 6)), PatchGrid(4, 6, 1), np.zeros((4, 6), bool)) == 0


def test_pointing_looks_at_the_middle_of_the_highest_cell():
    values, grid = np.array([[0.0, 1.0], [0.5, -9.0]]), PatchGrid(2, 2, 4)
    mask = np.zeros((8, 8), bool)
    mask[2, 6] = True
    assert points_at(values, grid, mask)
    assert not points_at(-values, grid, mask)  # now the lowest, row 1, column 1, is the highest
    mask[6, 6] = True
    assert points_at(-values, grid, mask)


def test_overlap_by_hand():
    """The first two cells hold 0.6 of 0.3 + 0.2 + 0.05: 32 pixels, 16 of them in the mask and 4 of it outside."""
    values, grid = np.array([[0.3, 0.2], [0.05, -5.0]]), PatchGrid(2, 2, 4)
    mask = np.zeros((8, 8), bool)
    mask[:4, :4] = True
    mask[4, 4:8] = True
    assert overlap(values, grid, mask) == pytest.approx(16 / (32 + 4))
    assert overlap(np.zeros((2, 2)), grid, mask) == 0
    assert overlap(-np.ones((2, 2)), grid, mask) == 0


# ------------------------------------------------------------------------------------------ pixels taken away


def test_missing_pixels_are_the_mean_of_their_neighbours():
    image = RNG.normal(size=(3, 24, 12))
    missing = np.zeros((2, 24, 12), bool)
    missing[0, :12, :4], missing[0, 7, 9], missing[1] = True, True, True
    missing[1, 20:, 8:] = False
    result = filled_in(torch.tensor(image).expand(2, -1, -1, -1), torch.tensor(missing)[:, None].double())
    for at in range(2):
        assert result[at].numpy() == pytest.approx(twin.imputed(image, missing[at]), abs=0.01)
    noisy_ones = imputed(torch.tensor(image), torch.tensor(missing), 0) - result
    assert float(noisy_ones[~torch.tensor(missing)[:, None].expand_as(result)].abs().max()) == 0
    assert float(noisy_ones[1].std()) == pytest.approx(NOISE, rel=0.15)


def test_road_is_one_minus_one_where_the_answer_hangs_on_what_the_map_names(unchecked):
    """Score a network that answers 1 while the patch of row 0, column 0 is unchanged."""
    trial = a_trial("random", a_case(target=1))
    first = trial.capture.input.tensor[0, :, :16, :16]

    def network(images: torch.Tensor) -> torch.Tensor:
        whole = ((images[:, :, :16, :16] - first).abs().amax((1, 2, 3)) == 0).float()
        return torch.stack([1 - whole, whole], 1)

    values = np.zeros((4, 4))
    values[0, 0] = 1
    capture = SimpleNamespace(
        input=trial.capture.input, run=network, depth=1, grid=lambda block: trial.capture.grid(block)
    )
    for sign, expected in ((1, [0, 1]), (-1, [1, 0])):
        map_ = SimpleNamespace(values=sign * values, grid=trial.capture.grid(0))
        road_trial = Trial(capture, trial.case, map_, trial.explain, 0)
        assert PROTOCOLS["road"].measure(road_trial).tolist() == expected


def test_saco_agrees_with_algorithm_1():
    salience = -np.sort(-RNG.normal(size=10))
    falls = RNG.normal(size=10)
    assert coefficient(salience, falls) == pytest.approx(twin.saco(list(salience), list(falls)))
    assert coefficient(salience, salience) == 1
    assert coefficient(salience, -salience) == -1
    assert coefficient(np.ones(10), falls) == 0


@torch.no_grad()
def test_saco_takes_each_group_away_alone():
    trial = a_trial()
    order = np.argsort(-trial.map.values.ravel())
    image, falls, salience = trial.capture.input.tensor, [], []
    whole = trial.capture.run(image).softmax(-1)[0, 2]
    for group in np.array_split(order, 10):
        changed = image.clone()
        for patch in group:
            row, col = divmod(int(patch), 4)
            here = np.s_[:, :, row * 16 : row * 16 + 16, col * 16 : col * 16 + 16]
            changed[here] = image.mean((-2, -1), keepdim=True).expand(-1, -1, 16, 16)
        falls.append(float(whole - trial.capture.run(changed).softmax(-1)[0, 2]))
        salience.append(float(trial.map.values.ravel()[group].sum()))
    assert PROTOCOLS["saco"].measure(trial) == pytest.approx(twin.saco(salience, falls), abs=1e-3)


# ------------------------------------------------------------------------------------------ maps against maps


def test_ranks_agree_with_the_twin_and_ties_share_theirs():
    one, other = RNG.integers(0, 4, 12).astype(float), RNG.normal(size=12)
    assert spearman(one, other) == pytest.approx(twin.spearman(list(one), list(other)))
    assert spearman(other, np.exp(other)) == pytest.approx(1)
    assert np.isnan(spearman(np.ones(4), np.arange(4.0)))


def test_sensitivity_agrees_with_captum():
    """With the same noise, captum's largest relative distance equals ours."""
    from captum.metrics import sensitivity_max

    trial = a_trial()
    draws = cycle([noisy(trial.capture, draw).input.tensor for draw in range(DRAWS)])
    summed = torch.nn.AvgPool2d(16, divisor_override=1)

    def explain(given: torch.Tensor | tuple[torch.Tensor]) -> torch.Tensor:
        image = (given[0] if isinstance(given, tuple) else given).detach().clone().requires_grad_()
        with torch.enable_grad():
            (slope,) = torch.autograd.grad(trial.capture.run(image)[0, 2], image)
        return summed((slope * image).sum(1, keepdim=True)).detach()

    def perturb(images: torch.Tensor, radius: float) -> torch.Tensor:
        return torch.cat([next(draws) for _ in images])

    peer = sensitivity_max(
        explain, trial.capture.input.tensor, perturb_func=perturb, n_perturb_samples=DRAWS, max_examples_per_batch=1
    )
    largest, mean = PROTOCOLS["sensitivity"].measure(trial)
    assert largest == pytest.approx(float(peer), rel=1e-4)
    assert 0 < mean <= largest
    assert np.isnan(relative_distances(np.zeros((2, 2)), np.ones((3, 2, 2)))).all()
    step = (noisy(trial.capture, 0).input.tensor - trial.capture.input.tensor)[0, 1]
    assert float(step.abs().max()) == pytest.approx(0.02 / 0.25, rel=0.01)


def test_randomisation_goes_from_the_head_down_and_leaves_the_model_alone():
    model = load_small("vit")
    result = stages(model)
    assert [part[-1].split(".")[0] for part in result] == ["head", "blocks", "blocks", "blocks", "patch_embed"]
    assert "blocks.2.norm1.weight" in result[1]
    assert "blocks.0.norm1.weight" in result[3]
    assert sorted(sum(result, ())) == sorted(name for name, _ in model.module.named_parameters())
    before = {name: tensor.clone() for name, tensor in model.module.state_dict().items()}
    copies = cascade(model, 0)
    for name, tensor in model.module.state_dict().items():
        assert torch.equal(tensor, before[name]), name
    changed = [{n for n, p in copy.module.named_parameters() if not torch.equal(p, before[n])} for copy in copies]
    assert changed[0] == set(result[0])
    assert changed[-1] == set(before)
    again = randomised(model, frozenset(result[0]), 0).module.state_dict()
    assert all(torch.equal(tensor, copies[0].module.state_dict()[name]) for name, tensor in again.items())


def test_a_map_that_needs_no_model_fails_the_sanity_check():
    assert PROTOCOLS["parameter_randomisation"].measure(a_trial("random")) == pytest.approx(1)
    assert abs(PROTOCOLS["parameter_randomisation"].measure(a_trial("input_x_gradient"))) < 0.9


# ------------------------------------------------------------------------------------------ parts

KINDS = ["aabbc", "aacca", "bbbba", "abcab", "cbabc"]
NAMES = ("wing", "tail", "eye", "body", "spot")
CLASSES = [dict(zip(NAMES, kinds, strict=True)) for kinds in KINDS]


class Toy:
    """Image with five squares in one column and two dots beside them; the red value of a square is its kind."""

    classes, background = CLASSES, ("dot", "blot")

    def __init__(self, label: int):
        self.label = label

    def masks(self) -> dict[str, np.ndarray]:
        result = {}
        for at, name in enumerate((*NAMES, *self.background)):
            result[name] = np.zeros((40, 16), bool)
            row, col = (8 * at, 0) if at < 5 else (16 * (at - 5), 12)
            result[name][row + 1 : row + 5, col : col + 4] = True
        return result

    def render(self, without=()) -> np.ndarray:
        image = np.zeros((40, 16, 3), np.uint8)
        for name, mask in self.masks().items():
            if name not in without:
                image[mask] = ord(self.classes[self.label][name]) if name in NAMES else 200
        return image


def toy_logits(image: np.ndarray) -> np.ndarray:
    """Return each class's weights of the squares of its kinds; the dot counts half for the first."""
    seen = [[image[8 * at + 2, 1, 0] == ord(kind) for at, kind in enumerate(kinds)] for kinds in KINDS]
    logits = np.array(seen) @ (1.0, 0.6, 0.8, 0.7, 1.1)
    return logits + np.eye(5)[0] * (image[2, 13, 0] == 200) / 2


def toy_trial(monkeypatch, values: np.ndarray, label: int = 0) -> Trial:
    monkeypatch.setattr(parts, "prepare", lambda model, image, fit: SimpleNamespace(tensor=image))
    capture = SimpleNamespace(model=None, run=lambda image: torch.tensor(toy_logits(image))[None])

    def explain(capture: object, target: int) -> SimpleNamespace:
        rolled = np.roll(values, target, axis=0)
        return SimpleNamespace(values=rolled, grid=PatchGrid(*values.shape, 8))

    case = Case(Toy(label).render(), label, parted=Toy(label))
    return Trial(capture, case, explain(capture, label), explain, 0)


def test_the_smallest_sets_of_parts_that_tell_a_class():
    assert isinstance(Toy(0), Parted)
    for label in range(5):
        assert set(sufficient_parts(CLASSES, label)) == twin.sufficient(CLASSES, label)
    assert opposed_classes(CLASSES, 0) == (1, 2)  # with the first: wing and tail; with the second: eye and body
    assert opposed_classes(CLASSES[:2], 0) is None


def test_the_part_based_protocol_agrees_with_a_slow_twin(monkeypatch, unchecked):
    """Recompute every number for class 0 of the toy from the definitions, map by map, at each threshold."""
    toy, rng = Toy(0), np.random.default_rng(0)
    for _ in range(3):
        values = rng.normal(0.6, 1, (5, 2))
        result = parts.part_scores(toy_trial(monkeypatch, values))
        pixels = {shift: twin.on_pixels(np.roll(values, shift, axis=0), 8) for shift in range(5)}
        near = {name: twin.widened(mask, 2) for name, mask in toy.masks().items()}
        give = {shift: {name: map_[mask].sum() for name, mask in near.items()} for shift, map_ in pixels.items()}
        whole, every = toy_logits(toy.render()), set(NAMES)
        falls = {name: whole[0] - toy_logits(toy.render([name]))[0] for name in near}
        idle = [name for name, fall in falls.items() if fall < 0.05 * whole[0]]
        assert idle == ["blot"]
        for at, threshold in enumerate(np.linspace(0.01, 0.5, 80)):
            chosen = {name for name in near if give[0][name] > threshold * pixels[0].sum()}
            best = max(len(one & chosen) / len(one) for one in twin.sufficient(CLASSES, 0))
            still_class_0 = float(toy_logits(toy.render(every - chosen)).argmax() == 0)
            gone = float(toy_logits(toy.render(every & chosen)).argmax() != 0)
            assert result[:4, at] == pytest.approx([best, still_class_0, gone, 1 - ("blot" in chosen)])
        order = twin.spearman([give[0][name] for name in NAMES], [falls[name] for name in NAMES])
        own = [["wing", "tail"], ["eye", "body"]]
        sums = {shift: [sum(give[shift][part] for part in of) for of in own] for shift in (1, 2)}
        sensitive = np.mean([sums[1][0] > sums[2][0], sums[2][1] > sums[1][1]])
        assert result[4:, 0] == pytest.approx([0.5, order / 2 + 0.5, sensitive])


def test_the_threshold_is_where_completeness_and_distractibility_are_largest():
    means = np.array([[0.9, 0.6, 0.1], [0.9, 0.9, 0.1], [0.9, 0.6, 0.1], [0, 0.5, 1], [1, 0, 0]])
    assert parts.best_threshold(means) == 1  # 0.9, 0.7 + 0.5, 0.1 + 1


# ------------------------------------------------------------------------------------------ tables


def test_an_interval_draws_images_not_cases():
    values = np.repeat([0.0, 1.0], 8)
    alone, together = mean_interval(values, np.arange(16)), mean_interval(values, np.repeat([0, 1], 8))
    assert alone[0] == together[0] == 0.5
    assert together[1:] == (0, 1)  # two images: one of four draws is twice the same
    assert 0.2 < alone[1] < 0.35
    assert mean_interval(np.array([np.nan, 3.0]), np.arange(2)) == pytest.approx((3, np.nan, np.nan), nan_ok=True)
    assert np.isnan(mean_interval(np.array([np.nan]), np.arange(1))).all()


def test_grids_are_the_same_each_time_and_of_different_classes():
    cases, again = grid_cases(8, 48, seed=3), grid_cases(8, 48, seed=3)
    assert all(np.array_equal(one.image, other.image) for one, other in zip(cases, again, strict=True))
    for start in (0, 4):
        four = cases[start : start + 4]
        assert len({case.target for case in four}) == 4
        assert all(case.image is four[0].image for case in four)
        assert np.sum([case.cell for case in four], axis=0).tolist() == np.ones((48, 48)).tolist()
        assert all(not (case.mask & ~case.cell).any() and case.mask.any() for case in four)
    with pytest.raises(ValueError, match="cannot be made"):
        grid_cases(4, 48, known=[0])
    assert [len(scene_cases(3, 48)), scene_cases(1, 48)[0].mask.shape] == [3, (48, 48)]


def test_a_cell_shows_all_of_an_object_hardly_smaller_than_it_was():
    scenes = {scene.label: (index, scene) for index, scene in enumerate(draw_scene("test", n, 96) for n in range(30))}
    known = [index for index, _ in list(scenes.values())[:4]]
    for case in grid_cases(4, 96, known=known):
        scene = scenes[case.target][1]
        box, seen = box_of(scene.mask), box_of(case.mask)
        shrunk = min(1, 48 / (1.1 * max(box[2] - box[0], box[3] - box[1])))
        assert case.mask.sum() == pytest.approx(scene.mask.sum() * shrunk**2, rel=0.1)
        assert np.subtract(seen[2:], seen[:2]) == pytest.approx(shrunk * np.subtract(box[2:], box[:2]), abs=2)
        assert case.image[case.mask].mean(0) == pytest.approx(scene.image[scene.mask].mean(0), abs=16)


@pytest.fixture(scope="module")
def small_table():
    return vx.evaluate(
        load_small("vit"), ["attention_rollout", "grad_cam"], data=[a_case(), a_case(target=4)], targets=2
    )


def test_the_table_has_every_method_and_protocol_that_the_data_suits(small_table):
    assert small_table.methods == ("attention_rollout", "grad_cam", "random", "oracle")
    columns = [column.key for one in PROTOCOLS.values() if one.data != "parted" for column in one.columns]
    assert list(small_table.protocols) == columns
    assert small_table.counts.max() == 2
    known = np.isfinite(small_table.low)
    assert known.any()
    assert (small_table.low[known] <= small_table.values[known] + 1e-9).all()
    assert (small_table.values[known] <= small_table.high[known] + 1e-9).all()
    oracle = dict(zip(columns, small_table.values[-1], strict=True))
    assert oracle["grid_pointing"] == oracle["pointing"] == 1
    assert oracle["max_sensitivity"] == 0


def test_the_table_is_printed_and_saved(small_table, tmp_path):
    for language in ("en", "zh"):
        assert render(small_table, language=language).layout.annotations
    saved = json.loads(vx.save(small_table, tmp_path / "t.json").read_text("utf-8"))
    assert np.shape(saved["values"]) == np.shape(saved["low"]) == small_table.values.shape
    rows = vx.save(small_table, tmp_path / "t.csv").read_text("utf-8-sig").splitlines()
    assert rows[0].endswith("method,protocol,low,high,cases,value")
    assert len(rows) == 1 + small_table.values.size
    lines = as_markdown(small_table).splitlines()
    assert lines[0].startswith("| method | deletion ↓ | insertion ↑ | grid_pointing ↑ |")
    assert len(lines) == 2 + 4 + 1
    assert small_table._repr_html_()


def test_settings_that_do_not_fit_are_refused_with_a_sentence():
    model, cases = load_small("vit"), [a_case()]
    renamed = replace(vx.load_model("scenes_vit_patch16_192"), class_names=tuple("abcdefghijkl"))
    with pytest.raises(SettingError, match="knows neither the classes"):
        vx.evaluate(renamed)
    with pytest.raises(SettingError, match="knows neither the classes"):
        vx.evaluate(model)
    with pytest.raises(SettingError, match="None of the cases"):
        vx.evaluate(model, data=cases, protocols=["parts"])
    with pytest.raises(SettingError, match="cannot be measured on the pictures"):
        vx.evaluate(vx.load_model("scenes_vit_patch16_192"), protocols=["parts"])
    with pytest.raises(UnknownNameError, match="grad_cam"):
        vx.evaluate(model, ["gradcam"], data=cases)
    with pytest.raises(UnknownNameError, match="grid_pointing"):
        vx.evaluate(model, ["grad_cam"], data=cases, protocols=["grid_pointin"])
    with pytest.raises(UnsupportedError, match="no classifier"):
        vx.evaluate(load_small("encoder"), data=cases)


def test_images_are_numbered_as_they_come():
    """Rows come in one order wherever they lie in memory; the bootstrap draws by that order."""
    images = [np.zeros((2, 2, 3), np.uint8) for _ in range(40)]
    for order in (images, images[::-1]):
        cases = [Case(image, 0, np.ones((2, 2), bool)) for image in order for _ in range(2)]
        assert images_of(cases).tolist() == [number // 2 for number in range(80)]


def test_a_model_of_creatures_is_asked_about_creatures():
    """Models that answer with the twelve creature names use their parts, and need no mask and no grid."""
    model = replace(vx.load_model("scenes_vit_patch16_192"), class_names=CLASS_NAMES)
    kinds = drawn_kinds(model)
    assert {"parts", "deletion_insertion", "saco"} <= set(kinds)
    assert not {"grid_pointing", "pointing", "mass_accuracy"} & set(kinds)
    assert set(kinds.values()) == {"parted"}
    result = vx.evaluate(model, ["attn_lrp"], protocols=["parts"], targets=2)
    assert result.methods == ("attn_lrp", "random", "oracle")
    assert result.values[-1, result.protocols.index("controlled_synthetic")] in (1, pytest.approx(np.nan, nan_ok=True))
    assert drawn_kinds(replace(model, class_names=LABEL_NAMES)).keys() >= {"grid_pointing"}


def test_rows_come_from_the_registry():
    assert set(map_views(capture_small("vit"))) >= {"attention_map", "generic_relevance", "legrad", "random"}
    assert "generic_relevance" not in map_views(capture_small("swin"))
    assert set(map_views(capture_small("encoder"))) == {"attention_map", "attention_rollout"}


def test_thresholds_are_chosen_for_the_whole_table(monkeypatch, unchecked):
    toys = [toy_trial(monkeypatch, np.arange(10.0).reshape(5, 2), label) for label in (0, 1)]
    scores = {("parts", method): [parts.part_scores(toy) for toy in toys] for method in ("random", "oracle")}
    table = tabulate(load_small("vit"), ["random", "oracle"], {"parts": [toy.case for toy in toys]}, scores)
    result = np.stack(scores["parts", "random"])
    assert np.isfinite(result[:, :4]).all()
    best = int((result[:, :3].mean((0, 1)) + result[:, 3].mean(0)).argmax())
    assert table.values[0, :4] == pytest.approx(result[:, :4, best].mean(0))
    assert table.counts[0].tolist() == np.isfinite(result[..., best]).sum(0).tolist()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["scenes_vit_patch16_192", "scenes_swin_patch4_window6_192"])
def test_the_truth_points_at_the_target_of_every_grid(name):
    table = vx.evaluate(
        vx.load_model(name), ["attention_rollout"], protocols=["grid_pointing", "mass_accuracy"], targets=8
    )
    assert table.values[-1, 0] == 1
    assert table.values[-1, 1] > 0.6
    assert table.values[1, 0] == pytest.approx(0.25, abs=0.1)


def test_measuring_again_gives_the_same(small_table):
    model, cases = load_small("vit"), [a_case(), a_case(target=4)]
    again = measure(model, cases[1:], {"saco": ["grad_cam"], "sensitivity": ["grad_cam"]}, first=1)
    whole = measure(model, cases, {"saco": ["grad_cam"], "sensitivity": ["grad_cam"]})
    for key, result in again.items():
        assert np.array_equal(result[0], whole[key][1])


def test_pictures_with_parts_become_cases():
    case = parted_case(Toy(3))
    assert (case.target, case.image.shape) == (3, (40, 16, 3))
    assert PROTOCOLS["parts"].suits(case)
    assert not PROTOCOLS["mass_accuracy"].suits(case)


@pytest.mark.parametrize(
    ("key", "en", "zh"),
    [
        ("grad_cam", "Grad-CAM", "Grad-CAM"),
        ("grad_cam:block=3", "Grad-CAM (block 3)", "Grad-CAM（块 3）"),
        ("grad_cam:sign=both;block=3", "Grad-CAM (block 3, for and against)", "Grad-CAM（块 3，支持与反对）"),
        ("attention_map:query=3,4", "Attention map (query 3,4)", "注意力图（查询 3,4）"),
    ],
)
def test_a_row_says_which_setting_is_another(key: str, en: str, zh: str) -> None:
    assert title_of(key) == Text(en, zh)
