"""Proofs of findings: what is drawn is what the model gets and answers, counted and compared by hand."""

from __future__ import annotations

import copy
import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

import vitexplorer as vx
from tests.helpers.figure_words import CHINESE, all_words
from vitexplorer.core.check_up_results import AnsweredPicturesResult, TwoMatricesResult
from vitexplorer.core.text import same
from vitexplorer.diagnosis.alternatives import position_table
from vitexplorer.diagnosis.cropping import Cut
from vitexplorer.diagnosis.diagnosis import Diagnosis, Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.feeds import AS_FED, Feed
from vitexplorer.diagnosis.proofs import MOST, proof_of
from vitexplorer.diagnosis.subject import subject_of
from vitexplorer.figures import render
from vitexplorer.figures.tables import as_csv, as_json
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.preprocess import normalise
from vitexplorer.scenes import draw_scene

PICTURES = 8


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return vx.load_model("scenes_vit_patch16_192")


@pytest.fixture(scope="module")
def scenes() -> tuple[list[np.ndarray], list[int]]:
    drawn = [draw_scene("test", 7000 + number, 192) for number in range(PICTURES)]
    return [scene.image for scene in drawn], [scene.label for scene in drawn]


def fed(model: LoadedModel, pictures: list[np.ndarray]) -> Tensor:
    own = model.preprocessing
    return torch.cat([normalise(picture, own.mean, own.std) for picture in pictures])


def softmax(model: LoadedModel, batch: Tensor) -> np.ndarray:
    with torch.no_grad():
        return model.module(batch).double().softmax(-1).numpy()


def assert_answers(proof: AnsweredPicturesResult, model: LoadedModel, side: int, batch: Tensor) -> None:
    """Compare a row of a proof with the model's own answers to the drawn pictures."""
    shares = softmax(model, batch)
    np.testing.assert_allclose(proof.values[side], shares.max(1), atol=1e-5)
    names = [model.class_names[at] for at in shares.argmax(1)]
    assert [answer.en.split(",")[0] for answer in proof.answers[side]] == names


def assert_is_drawn(proof: AnsweredPicturesResult | TwoMatricesResult) -> None:
    for language in ("en", "zh"):
        words = all_words(render(proof, language=language))
        assert bool(CHINESE.search(words)) == (language == "zh")
        assert all(heading.in_(language) in words for heading in proof.headings) or len(proof.headings) == 1
    rows = list(csv.DictReader(io.StringIO(as_csv(proof))))
    assert len(rows) == proof.values.size
    assert {row["whose"] for row in rows} == {heading.en for heading in proof.headings}
    document = json.loads(as_json(proof))
    assert document["type"] == type(proof).__name__
    assert "pixels" not in document


def test_a_feed_is_drawn_as_the_model_gets_it(model: LoadedModel, scenes) -> None:
    pictures, labels = scenes
    batch = fed(model, [picture[..., ::-1].copy() for picture in pictures])
    exam = Examination(subject_of(model, batch, labels), 60)
    exam.feed = Feed(swap=True)
    proof = proof_of(exam, Finding("channels_swapped", same("x"), 1.0))
    assert proof.values.shape == (2, MOST)
    for before, after in zip(*proof.pixels, strict=True):
        np.testing.assert_array_equal(before, after[..., ::-1])
        assert any((after == picture).all() for picture in pictures)
    assert_answers(proof, model, 1, fed(model, list(proof.pixels[1])))
    assert_answers(proof, model, 0, fed(model, list(proof.pixels[0])))
    assert_is_drawn(proof)


def test_what_lies_outside_of_a_byte_is_white_or_black(model: LoadedModel, scenes) -> None:
    exam = Examination(subject_of(model, torch.full((8, 3, 192, 192), 90.0)), 60)
    proof = proof_of(exam, Finding("not_scaled", same("x"), 1.0))
    assert {int(pixel) for picture in proof.pixels[0] for pixel in np.unique(picture)} == {255}


