"""Running a survey: each image becomes one row, whatever happens to the run, the folder or the disk."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from typer.testing import CliRunner

import vitexplorer as vx
from tests.helpers.small_models import load_small
from tests.helpers.survey_images import class_folders, files_of, hostile, rows_of
from tests.helpers.survey_runs import ASK, BATCH, SHARD, run_survey
from tests.helpers.thorough import always, later
from vitexplorer.cli import build_app
from vitexplorer.cli import survey as command
from vitexplorer.models.images import open_image
from vitexplorer.storage.atomic_writes import DiskFullError
from vitexplorer.storage.claims import revoke
from vitexplorer.storage.findings import DataError
from vitexplorer.survey import memory, shard
from vitexplorer.survey.card import SurveyError, check_same, read_card, weights_hash
from vitexplorer.survey.manifest import read_manifest
from vitexplorer.survey.runners import processes
from vitexplorer.survey.schema import schema_of
from vitexplorer.survey.shard import of_one_size
from vitexplorer.survey.source import read_source

COUNT = 18


@pytest.fixture(scope="module")
def images(tmp_path_factory) -> Path:
    return class_folders(tmp_path_factory.mktemp("images") / "of two classes", COUNT)


@pytest.fixture(scope="module")
def whole(images, tmp_path_factory) -> Path:
    """Return a survey that was never interrupted."""
    return run_survey(images, tmp_path_factory.mktemp("whole") / "survey")


class StoppedError(Exception):
    pass


def stop_after(rows):
    def progress(done, total):
        if done >= rows:
            raise StoppedError

    return progress


# ---------------------------------------------------------------------------------------------- rows


def test_each_row_is_what_a_single_capture_of_its_image_answers(images, whole):
    model = load_small("vit")
    schema = schema_of(model, ASK, "squash")
    rows = rows_of(whole)
    assert rows.schema.equals(schema.arrow)
    assert rows["path"].to_pylist() == sorted(str(file.relative_to(images)) for file in images.rglob("*.png"))
    for row in rows.slice(0, 5).to_pylist():
        place = images / row["path"]
        captured = vx.capture(model, place, fit="squash")
        (asked,) = schema.answers([captured], [int(row["label"])])
        height, width = open_image(place).shape[:2]
        assert (row["width"], row["height"], row["hash"]) == (width, height, captured.input.image_hash)
        assert row["label"] == place.parent.name
        assert row["reason"] is None
        for key, value in asked.items():
            np.testing.assert_allclose(row[key], value, rtol=1e-3 if "feature" in key else 1e-5, atol=1e-3)


def test_the_card_says_what_was_asked_of_whom(images, whole):
    card = read_card(whole)
    assert (card.model, card.weights, card.weights_source) == ("vit", "random", "seed 0")
    assert (card.fit, card.size, card.rows_planned, card.shards) == ("squash", (64, 64), COUNT, 5)
    assert [card.rows_of(shard) for shard in range(card.shards)] == [4, 4, 4, 4, 2]
    assert list(card.questions) == ASK
    assert Path(card.source) == Path(card.root) == images
    assert [column.key for column in card.columns] == rows_of(whole).column_names


def test_images_of_other_sizes_wait_for_their_like(images, tmp_path):
    made = run_survey(images, tmp_path / "native", fit="native", ask=["prediction"])
    rows = rows_of(made).to_pylist()
    assert [row["path"] for row in rows] == [one.path for n in range(5) for one in read_manifest(made, n)]
    model = load_small("vit")
    for row in rows[:4]:
        logits = vx.capture(model, images / row["path"], fit="native").logits
        assert row["probability"] == pytest.approx(float(logits.softmax(0).max()), rel=1e-4)


def test_batches_hold_one_size_and_no_more_than_may_wait():
    sizes = [1, 2, 1, 3, 4, 1, 5, 5, 6, 7]
    given = [SimpleNamespace(size=size, at=at) for at, size in enumerate(sizes)]
    batches = [[one.at for one in batch] for batch in of_one_size(given, most=3, waiting=1)]
    assert sorted(at for batch in batches for at in batch) == list(range(len(sizes)))
    assert all(len({sizes[at] for at in batch}) == 1 and len(batch) <= 3 for batch in batches)
    waited = [len(given[: batch[-1]]) for batch in batches]
    assert waited[0] <= 3


# ---------------------------------------------------------------------------------------------- going on


def test_a_survey_that_was_stopped_goes_on_where_it_was(images, whole, tmp_path):
    out, steps = tmp_path / "survey", []
    with pytest.raises(StoppedError):
        run_survey(images, out, progress=stop_after(10))
    assert len(files_of(out)) == 2
    run_survey(images, out, progress=lambda done, total: steps.append((done, total)))
    assert steps[0] == (2 * SHARD, COUNT)
    assert steps[-1] == (COUNT, COUNT)
    assert files_of(out) == files_of(whole)
    run_survey(images, out, progress=stop_after(COUNT + 1))  # nothing is left to do


def _in_a_fork(*arguments, **options):
    """Start a survey in a forked process, with the model that is loaded here."""
    process = multiprocessing.get_context("fork").Process(target=run_survey, args=arguments, kwargs=options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads of the tests hold no lock that it takes
        process.start()
    return process


def test_a_survey_that_was_killed_goes_on_where_it_was(images, whole, tmp_path):
    out = tmp_path / "survey"
    process = _in_a_fork(images, out)
    while not list(out.glob("rows/shard-*")):
        assert process.is_alive()
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    (out / "rows" / ".1-shard-00004.parquet").write_bytes(b"half")
    run_survey(images, out)
    assert files_of(out) == files_of(whole)


def _freezes(monkeypatch, owner, name, when):
    """Patch `owner.name` to stop its process by SIGSTOP after its work where `when` holds for its arguments."""
    does, parent = getattr(owner, name), os.getpid()

    def stop(*given, **options):
        done = does(*given, **options)
        if os.getpid() != parent and when(*given):
            os.kill(os.getpid(), signal.SIGSTOP)
        return done

    monkeypatch.setattr(owner, name, stop)


FREEZES = {
    "while it plans": (pq, "write_table", lambda table, where, **_: "manifest" in str(where)),
    "before its card is there": (Path, "write_bytes", lambda where, _: "survey.json" in str(where)),
    "between two images": (shard.OpenedImage, "of", lambda place, **_: "006" in str(place)),
    "with a file that is not in its place": (pq, "write_table", lambda table, where, **_: "rows" in str(where)),
}


@pytest.mark.parametrize("moment", FREEZES)
def test_a_survey_that_stands_still_is_taken_over_and_its_process_ends(images, whole, tmp_path, monkeypatch, moment):
    """The stale process ends with a sentence and writes nothing more, whenever it wakes."""
    out = tmp_path / "survey"
    with monkeypatch.context() as patch:
        _freezes(patch, *FREEZES[moment])
        process = _in_a_fork(images, out)
    frozen = psutil.Process(process.pid)
    while frozen.status() != psutil.STATUS_STOPPED:
        assert process.is_alive()
        time.sleep(0.005)
    run_survey(images, out)
    assert files_of(out) == files_of(whole)
    before = _everything(out)
    frozen.resume()
    process.join()
    assert process.exitcode == 1
    assert _everything(out) == before


def _everything(folder):
    """Return each file with its last write time."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}


