"""Room Folder without a browser: answers of its endpoints, visitors' surveys, and the survey process."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import numpy as np
import PIL.Image
import psutil
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import BrowserContext, Route, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient

import vitexplorer as vx
from tests.helpers.plain_page import PlainPage
from tests.helpers.room_checks import painted
from tests.helpers.survey_folder import synthetic_survey
from tests.helpers.survey_images import rows_of
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.scenes.worded import draw_worded
from vitexplorer.service.engine import Engine
from vitexplorer.service.storage_limits import StorageLimits
from vitexplorer.service.surveys import open_surveys, process
from vitexplorer.service.surveys.pictures import file_of
from vitexplorer.service.surveys.store import Asked, StoredSurvey, new_survey, running, stored_survey
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.storage.atomic_writes import DiskFullError
from vitexplorer.storage.claims import standing_still
from vitexplorer.survey.answers import nearest_to_text
from vitexplorer.survey.answers.groups import Group, Groups
from vitexplorer.survey.card import read_card, write_card
from vitexplorer.survey.manifest import Planned, planned, write_manifest
from vitexplorer.survey.opened import Survey, open_survey
from vitexplorer.ui.rooms.folder.routes import survey_routes
from vitexplorer.ui.rooms.folder.survey import SurveyData, SurveyView

ANNA, BEN = "a" * 32, "b" * 32
BYTES = "application/octet-stream"
MODEL = "scenes_vit_patch16_192"


class Browser:
    """Client that asks as a visitor's browser does."""

    def __init__(self, client: TestClient, visitor: str = ANNA):
        self.client, self.headers = client, {"x-visitor": visitor, "content-type": BYTES}

    def ask(self, what: str, status: int = 200, content: bytes = b"", **parameters: str) -> dict:
        answer = self.client.post(f"/survey/{what}", params=parameters, content=content, headers=self.headers)
        assert answer.status_code == status, answer.text
        return answer.json()


@pytest.fixture
def places(tmp_path: Path) -> UserStorage:
    return UserStorage(tmp_path / "runs", hosted=False)


@pytest.fixture
def client(tmp_path: Path, places: UserStorage, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "files"))
    engine = Engine(Settings(runs_folder=str(places.root)))
    with TestClient(Starlette(routes=survey_routes(engine))) as client:
        yield client


@pytest.fixture
def drawn(places: UserStorage, tmp_path: Path) -> dict[str, list]:
    """Make a survey of 60 made-up images named "drawn", one of them a real picture; return its columns."""
    folder = synthetic_survey(places.root / "drawn", 60, rows_per_shard=32, failed=0.1)
    write_card(
        folder, read_card(folder).model_copy(update=dict.fromkeys(("source", "root"), str(tmp_path / "pictures")))
    )
    (tmp_path / "pictures" / "gear").mkdir(parents=True)
    PIL.Image.new("RGB", (400, 300), (200, 10, 10)).save(tmp_path / "pictures" / "gear" / "image 0.jpg", "PNG")
    return rows_of(folder).to_pydict()


def test_the_charts_count_what_the_rows_hold(client: TestClient, drawn: dict[str, list]) -> None:
    browser = Browser(client)
    facts = browser.ask("facts", survey="drawn")
    right = [one for one in drawn["correct"] if one is not None]
    assert f"{100 * sum(right) / len(right):.0f}\u00a0%" in facts["says"]
    assert f"{60 - len(right)} could not be read" in facts["says"]
    assert {one["key"] for one in facts["metrics"]} >= {"distance", "peak"}

    whole = browser.ask("histogram", survey="drawn", x="margin", by="correct")
    counts = {one["name"]: np.array(one["counts"]) for one in whole["series"]}
    for name, value in (("right", True), ("wrong", False)):
        numbers = [m for m, correct in zip(drawn["margin"], drawn["correct"], strict=True) if correct is value]
        assert counts[name].tolist() == np.histogram(numbers, whole["edges"])[0].tolist()

    where = "margin:0.25~0.75;label=gear"
    selected = [
        m is not None and 0.25 <= m <= 0.75 and label == "gear"
        for m, label in zip(drawn["margin"], drawn["label"], strict=True)
    ]
    assert browser.ask("count", survey="drawn", where=where) == {"count": sum(selected), "total": 60}
    for wrong in ("margin:1", "nothing=1", "margin:a~b", "margin=x"):
        assert len(browser.ask("count", 422, survey="drawn", where=wrong)["refused"]) > 10