def test_labels_are_counted_before_and_after(model: LoadedModel, scenes) -> None:
    pictures, labels = scenes
    shifted = [label + 1 for label in labels]
    exam = Examination(subject_of(model, pictures, shifted), 60)
    proof = proof_of(exam, Finding("labels_shifted", same("x"), 1.0, repaired=labels))
    answers = softmax(model, fed(model, pictures)).argmax(1)
    names = [name.en for name in proof.names]
    for side, given in enumerate((shifted, labels)):
        for row, col in np.ndindex(proof.values.shape[1:]):
            pairs = zip(given, answers, strict=True)
            known = [pair for pair in pairs if pair[0] < model.num_classes]
            expected = known.count((model.class_names.index(names[row]), model.class_names.index(names[col])))
            assert proof.values[side, row, col] == expected
    assert_is_drawn(proof)


def test_positions_that_are_all_the_same_are_drawn_flat(model: LoadedModel) -> None:
    name, values, (rows, cols) = position_table(model)
    module = copy.deepcopy(model.module)
    with torch.no_grad():
        dict(module.named_parameters())[name][0, -rows * cols :] = values[0, -1]
    (finding,) = vx.diagnose(replace(model, module=module)).findings
    assert finding.cause == "positions_missing"
    np.testing.assert_allclose(finding.proof.values, 1, atol=1e-6)


def test_positions_are_compared_with_one_place(model: LoadedModel) -> None:
    name, values, (rows, cols) = position_table(model)
    places = torch.arange(rows * cols).reshape(rows, cols).T.flatten()
    patches = values[:, -rows * cols :]
    turned = torch.cat([values[:, : -rows * cols], patches[:, places]], 1)
    exam = Examination(subject_of(model), 60)
    finding = Finding("positions_transposed", same("x"), 1.0, repaired={name: turned})
    proof = proof_of(exam, finding)
    row, col = rows // 3, cols // 2
    for side, table in enumerate((patches[0], turned[0, -rows * cols :])):
        for at in np.ndindex(rows, cols):
            one, other = table[row * cols + col], table[at[0] * cols + at[1]]
            cosine = float(one @ other / (one.norm() * other.norm()))
            assert proof.values[side][at] == pytest.approx(cosine, abs=1e-5)
    assert_is_drawn(proof)


def test_other_weights_answer_for_themselves(model: LoadedModel, scenes) -> None:
    pictures, labels = scenes
    exam = Examination(subject_of(model, pictures, labels), 60)
    zeroed = {name: torch.zeros_like(tensor) for name, tensor in model.module.state_dict().items()}
    repaired = {**model.module.state_dict(), **{name: zeroed[name] for name in zeroed if name.startswith("head")}}
    proof = proof_of(exam, Finding("qkv_misordered", same("x"), 1.0, repaired=repaired))
    np.testing.assert_allclose(proof.values[1], 1 / model.num_classes, atol=1e-6)
    assert_answers(proof, model, 0, fed(model, list(proof.pixels[0])))
    module = copy.deepcopy(model.module)
    module.load_state_dict(repaired)
    whole = Finding("heads_miscounted", same("x"), 1.0, repaired=replace(model, module=module))
    np.testing.assert_allclose(proof_of(exam, whole).values[1], 1 / model.num_classes, atol=1e-6)


def test_another_cut_is_drawn(model: LoadedModel, scenes) -> None:
    pictures, labels = scenes
    wide = [np.concatenate([picture, picture], 1) for picture in pictures]
    exam = Examination(subject_of(model, wide, labels), 60)
    squash = Cut(model, "squash", 1.0)
    proof = proof_of(exam, Finding("wrong_size_or_crop", same("x"), 1.0, repaired=squash))
    assert_answers(proof, model, 1, fed(model, list(proof.pixels[1])))
    assert not np.array_equal(proof.pixels[0][0], proof.pixels[1][0])