def test_a_survey_is_stopped_from_elsewhere_and_goes_on(images, whole, tmp_path):
    out = tmp_path / "survey"

    def stopped(done, total):
        if done >= 2 * SHARD:
            revoke(out)

    with pytest.raises(SurveyError, match="was stopped"):
        run_survey(images, out, progress=stopped)
    run_survey(images, out)
    assert files_of(out) == files_of(whole)


@pytest.mark.thorough
def test_twenty_kills_at_random_moments_lose_and_double_nothing(images, whole, tmp_path):
    out, rng, kills, begun = tmp_path / "survey", random.Random(0), 0, time.monotonic()
    alone = files_of(run_survey(images, tmp_path / "alone", rows_per_shard=1))
    seconds = time.monotonic() - begun
    while kills < 20:
        process = _in_a_fork(images, out, rows_per_shard=1)
        process.join(rng.uniform(0, seconds))
        if process.exitcode is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.join()
        done = list(out.glob("rows/shard-*"))
        for file in rng.sample(done, len(done) // 2 if len(done) > COUNT // 2 else 0):  # or there is nothing to kill
            file.unlink()
    run_survey(images, out, rows_per_shard=1)
    assert rows_of(out)["path"].to_pylist() == rows_of(whole)["path"].to_pylist()
    assert files_of(out) == alone


@pytest.fixture
def _quick_workers(monkeypatch):
    """Fork workers from this process: they need not import torch."""
    monkeypatch.setattr(processes, "START", "fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as of `_in_a_fork`
        yield


@pytest.mark.usefixtures("_quick_workers")
def test_workers_write_the_same_files_and_are_replaced_when_killed(images, whole, tmp_path):
    killed = _kill_workers(1, run_survey, images, tmp_path / "survey", workers=2)
    assert len(killed) == 1
    assert files_of(tmp_path / "survey") == files_of(whole)
    assert not list((tmp_path / "survey").glob(".model*"))


@pytest.mark.thorough
def test_processes_that_begin_anew_write_the_same_files(images, whole, tmp_path):
    assert files_of(run_survey(images, tmp_path / "survey", workers=2)) == files_of(whole)


@pytest.mark.thorough
@pytest.mark.usefixtures("_quick_workers")
def test_twenty_killed_workers_lose_and_double_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "MOST_DEATHS", 20)  # some die at the same rows by chance
    many = class_folders(tmp_path / "many", 90)
    assert len(_kill_workers(20, run_survey, many, tmp_path / "survey", workers=2)) == 20
    assert files_of(tmp_path / "survey") == files_of(run_survey(many, tmp_path / "alone"))


@pytest.mark.usefixtures("_quick_workers")
@pytest.mark.parametrize("batch", [later(BATCH), later(1), always(16)])
def test_an_image_that_ends_its_process_is_a_row_with_a_reason(images, whole, tmp_path, monkeypatch, batch):
    """No other row is blamed, whatever was opened beside it."""
    killers, of = {"0/008.png": "SIGKILL"}, shard.OpenedImage.of
    if batch != 16:
        killers |= {"1/001.png": "7", "1/003.png": "7", "1/017.png": "SIGKILL"}

    def opened(place, **options):
        how = killers.get(os.path.relpath(place, images)) if isinstance(place, Path) else None
        if how == "SIGKILL":
            os.kill(os.getpid(), signal.SIGKILL)
        if how is not None:
            os._exit(int(how))
        return of(place, **options)

    monkeypatch.setattr(shard.OpenedImage, "of", opened)
    steps = []
    made = run_survey(
        images, tmp_path / "survey", workers=2, batch_size=batch, progress=lambda done, _: steps.append(done)
    )
    assert steps[-1] == COUNT
    for row, good in zip(rows_of(made).to_pylist(), rows_of(whole).to_pylist(), strict=True):
        assert row["path"] == good["path"]
        if row["path"] in killers:
            assert f"was ended twice ({killers[row['path']]})" in row["reason"]
            assert row["predicted"] is None
        else:
            assert row["reason"] is None
            assert row["probability"] == pytest.approx(good["probability"], rel=1e-5)


def _kill_workers(times, survey, source, out, **options) -> list[int]:
    """Run a survey, kill workers shortly after progress reports, and check that the last report is complete."""
    rng, killed, steps = random.Random(1), [], [0]

    def progress(done, total):
        steps.append(done)
        if len(killed) < times and done > steps[-2]:
            time.sleep(rng.uniform(0, 0.05))
            workers = [one.pid for one in multiprocessing.active_children()]
            for victim in rng.sample(living := [pid for pid in workers if pid not in killed], min(1, len(living))):
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    survey(source, out, progress=progress, **options)
    assert steps[-1] == read_card(out).rows_planned
    return killed


@pytest.mark.usefixtures("_quick_workers")
def test_a_defect_in_a_worker_keeps_its_traceback(images, tmp_path, monkeypatch):
    monkeypatch.setattr(processes.torch, "save", lambda model, file: file.write(b"no model"))
    with pytest.raises(RuntimeError, match="Traceback"):
        run_survey(images, tmp_path / "survey", workers=2)


@pytest.mark.usefixtures("_quick_workers")
@pytest.mark.parametrize("dies_at", [always("of"), later("prepare")])
def test_workers_that_always_die_end_it_with_a_sentence(images, tmp_path, monkeypatch, dies_at):
    """Workers die before they start, and at the same rows again and again."""
    home, sentence = {"of": (shard.Work, "before they began"), "prepare": (shard, r"at rows \d+ to \d+")}[dies_at]
    monkeypatch.setattr(home, dies_at, lambda *given: os._exit(9))
    with pytest.raises(SurveyError, match=sentence):
        run_survey(images, tmp_path / "survey", workers=2)


def test_a_explain_full_disk_and_loses_nothing(images, whole, tmp_path, monkeypatch):
    out, write, written = tmp_path / "survey", pq.write_table, []

    def full(table, where, **options):
        written.append(where)
        if "rows" in str(where) and len(written) > 7:
            Path(where).write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        write(table, where, **options)

    with monkeypatch.context() as patched:
        patched.setattr(pq, "write_table", full)
        with pytest.raises(DiskFullError, match="full") as raised:
            run_survey(images, out)
    assert "磁盘已满" in raised.value.text.zh
    assert len(files_of(out)) == 2
    run_survey(images, out)
    assert files_of(out) == files_of(whole)


def test_another_survey_in_the_same_folder_is_refused(images, whole, tmp_path):
    """Each difference is named by a sentence in both languages, and nothing is written."""
    before = files_of(whole)
    other = class_folders(tmp_path / "others", 2)
    refused = {
        "its model is vit, not deit3": {"model": "deit3"},
        "it was asked prediction, features, not prediction": {"ask": ["prediction"]},
        "fitted by squash, not by crop": {"fit": "crop"},
        "labels are folders, not none": {"labels": None},
    }
    for sentence, options in refused.items():
        with pytest.raises(SurveyError, match=sentence) as raised:
            run_survey(images, whole, **options)
        assert "已有另一项普查" in raised.value.text.zh
    with pytest.raises(SurveyError, match='those of "of two classes", not of "others"'):
        run_survey(other, whole)
    assert files_of(whole) == before


def test_other_weights_of_the_same_name_are_another_model(images, whole):
    model = load_small("vit")
    changed = vx.load_model("test_vit", weights="random")  # any other numbers
    renamed = read_card(whole).model_copy(update={"weights_hash": "0" * 64})
    assert weights_hash(model.module) == read_card(whole).weights_hash != weights_hash(changed.module)
    with pytest.raises(SurveyError, match="other weights"):
        check_same(read_card(whole), renamed, whole)


def test_two_processes_do_not_work_on_one_survey(images, tmp_path):
    def again(done, total):
        with pytest.raises(SurveyError, match="Another process"):
            run_survey(images, tmp_path / "survey")
        raise StoppedError

    with pytest.raises(StoppedError):
        run_survey(images, tmp_path / "survey", progress=again)


def test_rows_without_their_card_are_left_alone(images, whole, tmp_path):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "shard-00000.parquet").write_bytes(b"precious")
    with pytest.raises(SurveyError, match=r"survey\.json"):
        run_survey(images, tmp_path)
    assert (tmp_path / "rows" / "shard-00000.parquet").read_bytes() == b"precious"


