"""Teaching by examples without a browser: the probe against slow twins, boxes on the disk, the endpoints."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.helpers.finetune_folders import class_folder
from tests.helpers.image_folders import encoded
from tests.helpers.small_families import CASES, capture_case
from tests.helpers.small_models import capture_small, load_small
from vitexplorer.capturing.capture import capture
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.finetune import probe
from vitexplorer.finetune.data import read_folder
from vitexplorer.finetune.results.baseline import Features, fit_baseline, logistic_head
from vitexplorer.service.engine import Engine
from vitexplorer.service.teaching import boxes as store
from vitexplorer.service.teaching.boxes import Boxes, class_files
from vitexplorer.service.teaching.words import TEACH_WORDS
from vitexplorer.service.training_images import copy_taught
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.ui.rooms.finetune.teach.teach_routes import teach_routes
from vitexplorer.ui.server import image_upload as intake

ANNA, BEN = "a" * 32, "b" * 32
BYTES = "application/octet-stream"


# ---------------------------------------------------------------------------------------------- the probe


def examples(classes: int, each: int, dim: int = 6) -> tuple[ndarray, ndarray]:
    rng = np.random.default_rng(classes)
    labels = np.repeat(np.arange(classes), each)
    return (rng.normal(size=(classes, dim))[labels] + 0.8 * rng.normal(size=(len(labels), dim))) * 3 + 5, labels


def slow_shares(features: Float[ndarray, "images dim"], labels: Int[ndarray, " images"], asked: ndarray) -> ndarray:
    """Compute probabilities for one picture by gradient descent on the loss of logistic regression.

    The sum of -log p of the true class and half the sum of the squared weights (C = 1), on features of mean 0 and
    variance 1. Two classes share one row of weights, as is usual: that of one is the other's with the sign turned.
    """
    classes = int(labels.max()) + 1
    centre, spread = features.mean(0), (((features - features.mean(0)) ** 2).mean(0)) ** 0.5
    x, true = (features - centre) / spread, np.eye(classes)[labels]
    rows = 1 if classes == 2 else classes
    weight, bias = np.zeros((rows, x.shape[1])), np.zeros(rows)

    def probabilities(rows_of_x: ndarray) -> ndarray:
        logits = rows_of_x @ weight.T + bias
        odds = np.exp(np.hstack([0 * logits, logits]) if rows == 1 else logits - logits.max(1, keepdims=True))
        return odds / odds.sum(1, keepdims=True)

    for _ in range(2000):
        wrong = (probabilities(x) - true)[:, classes - rows :]
        weight, bias = weight - 0.05 * (weight + wrong.T @ x), bias - 0.05 * wrong.sum(0)
    return probabilities((asked - centre)[None] / spread)[0]


@pytest.mark.parametrize(("count", "says"), [(1, "with 1 example."), (2, "with 2 examples.")])
def test_the_number_of_examples_agrees(count: int, says: str) -> None:
    assert TEACH_WORDS["teach_says"].format(model="DINO", count=count).en.endswith(says)
    assert f"{count} of 4 examples {'is' if count == 1 else 'are'}" in (
        TEACH_WORDS["teach_score"].format(right=count, total=4).en
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_a_probe_is_a_logistic_regression_on_standard_features(classes: int) -> None:
    features, labels = examples(classes, each=3)
    asked = features.mean(0) + np.linspace(-2, 2, features.shape[1])
    shares = probe.shares(probe.fit_probe(features, labels), asked[None])[0]
    np.testing.assert_allclose(shares, slow_shares(features, labels, asked), atol=5e-3)


def test_a_probe_learns_from_one_example_of_each_class() -> None:
    features, labels = examples(2, each=1)
    shares = probe.shares(probe.fit_probe(features, labels), features)
    assert shares.argmax(1).tolist() == [0, 1]
    assert shares.min() > 0.01


def test_a_probe_is_the_instant_baseline_but_for_its_strength() -> None:
    """On the same features the same regression; the baseline fits in another order, which moves the last digits."""
    features, labels = examples(3, each=8)
    train = Features(features, labels)
    baseline, head = fit_baseline("classification", 3, train, train)
    same = logistic_head(baseline.strength, train, 3)
    np.testing.assert_allclose(probe.shares(same, features), probe.shares(head, features), atol=2e-3)
    ours, at_one = probe.fit_probe(features, labels), logistic_head(1.0, train, 3)
    for name in ("weight", "bias", "centre", "spread"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(at_one, name))


def test_each_example_is_left_out_in_turn() -> None:
    features, labels = examples(2, each=4)
    features[0] += 4 * (features[labels == 1].mean(0) - features[0])  # one that lies far among the others
    progress = []
    result = probe.leave_one_out(features, labels, lambda done, total: progress.append((done, total)))
    slow = [
        slow_shares(np.delete(features, i, 0), np.delete(labels, i), features[i]).argmax() for i in range(len(labels))
    ]
    assert result.tolist() == slow
    assert result[0] != labels[0]
    assert progress[-1] == (7, 8)


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "swin", "cait"])
def test_a_feature_is_what_the_classifier_reads(key: str) -> None:
    seen = capture_case(key) if key in CASES else capture_small(key, "squash")
    module = seen.model.module
    with torch.no_grad():
        expected = module.forward_head(module.forward_features(seen.input.tensor), pre_logits=True)[0]
    np.testing.assert_allclose(probe.feature_of(seen), expected.numpy(), rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------------------------------------- boxes


def a_picture(seed: int = 0, side: int = 40) -> ndarray:
    return np.random.default_rng(seed).integers(0, 255, (side, side + 8, 3), dtype=np.uint8)


def test_a_picture_that_goes_while_its_box_is_read_is_left_out(tmp_path: Path) -> None:
    boxes = Boxes(tmp_path)
    boxes.add("1", a_picture())
    (tmp_path / "1" / f"{'f' * 32}.jpg").symlink_to("gone")  # listed, and not there when it is looked at
    assert len(boxes.box("1").pictures) == 1


def test_boxes_stay_until_they_are_deleted(tmp_path: Path, monkeypatch) -> None:
    boxes = Boxes(tmp_path / "boxes")
    assert [(box.key, box.name, box.pictures) for box in boxes.read()] == [("1", "", ()), ("2", "", ())]
    first = boxes.add("1", a_picture())
    assert boxes.add("1", a_picture()) == first, "the same picture is kept once"
    second = boxes.add("1", a_picture(1))
    boxes.rename("2", "  my   cat " + "x" * 99)
    boxes.more()
    assert [box.name[:9] for box in Boxes(tmp_path / "boxes").read()] == ["", "my cat xx", ""]
    assert boxes.box("1").pictures == (first, second)
    assert [box.title("zh") for box in boxes.read()][::2] == ["类别 1", "类别 3"]
    boxes.drop("1", first.stem)
    monkeypatch.setattr(store, "MOST_PICTURES", 1)
    for wrong in (
        lambda: boxes.add("1", a_picture(2)),
        lambda: boxes.drop("1", first.stem),
        lambda: boxes.picture("1", "../boxes"),
        lambda: boxes.box("../1"),
        lambda: boxes.rename("7", "a"),
    ):
        with pytest.raises(ExplainedError):
            wrong()
    boxes.remove("3")
    boxes.remove("1")
    assert [(box.key, box.pictures) for box in boxes.read()] == [("1", ()), ("2", ())], "two stay"
    for _ in range(store.MOST_BOXES - 2):
        boxes.more()
    with pytest.raises(ExplainedError, match="8 classes"):
        boxes.more()
    boxes.forget()
    assert not (tmp_path / "boxes").exists()


def test_a_picture_is_saved_small_and_without_camera_data(tmp_path: Path) -> None:
    with PIL.Image.open(Boxes(tmp_path).add("1", a_picture(side=1200))) as saved:
        assert max(saved.size) == 768
        assert "exif" not in saved.info


def test_what_was_taught_is_a_data_folder(tmp_path: Path) -> None:
    places = UserStorage(tmp_path, hosted=True)
    boxes = Boxes(places.taught(ANNA))
    for key, name in (("1", "test"), ("2", "a/b 猫")):
        boxes.rename(key, name)
        for seed in range(3):
            boxes.add(key, a_picture(10 * int(key) + seed))
    assert {name.split("/")[0] for _, name in class_files(boxes.read(), "en")} == {"test_", "a_b_猫"}
    chosen = copy_taught(places, ANNA, "en")
    boxes.forget()
    dataset = read_folder(chosen.folder)
    assert (dataset.classes, len(dataset)) == (("a_b_猫", "test_"), 6)
    assert Path(chosen.folder).parent.parent == places.of(ANNA)
    assert places.taught(ANNA) != places.taught(BEN)
    with pytest.raises(ExplainedError):
        places.taught("../" + ANNA)


# ---------------------------------------------------------------------------------------------- addresses


class Browser:
    """Client that asks as a visitor's browser does."""

    def __init__(self, client: TestClient, visitor: str = ANNA):
        self.client, self.headers = client, {"x-visitor": visitor, "content-type": BYTES}

    def ask(self, what: str, content: bytes = b"", status: int = 200, **parameters: str) -> dict:
        asked = {"model": "scenes_vit_patch16_192", **parameters}
        answer = self.client.post(f"/teach/{what}", params=asked, content=content, headers=self.headers)
        assert answer.status_code == status, answer.text
        return answer.json()

    def teach(self, folder: Path) -> None:
        self.ask("more")
        for key, place in zip("123", sorted(folder.iterdir()), strict=True):
            for path in sorted(place.iterdir()):
                self.ask("add", path.read_bytes(), box=key)