def test_copies_stand_under_each_other(model: LoadedModel, scenes, tmp_path: Path) -> None:
    for name, at in (("a.png", 0), ("b.png", 1), ("c.png", 0)):
        Image.fromarray(scenes[0][at]).save(tmp_path / name)
    report = vx.diagnose(model, tmp_path)
    (finding,) = report.findings
    assert finding.cause == "duplicates"
    np.testing.assert_array_equal(finding.proof.pixels[0][0], finding.proof.pixels[1][0])
    assert {answer.en for side in finding.proof.answers for answer in side} == {"a.png", "c.png"}
    assert report.figure() is not None
    arrays = vx.diagnose(model, [scenes[0][0], scenes[0][1], scenes[0][0].copy()])
    (finding,) = arrays.findings
    assert finding.evidence["places"] == [[0, 2]]
    for side in finding.proof.pixels:
        np.testing.assert_array_equal(side[0], scenes[0][0])
    (tmp_path / "c.png").unlink()
    gone = Finding("duplicates", finding.text, 1.0, evidence={"groups": [["a.png", "c.png"]], "places": [[0, 2]]})
    exam = Examination(subject_of(model, tmp_path), 60)
    exam.subject = replace(exam.subject, files=("a.png", "b.png", "c.png"))
    assert proof_of(exam, gone) is None


@pytest.mark.parametrize("kind", ["folder", "pictures", "tensors"])
def test_the_commonest_classes_stand_above_the_rarest(kind: str, model: LoadedModel, scenes, tmp_path: Path) -> None:
    labels = [2, 2, -1, 2, 5, 5, 0]
    pictures = scenes[0][: len(labels)]
    names = {0: model.class_names[0], 2: model.class_names[2], 5: model.class_names[5], -1: "class -1"}
    for at, label in enumerate(labels):
        (tmp_path / names[label]).mkdir(exist_ok=True)
        Image.fromarray(pictures[at]).save(tmp_path / names[label] / f"{at}.png")
    data = {"folder": tmp_path, "pictures": pictures, "tensors": fed(model, pictures)}[kind]
    exam = Examination(subject_of(model, data, None if kind == "folder" else labels), 60)
    proof = proof_of(exam, Finding("imbalanced", same("x"), 1.0))
    common, rare = proof.answers
    assert [words.en for words in common] == [f"{names[2]}: 3", f"{names[5]}: 2"]
    assert {words.en for words in rare} == {f"{names[-1]}: 1", f"{names[0]}: 1"}
    for side, words in zip(proof.pixels, proof.answers, strict=True):
        for drawn, word in zip(side, words, strict=True):
            own = [at for at, label in enumerate(labels) if word.en.startswith(f"{names[label]}:")]
            assert any((drawn == pictures[at]).all() for at in own)
    assert_is_drawn(proof)


def test_doubtful_labels_stand_beside_the_other_class(model: LoadedModel, scenes) -> None:
    pictures, labels = scenes
    exam = Examination(subject_of(model, pictures, labels), 60)
    other = [(labels[row] + 1) % model.num_classes for row in (1, 3)]
    evidence = {"rows": [1, 3], "suggested": other}
    proof = proof_of(exam, Finding("labels_doubtful", same("x"), 1.0, evidence=evidence))
    for at, row in enumerate((1, 3)):
        np.testing.assert_array_equal(proof.pixels[0][at], pictures[row])
        words = proof.answers[0][at].en
        assert model.class_names[labels[row]] in words
        assert model.class_names[other[at]] in words


def test_a_healthy_model_shows_some_of_its_answers(model: LoadedModel, scenes) -> None:
    pictures, labels = scenes
    exam = Examination(subject_of(model, pictures, labels), 60)
    proof = proof_of(exam, None)
    assert proof.values.shape == (1, min(MOST, len(set(labels))))
    assert_answers(proof, model, 0, fed(model, list(proof.pixels[0])))
    answers = softmax(model, fed(model, list(proof.pixels[0]))).argmax(1)
    expected = [
        labels[next(at for at, one in enumerate(pictures) if (one == drawn).all())] for drawn in proof.pixels[0]
    ]
    assert list(proof.right[0]) == [bool(answer == label) for answer, label in zip(answers, expected, strict=True)]
    assert_is_drawn(proof)
    assert exam.logits(AS_FED).shape == (PICTURES, model.num_classes)


def test_without_pictures_or_classes_nothing_is_drawn(model: LoadedModel, scenes) -> None:
    assert proof_of(Examination(subject_of(model), 60), None) is None
    dino = vx.load_model("scenes_dino_patch16_192")
    assert proof_of(Examination(subject_of(dino, scenes[0]), 60), None) is None
    assert Diagnosis("m", (), {}, (), 0, 0.0).figure() is None