# ---------------------------------------------------------------------------------------------- hostile sources


def test_whatever_lies_in_a_folder_becomes_a_row_with_a_reason(tmp_path):
    expected = hostile(tmp_path / "hostile")
    made = run_survey(tmp_path / "hostile", tmp_path / "survey", fit="crop", ask=["prediction"])
    rows = {row["path"]: row for row in rows_of(made).to_pylist()}
    assert rows.keys() == expected.keys()
    for name, word in expected.items():
        row = rows[name]
        assert (row["reason"] is None) == (row["reason_zh"] is None) == (not word), row
        assert (row["probability"] is None) == bool(word)
        assert word in (row["reason"] or "")
    assert rows["elongated.png"]["width"] == 800
    assert rows["bomb.png"]["hash"] is None
    findings = " ".join(finding.en for finding in read_card(made).findings)
    assert "Links that lead out of the folder are left out: 3" in findings


def test_files_may_vanish_and_names_be_no_text(tmp_path):
    folder = class_folders(tmp_path / "images", 6)
    strange = os.fsencode(folder) + b"/1/\xe9t\xe9.png"
    (folder / "1" / "001.png").rename(os.fsdecode(strange))

    def vanish(done, total):
        (folder / "0" / "004.png").unlink(missing_ok=True)

    made = run_survey(folder, tmp_path / "survey", progress=vanish, ask=["prediction"])
    rows = rows_of(made).to_pylist()
    assert [row["reason"] is None for row in rows] == [True, True, False, True, True, True]
    assert "There is no file" in rows[2]["reason"]
    assert "找不到文件" in rows[2]["reason_zh"]
    assert rows[5]["path"].startswith("1/")
    assert rows[5]["label"] == "1"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_closed_file_is_a_row_with_a_reason(tmp_path):
    folder = class_folders(tmp_path / "images", 2)
    (folder / "0" / "000.png").chmod(0)
    rows = rows_of(run_survey(folder, tmp_path / "survey")).to_pylist()
    assert "permissions" in rows[0]["reason"]