def test_a_sentence_finds_images(client: TestClient, drawn: dict[str, list], places: UserStorage) -> None:
    """The survey's own model reads the sentence; a survey without its features does not offer the order."""
    browser = Browser(client)
    orders = [order["key"] for order in browser.ask("facts", survey="drawn")["orders"]]
    assert "sentence" not in orders
    pictures = places.root.parent / "worded"
    pictures.mkdir()
    for number in range(4):
        PIL.Image.fromarray(draw_worded("test", number).image).save(pictures / f"{number}.png")
    vx.survey(pictures, "scenes_clip", ask=["features"], out=places.root / "worded", workers=1)
    assert "sentence" in [order["key"] for order in browser.ask("facts", survey="worded")["orders"]]
    asked = {"survey": "worded", "order": "sentence"}
    assert browser.ask("gallery", 422, **asked)["refused"] == "Type a sentence to find images by."
    assert "does not know" in browser.ask("gallery", 422, **asked, sentence="a zebra")["refused"]
    vector = vx.embed_text(vx.load_model("scenes_clip"), ["a red gear"])[0]
    found = nearest_to_text(open_survey(places.root / "worded"), vector).images
    rows = browser.ask("gallery", **asked, sentence="a red gear")["rows"]
    assert [row["row"] for row in rows] == [image.row for image in found]
    assert f"{found[0].cosine:.2f}" in rows[0]["caption"]
    assert browser.ask("gallery", 422, survey="drawn", order="sentence", sentence="a red gear")["refused"]


def test_a_finished_survey_says_what_it_found(client: TestClient, drawn: dict[str, list]) -> None:
    browser = Browser(client)
    result = browser.ask("findings", survey="drawn")
    assert re.fullmatch(
        r"60 images: \d+ groups of alike images, .*almost the same to the model(, \d+ images? that fits? nowhere)?\.",
        result["says"],
    )
    whole = {key for group in result["groups"] for key in group}
    assert whole == {"key", "name", "count", "row"}
    for group in result["groups"]:
        where = f"group={group['key']}"
        assert browser.ask("count", survey="drawn", where=where)["count"] == group["count"]
    first = result["groups"][0]
    histogram = browser.ask("histogram", survey="drawn", x="margin", where="group=0")
    assert sum(histogram["series"][0]["counts"]) == first["count"]
    assert "from vitexplorer.survey.answers import in_group" in histogram["python"]
    assert "where=(in_group(survey, 0),)" in histogram["python"]
    for wrong in ("99", "-1", "x", "9" * 20):
        assert "does not exist" in browser.ask("count", 422, survey="drawn", where=f"group={wrong}")["refused"]
    assert browser.ask("findings", survey="drawn", lang="zh")["says"].startswith("60 幅图像：")