@pytest.fixture
def places(tmp_path: Path) -> UserStorage:
    return UserStorage(tmp_path / "runs", hosted=True)


@pytest.fixture
def client(tmp_path: Path, places: UserStorage, monkeypatch) -> Iterator[TestClient]:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "files"))
    engine = Engine(Settings(runs_folder=str(places.root), hosted=True))
    monkeypatch.setattr(engine, "loaded", lambda picture: load_small("vit"))
    monkeypatch.setattr(engine, "warm", lambda: None)
    with TestClient(Starlette(routes=teach_routes(engine))) as client:
        yield client


def test_an_answer_is_the_probes_on_the_features_of_the_examples(
    client: TestClient, places: UserStorage, tmp_path: Path
) -> None:
    browser, folder = Browser(client), class_folder(tmp_path / "data", per_class=3)
    asked = encoded(a_picture(5))
    first = browser.ask("ask", asked)
    assert first["shares"] == []
    assert "two classes" in first["missing"]
    assert browser.ask("ask", asked, lang="zh")["missing"] == "请至少给两个类别各放入一幅图像。"
    assert "at least two pictures" in browser.ask("score")["score"]
    browser.teach(folder)
    while browser.ask("learn")["left"]:
        pass
    result = browser.ask("ask", asked)

    model, boxes = load_small("vit"), Boxes(places.taught(ANNA)).read()
    features = np.stack([probe.feature_of(capture(model, path)) for box in boxes for path in box.pictures])
    labels = np.repeat(np.arange(3), 3)
    seen = capture(model, a_picture(5))
    expected = probe.shares(probe.fit_probe(features, labels), probe.feature_of(seen)[None])[0]
    np.testing.assert_allclose([one["share"] for one in result["shares"]], expected, atol=1e-6)
    assert [one["name"] for one in result["shares"]] == ["Class 1", "Class 2", "Class 3"]

    weights = seen.attention(seen.depth - 1).mean(0)[0, len(seen.prefix_tokens) :]
    np.testing.assert_allclose(result["map"]["values"], weights.numpy(), atol=1e-5)
    score = browser.ask("score")
    left_out = probe.leave_one_out(features, labels)
    assert f"{int((left_out == labels).sum())} of 9 examples" in score["score"]
    assert len(score["wrong"]) == int((left_out != labels).sum())