@pytest.mark.parametrize("name", ["nothing", "empty", "notes.docx"])
def test_what_names_no_images_is_a_sentence(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.docx").write_bytes(b"PK")
    with pytest.raises(DataError) as raised:
        run_survey(tmp_path / name, tmp_path / "survey")
    assert all(raised.value.text)
    assert not (tmp_path / "survey" / "survey.json").exists()


def read(source, **options):
    source_read = read_source(source, **options)
    return [tuple(one)[:2] for one in source_read.rows], " ".join(one.en for one in source_read.findings)


def test_tables_name_images_and_labels(tmp_path):
    """A name written twice or differently is one row; an empty one is none."""
    lines = ["Label,path", "cat,a.png", "dog,sub/b.png", "cat,./a.png", "cow,", f"elk,{tmp_path}/c.png", "x,../d.png"]
    expected = [("a.png", "cat"), ("sub/b.png", "dog"), ("c.png", "elk"), (f"{tmp_path.parent}/d.png", "x")]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    result, findings = read(tmp_path / "t.csv")
    assert result == expected
    assert "counted once: 1" in findings
    assert "without a path are left out: 1" in findings
    assert read(tmp_path / "t.csv", labels=None)[0] == [(path, None) for path, _ in expected]
    (tmp_path / "chinese.csv").write_bytes("标注;文件;path\n猫;x;猫.png".encode("gb18030"))
    assert read(tmp_path / "chinese.csv")[0] == [("猫.png", None)]
    (tmp_path / "bare.tsv").write_text("1\ta.png\n2\tb.png\n", encoding="utf-16")
    assert read(tmp_path / "bare.tsv")[0] == [("a.png", None), ("b.png", None)]
    (tmp_path / "t.txt").write_text("\na.png\nb c.png\n")
    assert read(tmp_path / "t.txt")[0] == [("a.png", None), ("b c.png", None)]
    pq.write_table(pa.table({"Image": ["a.png", None, "b.png"], "target": [1, 2, 3]}), tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet")[0] == [("a.png", "1"), ("b.png", "3")]
    assert read([tmp_path / "a.png", str(tmp_path / "a.png")])[0] == [(str(tmp_path / "a.png"), None)]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.csv", b"name,label\nx,1\n", 'has no column `path`. Its columns: "name", "label"'),
        ("t.csv", b"path\n", "names no image"),
        ("t.csv", b"", "no column"),
        ("t.csv", b"\x89PNG\0\0\0", "cannot be read as a table"),
        ("t.txt", b"\xff\xff\xff\xff", "cannot be read as a table"),
        ("t.parquet", b"PAR1 nothing", "cannot be read as a table"),
    ],
)
def test_a_table_that_cannot_be_used_is_a_sentence(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as raised:
        read(tmp_path / name)
    assert sentence in raised.value.text.en
    assert raised.value.text.zh != raised.value.text.en


def test_class_folders_are_labels_as_for_a_training(tmp_path):
    for name in ("train/cat/a.png", "val/dog/b.png", "test/cat/c.png", "test/d.png"):
        place = tmp_path / "all" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (9, 9)).save(place)
    result = dict(read(tmp_path)[0])
    assert {path.removeprefix("all/"): label for path, label in result.items()} == {
        "train/cat/a.png": "cat",
        "val/dog/b.png": "dog",
        "test/cat/c.png": "cat",
        "test/d.png": None,
    }