def test_groups_have_names_of_their_own(
    client: TestClient, places: UserStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group is called by its predicted class, else by its label, else by its number."""
    synthetic_survey(places.root / "drawn", 40, failed=0)
    groups = tuple(
        Group((row,), row, predicted, label)
        for row, (predicted, label) in enumerate([(1, "gear"), (None, "leaf"), (None, None), (1, None)])
    )
    found = Groups(groups, (9,), 40, ())
    monkeypatch.setattr("vitexplorer.service.surveys.findings.groups_in", lambda survey: found)
    browser = Browser(client)
    names = [group["name"] for group in browser.ask("findings", survey="drawn")["groups"]]
    assert names == ["star (group 1)", "leaf", "group 3", "star (group 4)", "fits nowhere"]
    assert "4 groups of alike images" in browser.ask("findings", survey="drawn")["says"]
    assert "1 image that fits nowhere" in browser.ask("findings", survey="drawn")["says"]
    chinese = [group["name"] for group in browser.ask("findings", survey="drawn", lang="zh")["groups"]]
    assert chinese == ["星形（第 1 组）", "叶子", "第 3 组", "星形（第 4 组）", "不属于任何一组"]


def test_few_images_and_no_features_find_little(client: TestClient, places: UserStorage) -> None:
    browser = Browser(client)
    for count, sentence in (
        (1, "1 image: no clear groups, no pair that is almost the same to the model."),
        (2, "2 images: no clear groups, "),
    ):
        synthetic_survey(places.root / f"few-{count}", count, failed=0)
        result = browser.ask("findings", survey=f"few-{count}")
        assert result["says"].startswith(sentence)
        assert result["groups"] == []
    synthetic_survey(places.root / "plain", 20, lists=False)
    assert browser.ask("findings", survey="plain") == {"says": "", "groups": []}


FAR = ("-1e39", "nan", "inf", str(2**70), "9" * 5000, "")


@pytest.mark.parametrize("number", FAR, ids=lambda one: one[:12])
def test_a_number_beyond_its_column_is_an_answer_or_a_sentence(
    client: TestClient, drawn: dict[str, list], number: str
) -> None:
    headers = Browser(client).headers
    wheres = [
        f"{name}:{bounds}" for name in ("margin", "width") for bounds in (f"{number}~", f"{number}~1", f"0~{number}")
    ]
    wheres += [f"{name}={number}" for name in ("margin", "width", "correct", "label", "row", "predicted")]
    wheres += [f"feature_cls@{number}~1~0~1", f"distance[0,0]:{number}~1"]
    for what, more in (("count", {}), ("histogram", {"x": "width"}), ("scatter", {"x": "margin", "y": "width"})):
        for where in wheres:
            asked = {"survey": "drawn", "where": where, **more}
            answer = client.post(f"/survey/{what}", params=asked, headers=headers)
            assert answer.status_code == 200 or (answer.status_code == 422 and len(answer.json()["refused"]) > 10)
    for name in ("offset", "limit", "row"):
        asked = {"survey": "drawn", "order": "path", "map": "view_attention_rollout", name: number}
        for what in ("gallery", "maps", "open"):
            assert client.post(f"/survey/{what}", params=asked, headers=headers).status_code in (200, 422)


def test_where_all_images_are_asked_there_is_nothing_to_stop(
    client: TestClient, drawn: dict[str, list], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The survey can be deleted though its process is still ending."""
    monkeypatch.setattr(StoredSurvey, "is_running", property(lambda survey: True))
    state = Browser(client).ask("state", survey="drawn")
    assert (state["state"], state["running"], state["done"]) == ("finished", False, 60)


def test_the_remaining_time_follows_the_pace_since_it_resumed(
    client: TestClient, places: UserStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = synthetic_survey(places.root / "drawn", 160, rows_per_shard=32, lists=False, shards=(0, 1, 2))
    monkeypatch.setattr("vitexplorer.ui.rooms.folder.beginning.begun_at", lambda answers: 5000.0)
    for file, when in zip(sorted((folder / "rows").iterdir()), (100, 6000, 6004), strict=True):
        os.utime(file, (when, when))
    monkeypatch.setattr(StoredSurvey, "is_running", property(lambda survey: True))
    assert Browser(client).ask("state", survey="drawn")["says"].startswith("96 of 160 images · 8 images a second · ")


def test_every_chart_is_of_the_images_that_are_chosen(
    client: TestClient, drawn: dict[str, list], monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, where = Browser(client), "label=gear"
    of_gear = [at for at, label in enumerate(drawn["label"]) if label == "gear" and drawn["correct"][at] is not None]

    points = browser.ask("scatter", survey="drawn", x="margin", y="entropy", by="correct", where=where)
    colours = [one["key"] for one in points["colours"]]
    points_drawn = sorted((x, colours[colour]) for x, _, colour in points["points"])
    expected = sorted((drawn["margin"][at], str(drawn["correct"][at]).lower()) for at in of_gear)
    assert [x for x, _ in points_drawn] == pytest.approx([margin for margin, _ in expected], rel=1e-5)
    assert [colour for _, colour in points_drawn] == [correct for _, correct in expected]
    heads = browser.ask("heads", survey="drawn", metric="peak", where=where)
    mean = np.mean([drawn["peak"][at] for at in of_gear], axis=0).reshape(3, 3)
    assert heads["mean"][0][0] == pytest.approx(mean[0, 0], rel=1e-5)
    assert heads["mean"][0][2] is None
    assert heads["low"][2][1] < mean[2, 1] < heads["high"][2][1]

    name = browser.ask("facts", survey="drawn")["maps"][0]["key"]
    looked = browser.ask("maps", survey="drawn", map=name, row=str(of_gear[2]), where=where)
    assert looked["mean"][1][2] == pytest.approx(np.mean([drawn[name][at][5] for at in of_gear]), rel=1e-6)
    assert np.ravel(looked["own"]) == pytest.approx(drawn[name][of_gear[2]])
    assert drawn["path"][of_gear[2]] in looked["says"]
    assert browser.ask("maps", survey="drawn", map=name, where=where)["own"] is None
    assert browser.ask("maps", survey="drawn", map=name, where="margin:2~3")["empty"]

    (row,) = browser.ask("classes", survey="drawn", where=where)["rows"]
    assert row["right"] == pytest.approx(np.mean([drawn["correct"][at] for at in of_gear]))
    assert sum(one["count"] for one in row["taken"]) == sum(not drawn["correct"][at] for at in of_gear)

    whole = browser.ask("map", survey="drawn", feature="feature_cls")
    x, y = (whole[axis] for axis in "xy")
    part = f"feature_cls@{x['low']}~{0}~{y['low'] - 1}~{y['high'] + 1}"
    chosen = browser.ask("count", survey="drawn", where=part)["count"]
    assert 0 < chosen == sum(x <= 0 for x, _, _ in whole["points"]) < len(whole["points"])
    assert len(browser.ask("map", survey="drawn", feature="feature_cls", where=part)["points"]) == chosen
    assert browser.ask("histogram", survey="drawn", x="margin", where="margin:2~3")["empty"]

    monkeypatch.setattr(open_surveys, "MOST_POINTS", 20)
    few = browser.ask("map", survey="drawn", feature="feature_mean")
    everywhere = browser.ask("histogram", survey="drawn", x="margin", where="feature_mean@-9~9~-9~9")
    assert len(few["points"]) == 20, "shown"
    assert sum(everywhere["series"][0]["counts"]) == len([one for one in drawn["feature_mean"] if one]), "chosen"
    assert "within_map(survey, 'feature_mean', (-9.0, 9.0, -9.0, 9.0))" in everywhere["python"]


def test_a_survey_answers_while_another_one_is_opened(
    client: TestClient, drawn: dict[str, list], places: UserStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A survey answers however many requests wait for a slow one."""
    synthetic_survey(places.root / "other", 20, lists=False)
    surveys, waited, done, slow = import_module("vitexplorer.survey.opened"), Event(), Event(), []

    def slowly(folder: Path) -> Survey:
        if folder.name == "drawn":
            slow.append(folder)
            waited.set()
            assert done.wait(60)
        return open_survey(folder)

    monkeypatch.setattr(surveys, "open_survey", slowly)
    with ThreadPoolExecutor() as threads:
        asked = [threads.submit(Browser(client, who).ask, "count", survey="drawn") for who in (ANNA, ANNA, ANNA, BEN)]
        try:
            assert waited.wait(60)
            answer = threads.submit(Browser(client).ask, "count", survey="other").result(60)
            assert answer["count"] == 20
            assert not any(one.done() for one in asked)
        finally:
            done.set()
        assert [one.result()["count"] for one in asked] == [60] * 4
    assert len(slow) == 1, "it is opened once"


def test_two_surveys_lie_side_by_side(
    client: TestClient, drawn: dict[str, list], places: UserStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    synthetic_survey(places.root / "other", 60, rows_per_shard=32, failed=0.1, seed=1, model=MODEL)
    browser = Browser(client)
    state = browser.ask("state", survey="other")
    assert (state["model"], state["model_title"]) == (MODEL, "ViT (drawn scenes)")
    other = rows_of(places.root / "other").to_pydict()
    sides = [(a, b) for a, b in zip(drawn["correct"], other["correct"], strict=True) if None not in (a, b)]
    result = browser.ask("beside", survey="drawn", beside="other", metric="distance")
    assert f"{len(sides)} images are in both" in result["says"]
    assert [one["count"] for one in result["sides"]] == [sides.count((True, False)), sides.count((False, True))]
    titles = [one["title"].partition(" is right")[0] for one in result["sides"]]
    assert titles == ["Only synthetic_vit", "Only ViT (drawn scenes)"]
    assert len(result["rows"]) == 7, "of heads"
    assert not any("at random" in one for one in result["sentences"])
    for module in ("answers.per_head", "compared"):
        monkeypatch.setattr(import_module(f"vitexplorer.survey.{module}"), "MOST_READ", 10)
    some = browser.ask("beside", survey="drawn", beside="other", metric="distance")
    assert f"Read from 10 images that were drawn at random out of {len(sides)}." in some["sentences"]
    assert (
        "Read from 10 images that were drawn at random" in browser.ask("heads", survey="drawn", metric="peak")["says"]
    )
    half = [
        pair
        for pair, m in zip(zip(drawn["correct"], other["correct"], strict=True), drawn["margin"], strict=True)
        if m and m >= 0.5
    ]
    part = browser.ask("beside", survey="drawn", beside="other", metric="distance", where="margin:0.5~1")
    assert [one["count"] for one in part["sides"]] == [half.count((True, False)), half.count((False, True))]
    rows = browser.ask("gallery", survey="drawn", beside="other", order="lost", where="margin:0.5~1")["rows"]
    assert len(rows) == half.count((True, False)) > 0
    rows = browser.ask("gallery", survey="drawn", beside="other", order="won")["rows"]
    assert len(rows) == sides.count((False, True))
    assert not any(row["correct"] for row in rows)


def test_the_gallery_has_the_surest_mistakes_first(client: TestClient, drawn: dict[str, list]) -> None:
    rows = Browser(client).ask("gallery", survey="drawn", order="worst", limit="5")["rows"]
    wrong = [at for at, correct in enumerate(drawn["correct"]) if correct is False]
    expected = sorted(wrong, key=lambda at: -drawn["probability"][at])[:5]
    assert [row["path"] for row in rows] == [drawn["path"][at] for at in expected]
    assert all("taken for" in row["caption"] for row in rows)
    chinese = Browser(client).ask("gallery", survey="drawn", order="low.margin", limit="2", lang="zh")["rows"]
    assert [row["path"] for row in chinese] == [
        drawn["path"][at]
        for at in sorted(
            (at for at in range(60) if drawn["margin"][at] is not None), key=lambda at: drawn["margin"][at]
        )[:2]
    ]
    assert not any("gear" in row["caption"] for row in chinese)


def test_the_chosen_rows_are_taken_home(client: TestClient, drawn: dict[str, list]) -> None:
    browser, where = Browser(client), {"survey": "drawn", "where": "margin:0.25~0.75"}
    paths = [
        path for path, m in zip(drawn["path"], drawn["margin"], strict=True) if m is not None and 0.25 <= m <= 0.75
    ]
    before = set(Path(tempfile.gettempdir()).glob("vitexplorer-rows-*"))

    def content(ending: str) -> bytes:
        return client.post("/survey/rows", params={**where, "as": ending}, headers=browser.headers).content

    table = pq.read_table(io.BytesIO(content("parquet")))
    assert table["path"].to_pylist() == paths
    assert {"peak", "feature_cls", "margin"} <= set(table.column_names)
    lines = list(csv.DictReader(io.StringIO(content("csv").decode("utf-8-sig"))))
    assert [line["path"] for line in lines] == paths
    assert "peak" not in lines[0]
    browser.ask("rows", 422, **where, **{"as": "../x.csv"})
    browser.ask("rows", 422, **{**where, "where": "nothing=1"}, **{"as": "csv"})
    assert set(Path(tempfile.gettempdir()).glob("vitexplorer-rows-*")) <= before


def test_pictures_are_those_of_the_survey_alone(client: TestClient, drawn: dict[str, list], tmp_path: Path) -> None:
    browser = Browser(client)
    access_key = browser.ask("state", survey="drawn")["picture_key"]
    small = client.get(f"/survey-pictures/{access_key}", params={"row": "0"})
    with PIL.Image.open(io.BytesIO(small.content)) as opened:
        assert max(opened.size) <= 160
    assert client.get("/survey-pictures/" + "0" * 32, params={"row": "0"}).status_code == 404
    assert browser.ask("open", survey="drawn", row="0")["image"].startswith("upload-")

    secret, inside = tmp_path / "secret.png", tmp_path / "pictures" / "gear"
    PIL.Image.new("RGB", (20, 20)).save(secret)
    (inside / "image 2.jpg").symlink_to(secret)
    (inside / "image 3.jpg").symlink_to("image 3.jpg")
    (inside / "image 4.jpg").mkdir()
    for row in ("1", "2", "3", "4", "60", "999999999", "-1", "1e3"):
        assert client.get(f"/survey-pictures/{access_key}", params={"row": row}).status_code == 404, row
        assert "no longer" in browser.ask("open", 422, survey="drawn", row=row)["refused"]
    browser.ask("delete", survey="drawn")
    assert client.get(f"/survey-pictures/{access_key}", params={"row": "0"}).status_code == 404, "with their survey"


def test_a_plan_that_names_other_places_shows_them_to_their_owner_alone(places: UserStorage, tmp_path: Path) -> None:
    """A table may name images anywhere; for a folder, and on a hosted page, no other image is served."""
    folder, root, strange = synthetic_survey(places.root / "drawn", 3, lists=False), tmp_path / "pictures", "猫.png"
    secret, named = tmp_path / "secret.png", os.fsdecode(strange.encode("gb18030"))
    root.mkdir()
    for file in (secret, root / named):
        file.write_bytes(b"")
    write_manifest(folder, [Planned("../secret.png", None), Planned(str(secret), None), planned(named, None)], 128)
    card = read_card(folder).model_copy(update={"root": str(root)})
    hosted = UserStorage(places.root, hosted=True)
    for source, place, there in ((str(root), places, 1), ("table.csv", hosted, 1), ("table.csv", places, 3)):
        write_card(folder, card.model_copy(update={"source": source}))
        survey = open_survey(folder)
        assert file_of(place, survey, 2).name == named, "no text in UTF-8"
        for row in range(3 - there):
            with pytest.raises(ExplainedError, match="no longer"):
                file_of(place, survey, row)
    assert [file_of(places, survey, row) for row in (0, 1)] == [root / "../secret.png", secret]


def test_visitors_of_a_hosted_page_find_their_own_surveys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(Settings(runs_folder=str(tmp_path), hosted=True))
    synthetic_survey(tmp_path / ANNA / "mine", 40)
    with TestClient(Starlette(routes=survey_routes(engine))) as client:
        anna, ben = Browser(client), Browser(client, BEN)
        assert [one["name"] for one in anna.ask("opening")["surveys"]] == ["mine"]
        assert ben.ask("opening")["surveys"] == []
        assert "no longer" in ben.ask("state", 422, survey="mine")["refused"]
        for name in (f"../{ANNA}/mine", ANNA, "..", ""):
            ben.ask("state", 422, survey=name)
        assert "zip" in anna.ask("look", 422, path=str(tmp_path))["refused"]
        assert client.post("/survey/opening", headers={"x-visitor": ANNA}).status_code == 404, "a stranger's page"
        assert anna.ask("delete", survey="mine")["surveys"] == []


def test_what_cannot_be_surveyed_is_a_sentence(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, folder = Browser(client), tmp_path / "empty"
    folder.mkdir()
    asked = {"model": MODEL, "weights": "trained", "ask": "prediction"}
    assert "no image" in browser.ask("look", 422, path=str(folder))["refused"]
    assert "no folder" in browser.ask("look", 422, path=str(folder / "none"))["refused"]
    assert "Tick" in browser.ask("start", 422, **{**asked, "ask": "nonsense"}, path=str(folder))["refused"]
    assert "Choose images" in browser.ask("start", 422, **asked)["refused"]
    assert "Choose images" in browser.ask("start", 422, **{**asked, "ask": "occlusion"})["refused"]
    costs = {one["key"]: one["cost"] for one in browser.ask("opening")["views"]}
    assert "next to nothing" in costs["attention_rollout"]
    assert "one backward pass" in costs["grad_cam"]
    assert "very many" in costs["occlusion"]
    assert "cost_growth" not in costs
    PIL.Image.new("RGB", (20, 20)).save(folder / "one.png")
    PIL.Image.new("RGB", (20, 20)).save(folder / "two.png")
    assert browser.ask("look", path=str(folder))["says"] == "empty: 2 images."
    monkeypatch.setattr(import_module("vitexplorer.storage.image_files"), "settings", lambda: Settings(survey_images=1))
    assert "more than 1 images" in browser.ask("start", 422, **asked, path=str(folder))["refused"]
    monkeypatch.setattr("vitexplorer.ui.rooms.folder.beginning.settings", lambda: Settings(surveys=0))
    assert "cannot be started" in browser.ask("start", 422, **asked, path=str(folder))["refused"]
    assert "cannot be started" in browser.ask("resume", 422)["refused"]
    assert "cannot be started" in browser.ask("opening")["closed"]


def test_what_is_refused_is_refused_before_any_work(
    client: TestClient, places: UserStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No picture is drawn, nothing of a zip is read, and no file is left."""

    def no_work(*given: object) -> None:
        raise AssertionError

    monkeypatch.setattr("vitexplorer.service.surveys.sources.example_folder", no_work)
    monkeypatch.setattr("vitexplorer.ui.server.image_upload._written", no_work)
    browser, asked = Browser(client), {"model": MODEL, "weights": "trained", "ask": "prediction", "data": "scenes"}
    with monkeypatch.context() as busy:
        busy.setattr(process, "running", lambda places: (1, 2))
        assert "(2)" in browser.ask("start", 422, **asked)["refused"]
    for closed in (Settings(surveys=0), Settings(visitor_megabytes=1)):
        with monkeypatch.context() as full:
            full.setattr("vitexplorer.ui.rooms.folder.beginning.settings", lambda now=closed: now)
            full.setattr("vitexplorer.service.storage_limits.settings", lambda now=closed: now)
            full.setattr("vitexplorer.service.storage_limits._size", lambda folder: 2_000_000)
            assert browser.ask("start", 422, **asked)["refused"]
            kind = {"content-type": "application/octet-stream", "x-visitor": ANNA}
            assert client.post("/survey/zip?name=a.zip", content=b"PK", headers=kind).status_code == 422
    assert not list(places.root.glob("*"))


def test_a_survey_that_cannot_begin_leaves_nothing(
    client: TestClient, places: UserStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PIL.Image.new("RGB", (20, 20)).save(tmp_path / "one.png")
    monkeypatch.setattr(subprocess, "Popen", fill_the_disk)
    asked = {"model": MODEL, "weights": "trained", "ask": "prediction", "path": str(tmp_path)}
    assert "disk is full" in Browser(client).ask("start", 422, **asked)["refused"]
    assert not list(places.root.glob("survey-*"))


def asked_of(source: Path) -> Asked:
    return Asked("pets", str(source), MODEL, "trained", "crop", "", ("prediction", "heads"), 1.0)


def fill_the_disk(*given: object, **more: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_visitor_names_no_folder_of_this_machine_as_a_model(places: UserStorage, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "someones").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("someones", ".", ".."):
        with pytest.raises(ExplainedError, match="Unknown model"):
            process.model_of(places, replace(asked_of(tmp_path), model=name))


def test_the_process_is_the_command_and_can_be_stopped(
    client: TestClient, places: UserStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = new_survey(places, ANNA, asked_of(tmp_path / "pets"))
    line = process.command(places, survey)
    assert line[1:5] == ["-m", "vitexplorer", "survey", str(tmp_path / "pets")]
    assert line[5:7] == ["--model", MODEL]
    assert line[line.index("--ask") + 1] == "prediction,heads"
    assert float(line[line.index("--hours") + 1]) == Settings().survey_hours

    with monkeypatch.context() as full:
        full.setattr(subprocess, "Popen", fill_the_disk)
        assert "disk is full" in Browser(client).ask("resume", 422, survey=survey.name)["refused"]
        full.setattr(Path, "mkdir", fill_the_disk)
        with pytest.raises(DiskFullError):
            new_survey(places, ANNA, asked_of(tmp_path))

    script = "print('a word', flush=True); import time; time.sleep(60)"
    monkeypatch.setattr(process, "command", lambda *_: [sys.executable, "-c", script])
    process.begin(places, survey)
    browser = Browser(client)
    assert browser.ask("state", survey=survey.name)["state"] == "starting"
    assert running(places) == (survey,)
    assert places.running() == 0, "a survey is no training"
    assert "Stop it first" in browser.ask("resume", 422, survey=survey.name)["refused"]
    assert "Stop it first" in browser.ask("delete", 422, survey=survey.name)["refused"]
    monkeypatch.setattr(process, "settings", lambda: Settings(surveys=1))
    other = new_survey(places, ANNA, asked_of(tmp_path))
    assert "(1)" in browser.ask("resume", 422, survey=other.name)["refused"]
    while not process.last_line(survey):
        time.sleep(0.01)
    browser.ask("stop", survey=survey.name)
    assert not survey.is_running
    state = browser.ask("state", survey=survey.name)
    assert (state["state"], state["resumes"]) == ("failed", True)
    assert "a word" in state["says"]


def test_a_survey_that_stands_still_is_stopped_and_taken_up(
    client: TestClient, places: UserStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = new_survey(places, ANNA, asked_of(places.root / "pets"))
    synthetic_survey(survey.answers, 160, rows_per_shard=32, lists=False, shards=(0, 1))
    script = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    monkeypatch.setattr(process, "command", lambda *_: [sys.executable, "-c", script])
    browser = Browser(client)

    def frozen() -> psutil.Process:
        while not standing_still(survey.answers):
            time.sleep(0.01)
        return psutil.Process(standing_still(survey.answers))

    process.begin(places, survey)
    first = frozen()
    state = browser.ask("state", survey=survey.name)
    assert (state["state"], state["running"], state["resumes"]) == ("standing", False, True)
    browser.ask("resume", survey=survey.name)
    assert not first.is_running() or first.status() == psutil.STATUS_ZOMBIE
    second = frozen()
    assert first != second
    browser.ask("stop", survey=survey.name)
    assert not second.is_running() or second.status() == psutil.STATUS_ZOMBIE
    assert browser.ask("state", survey=survey.name)["state"] == "stopped"


def test_images_that_were_sent_stay_as_long_as_their_survey(places: UserStorage, client: TestClient) -> None:
    data = places.new_data(ANNA, "pets")
    data.mkdir(parents=True)
    survey = new_survey(places, ANNA, asked_of(data))
    assert places.data_in_use(places.of(ANNA)) == {data.parent.name}
    stored = StorageLimits(places, Settings(keep_days=1))
    stored.sweep()
    assert data.is_dir()
    assert survey.folder.is_dir()
    Browser(client).ask("delete", survey=survey.name)
    assert not data.parent.exists()


def test_a_survey_of_elsewhere_is_linked_and_stays_when_it_is_let_go(
    client: TestClient, places: UserStorage, tmp_path: Path
) -> None:
    folder, browser = synthetic_survey(tmp_path / "elsewhere", 40), Browser(client)
    name = browser.ask("look", path=str(folder))["survey"]
    assert browser.ask("look", path=str(folder))["survey"] == name
    assert browser.ask("state", survey=name)["state"] == "finished"
    assert stored_survey(places.root / name) is not None
    assert browser.ask("delete", survey=name)["surveys"] == []
    assert (folder / "survey.json").is_file()


@pytest.mark.browser
def test_a_survey_that_is_left_and_opened_again_waits_for_its_own_answers(
    client: TestClient, drawn: dict[str, list], desktop: BrowserContext, pages: str
) -> None:
    """Answers that were asked for before leaving are ignored: the rest of the survey is not loaded yet."""
    page = PlainPage(desktop.new_page(), f"{pages}?room=folder")
    held: list[Route] = []

    def reply(asked: Route) -> None:
        whole = urlsplit(asked.request.url)
        came = client.post(f"{whole.path}?{whole.query}", headers={"x-visitor": ANNA, "content-type": BYTES})
        asked.fulfill(status=came.status_code, body=came.content, content_type="application/json")

    def hear(asked: Route) -> None:
        """Delay answers about the survey from the first question about its facts on."""
        if "/facts" in asked.request.url or (held and "/state" in asked.request.url):
            held.append(asked)
        else:
            reply(asked)

    page.page.route("**/survey/**", hear)
    page.page.route("**/survey-pictures/**", lambda asked: asked.fulfill(body=b""))
    model = SurveyData(model=MODEL, weights="trained", fit="crop", classifies=True)
    page.open(("survey", SurveyView, model))
    survey = page.page.locator(".vx-survey")
    with page.page.expect_request("**/survey/facts*"):
        survey.locator(".earlier .open").click()
    survey.locator(".opened .back").click()
    with page.page.expect_request("**/survey/state*"):
        survey.locator(".earlier .open").click()
    with page.page.expect_response("**/survey/facts*"):
        reply(held[0])
    painted(page.page)
    expect(survey.locator(".gallery li")).to_have_count(0)
    expect(survey.locator(".keep")).to_be_hidden()
    page.page.unroute("**/survey/**", hear)
    page.page.route("**/survey/**", reply)
    reply(held[1])
    expect(survey).to_have_attribute("data-chosen", str(len(drawn["path"])))
    expect(survey.locator(".gallery li")).not_to_have_count(0)
    page.page.close()