def test_who_asks_again_waits_for_the_latest_score_alone(client: TestClient, tmp_path: Path, monkeypatch) -> None:
    browser, begun = Browser(client), threading.Event()
    browser.teach(class_folder(tmp_path / "data", per_class=2))

    def endless(features: ndarray, labels: ndarray, report) -> ndarray:
        begun.set()
        while True:
            report(0, 1)

    with ThreadPoolExecutor(1) as pool:
        with monkeypatch.context() as patch:
            patch.setattr(probe, "leave_one_out", endless)
            first = pool.submit(browser.ask, "score")
            assert begun.wait(60)
        assert "of 6 examples" in Browser(client).ask("score")["score"]
        assert first.result() == {"stopped": True}


def test_pictures_of_unknown_visitors_are_refused_and_lose_nothing(client: TestClient, monkeypatch) -> None:
    browser = Browser(client)
    browser.ask("add", encoded(a_picture()), box="1")
    first, *rest = [PIL.Image.fromarray(a_picture(seed)) for seed in range(3)]
    animation = encoded(first, "gif", save_all=True, append_images=rest)
    browser.ask("add", animation, box="2")  # of an animation the first frame counts
    for content in (b"", b"no picture", encoded(a_picture(3))[:200], b"%PDF-1.7 more"):
        for what in ("add", "ask"):
            assert len(browser.ask(what, content, 422, box="1")["refused"]) > 20
    assert "no longer here" in browser.ask("add", encoded(a_picture(4)), 422, box="9")["refused"]
    assert browser.ask("add", encoded(a_picture(4)), 422, box="../..")["refused"]
    assert browser.ask("learn", status=422, model="../model")["refused"]
    assert browser.ask("nothing", status=404) == {"refused": ""}
    monkeypatch.setattr(intake, "settings", lambda: Settings(max_upload_megabytes=1))
    assert "1 MB" in browser.ask("add", bytes(1_000_001), 413, box="1")["refused"]
    browser.headers["content-type"] = "image/png"
    browser.ask("add", encoded(a_picture(4)), 415, box="1")
    assert [len(box["pictures"]) for box in browser.ask("boxes")["boxes"]] == [1, 1]


