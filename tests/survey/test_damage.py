"""Damaged surveys: derived files are made again, damaged shards are named and computed again."""

from __future__ import annotations

import logging
import os
from importlib import import_module
from pathlib import Path

import pytest

from tests.helpers.damaged_files import WRECKS, wreck
from tests.helpers.survey_folder import synthetic_survey
from tests.helpers.survey_images import class_folders, files_of
from tests.helpers.survey_runs import run_survey
from vitexplorer.service.surveys.open_surveys import latest
from vitexplorer.service.surveys.store import PAGE, Asked, new_survey, survey_of, surveys_of
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.survey.answers import count
from vitexplorer.survey.conditions import Within
from vitexplorer.survey.index import Index, index_of
from vitexplorer.survey.index import connect as connect_to
from vitexplorer.survey.manifest import rows_file
from vitexplorer.survey.opened import open_survey

NEVER_CLOSED = [how for how in WRECKS if how != "closed" or os.geteuid()]


@pytest.mark.parametrize("how", NEVER_CLOSED)
def test_a_damaged_index_is_made_again_with_a_log_message(tmp_path: Path, how: str, caplog) -> None:
    folder = synthetic_survey(tmp_path, 60, lists=False)
    where = (Within("entropy", 0.2, 0.7),)
    before = open_survey(folder)
    assert "damaged" not in before.describe()
    expected = count(before, where)
    before._con.close()
    wreck(index_of(folder, 128).path, how)
    again = open_survey(folder)
    assert count(again, where) == expected > 0
    assert "has been made again" in again.describe()
    assert "重新生成" in again.described.zh
    assert "made again" in caplog.text
    assert "made again" not in open_survey(folder).describe()


def test_an_index_that_another_process_replaces_is_read_again(tmp_path: Path, monkeypatch) -> None:
    folder, calls = synthetic_survey(tmp_path / "survey", 20), []

    def connect(index: Index):
        calls.append(index.path)
        if len(calls) == 1:
            index.path.unlink()  # as the process of the survey does when it ends
        return connect_to(index)

    monkeypatch.setattr(import_module("vitexplorer.survey.opened"), "connect", connect)
    assert count(open_survey(folder)) == 20
    assert len(calls) == 2


@pytest.fixture(scope="module")
def images(tmp_path_factory) -> Path:
    return class_folders(tmp_path_factory.mktemp("images") / "of two classes", 10)


@pytest.fixture(scope="module")
def whole(images, tmp_path_factory) -> Path:
    return run_survey(images, tmp_path_factory.mktemp("whole") / "survey")


@pytest.mark.parametrize("how", NEVER_CLOSED)
def test_a_damaged_file_of_rows_is_named_and_its_images_asked_again(images, whole, tmp_path, how, caplog) -> None:
    made = run_survey(images, tmp_path / "survey")
    wreck(rows_file(made, 1), how)
    seen = open_survey(made)
    assert seen.count == 6
    assert not seen.is_finished
    with caplog.at_level(logging.WARNING):
        run_survey(images, made)
    assert "shard-00001.parquet is damaged: its 4 images are asked again" in caplog.text
    assert files_of(made) == files_of(whole)
    assert open_survey(made).count == 10


def test_a_file_of_rows_of_another_version_is_asked_again(images, whole, tmp_path) -> None:
    made = run_survey(images, tmp_path / "survey")
    other = run_survey(images, tmp_path / "other", ask=["prediction"])
    rows_file(made, 0).write_bytes(rows_file(other, 0).read_bytes())
    run_survey(images, made)
    assert files_of(made) == files_of(whole)


def _of_page(places: UserStorage) -> tuple[Path, Asked]:
    asked = Asked("pets", "/pets", "vit", "random", "squash", "", ("prediction",), 1.0)
    survey = new_survey(places, "", asked)
    synthetic_survey(survey.answers, 60, lists=False)
    return survey.folder, asked


@pytest.mark.parametrize("how", ["gone", "of a newer version", *NEVER_CLOSED])
def test_what_the_page_noted_is_made_again_from_the_survey(tmp_path: Path, how: str, caplog) -> None:
    places = UserStorage(tmp_path, hosted=False)
    folder, asked = _of_page(places)
    page = folder / PAGE.name
    if how == "gone":
        page.unlink()
    elif how == "of a newer version":
        page.write_text(page.read_text().replace("{", '{"unheard": 1,', 1))
    else:
        wreck(page, how)
    (survey,) = surveys_of(places, "")
    assert survey.asked is not None
    assert survey.answers == folder / "answers"
    assert latest(survey).count == 60
    if how != "a bit" or survey.asked != asked:  # a bit of a name is another name
        assert survey.asked.is_made_again
        assert survey.asked.source == latest(survey).card.source
        assert "rebuilt" in caplog.text
    assert survey_of(places, "", survey.name).asked == survey.asked
    caplog.clear()
    assert surveys_of(places, "") == (survey,)
    assert not caplog.text


def test_a_survey_that_lost_all_that_says_what_it_is_can_still_be_deleted(tmp_path: Path) -> None:
    places = UserStorage(tmp_path, hosted=False)
    folder, _ = _of_page(places)
    for file in (folder / PAGE.name, folder / "answers" / "survey.json"):
        file.write_bytes(b"{")
    (survey,) = surveys_of(places, "")
    assert (survey.name, survey.resumes) == (folder.name, False)


def test_images_of_a_survey_whose_notes_are_damaged_stay(tmp_path: Path) -> None:
    places = UserStorage(tmp_path, hosted=False)
    folder, _ = _of_page(places)
    card = folder / "answers" / "survey.json"
    data = tmp_path / "data-1" / "pets"
    card.write_text(card.read_text().replace(latest(survey_of(places, "", folder.name)).card.source, str(data)))
    (folder / PAGE.name).write_bytes(b"")
    assert "data-1" in places.data_in_use(tmp_path)