def test_there_may_be_a_bound(tmp_path, images, monkeypatch):
    from vitexplorer.core.settings import Settings

    monkeypatch.setattr(import_module("vitexplorer.survey.source"), "settings", lambda: Settings(survey_images=3))
    with pytest.raises(DataError, match="VIT_SURVEY_IMAGES"):
        read([f"{name}.png" for name in "abcd"])
    monkeypatch.setattr(import_module("vitexplorer.storage.image_files"), "settings", lambda: Settings(survey_images=3))
    with pytest.raises(DataError, match="VIT_SURVEY_IMAGES"):
        read(images)


# ---------------------------------------------------------------------------------------------- the command, Ray


@pytest.mark.parametrize(("language", "word"), [("en", "Folder of the survey"), ("zh", "普查文件夹")])
def test_the_command_has_its_help_in_both_languages(language, word, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    output = CliRunner().invoke(build_app(language), ["survey", "--help"]).stdout
    text = " ".join(output.replace("│", " ").split())  # however it is broken into lines
    assert word in text
    assert "features, heads, outliers, prediction, rollout" in text


def test_the_command_asks_a_folder_and_says_what_is_wrong(images, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "keep_freed_memory", lambda: True)  # this process is not the command's own
    line = ["survey", str(images), "--model", "test_vit", "--weights", "random", "--ask", "prediction"]
    line += ["--out", str(tmp_path / "survey"), "--workers", "1", "--language", "zh"]
    done = CliRunner().invoke(build_app("en"), line)
    assert done.exit_code == 0, done.output
    assert "test_vit" in done.stdout
    assert len(rows_of(tmp_path / "survey")) == COUNT
    refused = CliRunner().invoke(build_app("en"), [*line, "--fit", "pad"])
    assert refused.exit_code == 2
    assert "已有另一项普查" in refused.stderr


def test_a_command_has_so_many_hours(monkeypatch, capsys):
    ended = threading.Event()
    monkeypatch.setattr(
        "os.kill", lambda pid, how: ended.set() if (pid, how) == (os.getpid(), signal.SIGTERM) else None
    )
    command._end_after(1e-6, "zh")
    assert ended.wait(60)
    assert "小时" in capsys.readouterr().err


@pytest.mark.thorough
def test_a_survey_that_has_had_its_hours_goes_on_another_time(images, tmp_path):
    out = tmp_path / "survey"
    line = [sys.executable, "-m", "vitexplorer", "survey", str(images), "--model", "test_vit", "--weights", "random"]
    line += ["--ask", "prediction", "--rows-per-shard", "4", "--out", str(out)]
    ended = subprocess.run([*line, "--hours", "1e-9"], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGTERM
    assert "continues" in ended.stderr
    assert subprocess.run(line, capture_output=True).returncode == 0
    assert len(rows_of(out)) == COUNT


def test_the_command_stops_a_survey_of_another_process(images, tmp_path):
    out, ended = tmp_path / "survey", []

    def stopped(done, total):
        if done == SHARD:
            ended.append(CliRunner().invoke(build_app("en"), ["survey", "--stop", str(out)]).exit_code)

    with pytest.raises(SurveyError, match="was stopped"):
        run_survey(images, out, progress=stopped)
    assert ended == [0]
    nowhere = CliRunner().invoke(build_app("en"), ["survey", "--stop", str(tmp_path)])
    assert (nowhere.exit_code, "no survey" in nowhere.stderr) == (2, True)


def test_a_comma_within_a_setting_parts_no_questions():
    assert command._listed("prediction, attention-map:query=3,4;block=1,heads") == [
        "prediction",
        "attention_map:query=3,4;block=1",
        "heads",
    ]
    assert command._listed("") is None


@pytest.mark.thorough
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install -r requirements-ray.txt")
@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:ray")
def test_ray_writes_the_same_files(images, whole, tmp_path):
    steps = []
    made = run_survey(images, tmp_path / "survey", runner="ray", workers=2, progress=lambda *at: steps.append(at))
    assert files_of(made) == files_of(whole)
    assert steps[-1] == (COUNT, COUNT)


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_a_sentence_says_how_to_get_it(images, tmp_path):
    with pytest.raises(SurveyError, match=r"requirements-ray\.txt"):
        run_survey(images, tmp_path / "survey", runner="ray")