def test_visitors_teach_apart(client: TestClient, places: UserStorage) -> None:
    anna, ben = Browser(client), Browser(client, BEN)
    picture = anna.ask("add", encoded(a_picture()), box="1")["picture"]["id"]
    assert [len(box["pictures"]) for box in ben.ask("boxes")["boxes"]] == [0, 0]
    ben.ask("drop", status=422, box="1", picture=picture)
    ben.ask("open", status=422, box="1", picture=picture)
    ben.ask("forget")
    anna.ask("rename", box="1", name="cat")
    answer = client.post("/teach/save", headers=anna.headers)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        assert packed.namelist() == [f"cat/{picture}.jpg"]
    assert anna.ask("open", box="1", picture=picture)["image"].startswith("upload-")
    assert [box["name"] for box in anna.ask("remove", box="2")["boxes"]] == ["cat", ""]
    anna.ask("drop", box="1", picture=picture)
    anna.ask("forget")
    assert list(places.of(ANNA).iterdir()) == []
    for visitor in ("", "../" + ANNA):
        Browser(client, visitor).ask("boxes", status=422)


@pytest.mark.thorough
def test_drawn_scenes_fill_the_boxes(client: TestClient) -> None:
    browser = Browser(client)
    browser.ask("add", encoded(a_picture()), box="1")
    filled = browser.ask("fill", lang="zh")
    assert [(box["name"], len(box["pictures"])) for box in filled["boxes"]] == [("花", 5), ("鱼", 5), ("杯子", 5)]
    assert [one["name"] for one in filled["others"]] == ["花", "花", "鱼", "鱼", "杯子", "杯子"]
